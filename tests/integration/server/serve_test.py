#!/usr/bin/env python3
"""tarry serve: it starts, prints its ready line, drains on a signal, and survives being killed."""

import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from program import (DONE, FAILED, PROGRAM, UNKNOWN, UNREACHABLE, USAGE, ProgramTest, Server,
                     environment, eventually)


class Serve(ProgramTest):
    """The real server on a file store."""

    def test_the_ready_line_names_address_and_store(self):
        with Server(self.store) as server:
            self.assertIn(server.url, server.ready)
            self.assertIn(self.store, server.ready)

    def test_the_ready_line_is_json_where_the_log_is(self):
        with Server(self.store, "--log-format", "json") as server:
            ready = json.loads(server.ready)
            self.assertEqual((ready["url"], ready["store"], ready["level"]),
                             (server.url, self.store, "info"))
            self.assertEqual(ready["message"], "ready")
            self.assertIn("time", ready)

    def test_why_it_cannot_start_is_json_where_the_log_is(self):
        Path(self.directory / "store").mkdir()
        (self.directory / "store" / "LOCK").write_text("not ours")
        with Server("memory:") as other:
            for words in (["--listen", f"127.0.0.1:{other.port}"],
                          ["--listen", "127.0.0.1:0", "--token-file", "/nowhere"],
                          ["--listen", "127.0.0.1:0"]):
                failed = subprocess.run(
                    [PROGRAM, "serve", "--store", self.store, "--log-format", "json", *words],
                    capture_output=True, text=True, timeout=60, env=environment(), check=False)
                self.assertNotEqual(failed.returncode, 0)
                lines = [json.loads(line) for line in failed.stderr.splitlines()]
                self.assertEqual(lines[-1]["level"], "error", failed.stderr)
                self.assertTrue(lines[-1]["message"])

    def test_its_root_says_what_it_is(self):
        token = self.directory / "token"
        token.write_text("correct-horse-battery\n")
        with Server("memory:", "--token-file", str(token)) as server:
            with urllib.request.urlopen(server.url + "/", timeout=60) as answer:
                about = json.load(answer)
            self.assertEqual((about["service"], about["openapi"], about["health"]),
                             ("tarry", "/v1/openapi.json", "/healthz"))
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(server.url + about["openapi"], timeout=60)
            self.assertEqual(refused.exception.code, 401)
            refused.exception.close()

    def test_stats_name_the_engine_of_the_server(self):
        with Server("memory:") as server:
            stats = self.asked("stats", store=server.url)
            self.assertEqual((stats["engine"], stats["served"], stats["durable"]),
                             ("remote", "embedded", False))
            out = self.tarry("stats", store=server.url).out
            self.assertRegex(out, r"engine +remote, a server's embedded, in memory alone\n")
        with Server(self.store) as server:
            out = self.tarry("stats", store=server.url).out
            self.assertRegex(out, r"engine +remote, a server's embedded\n")
        self.asked("push", "q", "x")
        self.assertNotIn("served", self.asked("stats"))

    def test_a_message_names_who_holds_it(self):
        with Server(self.store) as server:
            remote = {"store": server.url}
            self.asked("push", "q", "x", "--key", "k", **remote)
            self.assertNotIn("holder", self.asked("get", "q", "k", **remote))
            body = json.dumps({"queues": ["q"], "wait": "30s"}).encode()
            request = urllib.request.Request(server.url + "/v1/claim", body, {
                "Content-Type": "application/json", "User-Agent": "shop-worker/3"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                message, = json.load(answer)["messages"]
            self.assertRegex(self.asked("get", "q", "k", **remote)["holder"],
                             r"^127\.0\.0\.1:\d+ shop-worker/3$")
            self.assertRegex(self.tarry("get", "q", "k", **remote).out,
                             r"holder +127\.0\.0\.1:\d+ shop-worker/3\n")
            self.asked("release", "q", message["receipt"], **remote)
            self.assertNotIn("holder", self.asked("get", "q", "k", **remote))
            # Our own client says on which machine it runs.
            self.asked("claim", "q", "--wait", "30s", **remote)
            self.assertRegex(self.asked("get", "q", "k", **remote)["holder"],
                             r"^127\.0\.0\.1:\d+ tarry/\S+ \(\S+, process \d+\)$")

    def test_a_queue_that_is_not_there_is_named(self):
        with Server(self.store) as server:
            self.asked("push", "q", "x", "--key", "k", store=server.url)
            self.refused("get", "nobodys", "k", code=UNKNOWN, store=server.url,
                         says="there is no queue nobodys")
            self.refused("get", "q", "other", code=UNKNOWN, store=server.url,
                         says='there is no message "other" in queue q')

    def test_every_command_works_over_http(self):
        with Server(self.store) as server:
            remote = {"store": server.url}
            self.asked("push", "q", "hello", "--key", "k", "--in", "1h", **remote)
            self.assertEqual(self.asked("get", "q", "k", **remote)["payload"], "hello")
            self.asked("reschedule", "q", "k", "--in", "0s", **remote)
            message, = self.asked("claim", "q", "--wait", "10s", **remote)["messages"]
            self.asked("retry", "q", message["receipt"], "--in", "1ms", **remote)
            message, = self.asked("claim", "q", "--wait", "10s", **remote)["messages"]
            self.assertEqual(message["attempt"], 2)
            self.asked("ack", "q", message["receipt"], **remote)
            self.assertEqual(self.asked("ls", "q", **remote)["messages"], [])
            self.assertEqual(self.asked("stats", **remote)["queues"][0]["counters"]["acked"], 1)
            self.assertTrue(self.asked("store", "audit", **remote)["balanced"])

    def test_what_it_needs(self):
        cases = [
            (["serve"], "--store"),
            (["serve", "--store", "http://127.0.0.1:1"], "file:"),
            (["serve", "--store", "memory:", "--listen", "nowhere"], '"nowhere"'),
            (["serve", "--store", "memory:", "--listen", "127.0.0.1:99999"], "99999"),
            (["serve", "--store", "memory:", "--listen", "0.0.0.0:0"],
             "other machines would reach 0.0.0.0:0 without TLS (tls.cert) and without a token"),
            (["serve", "--store", "memory:", "--listen", "unix:x", "--port-file", "p"],
             "no address of server.listen has a port"),
        ]
        for words, says in cases:
            with self.subTest(words):
                self.refused(*words, store="", code=USAGE, says=says)

    def test_a_port_that_is_taken(self):
        with Server("memory:") as server:
            self.refused("serve", "--store", self.store, "--listen", f"127.0.0.1:{server.port}",
                         code=FAILED, says=(str(server.port), "in use"))
        self.assertFalse((self.directory / "store").exists())

    def test_a_port_file_that_cannot_be_written(self):
        self.refused("serve", "--store", "memory:", "--listen", "127.0.0.1:0", "--port-file",
                     "/no/such/directory/port", code=USAGE, says="/no/such/directory/port")

    def test_a_port_file_that_is_no_file_is_never_replaced(self):
        """The test uses links, so that a mistake damages none of the machine's devices."""
        serve = ("serve", "--store", self.store, "--listen", "127.0.0.1:0", "--port-file")
        for name, target, says in (("file", "victim", "it is a link to a file"),
                                   ("dangling", "nowhere", "it is a link to nothing"),
                                   ("full", "/dev/full", "No space left on device")):
            with self.subTest(name):
                (self.directory / "victim").write_text("mine")
                (self.directory / name).symlink_to(target)
                refusal = self.tarry(*serve, name, code=USAGE).err.splitlines()[-1]
                self.assertIn(f'tarry: --port-file: "{name}" cannot be written: {says}', refusal)
                self.assertTrue((self.directory / name).is_symlink())
                self.assertEqual((self.directory / "victim").read_text(), "mine")
        self.assertFalse((self.directory / "nowhere").exists())
        os.mkfifo(self.directory / "fifo")
        refusal = self.tarry(*serve, "fifo", code=USAGE).err.splitlines()[-1]
        self.assertIn("no process has it open to read", refusal)

    def test_a_port_file_may_be_a_pipe(self):
        fifo = self.directory / "fifo"
        os.mkfifo(fifo)
        reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        process = subprocess.Popen(
            [PROGRAM, "serve", "--store", "memory:", "--listen", "127.0.0.1:0", "--port-file",
             str(fifo)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
        ready = process.stdout.readline().decode()
        port = os.read(reading, 100).decode()
        os.close(reading)
        self.assertTrue(stat.S_ISFIFO(fifo.stat().st_mode))
        self.assertTrue(ready.rstrip().endswith(f":{port.strip()}"), (ready, port))
        process.terminate()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, DONE)

    def test_a_store_that_is_late_is_waited_for(self):
        with socket.create_server(("127.0.0.1", 0)) as place:
            port = place.getsockname()[1]
        process = subprocess.Popen(
            [PROGRAM, "serve", "--store", f"redis://127.0.0.1:{port}", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        said = process.stderr.readline().decode()
        self.assertIn("trying again", said)
        redis = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
             "--dir", str(self.directory)], stdout=subprocess.DEVNULL)
        try:
            self.assertIn("serves redis://", process.stdout.readline().decode())
            process.terminate()
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, DONE)
            self.assertIn("the store is there", err.decode())
        finally:
            redis.terminate()
            redis.wait(timeout=60)

    def test_a_store_that_stays_away_is_waited_for_no_longer_than_wanted(self):
        with socket.create_server(("127.0.0.1", 0)) as place:
            port = place.getsockname()[1]
        answer = self.tarry("serve", "--store", f"redis://127.0.0.1:{port}", "--store-wait", "1s",
                            "--listen", "127.0.0.1:0", code=UNREACHABLE, store="")
        self.assertIn("trying again for up to 1s", answer.err)
        self.assertIn("cannot connect", answer.err)

    def test_both_signals_end_it_clean(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                server = Server(self.store)
                self.asked("push", "q", "x", "--in", "1h", store=server.url)
                self.assertEqual(server.stop(number), DONE)
                shard, = self.asked("store", "check", "--deep")["per_shard"]
                self.assertTrue(shard["clean"])
                self.assertEqual(shard["problems"], [])

    def test_a_log_that_nobody_reads_any_more(self):
        """The store is still closed cleanly."""
        with subprocess.Popen([PROGRAM, "serve", "--store", self.store, "--listen",
                               "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment()) as process:
            url = re.search(rb"http://\S+", process.stdout.readline())[0].decode()
            self.asked("push", "q", "x", "--in", "1h", store=url)
            process.stderr.close()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), DONE)
        self.assertTrue(self.asked("store", "check", "--deep")["per_shard"][0]["clean"])

    def test_its_log_has_what_the_store_says(self):
        self.asked("push", "q", "x", "--in", "1h")
        with Server(self.store, "--test-clock") as server:  # the test clock starts in 2020
            self.assertRegex(server.log(), r"warning\S* shard 0: the wall clock reads \d+ ms less")

    def test_its_log_names_the_directory_that_it_made(self):
        for expected in (True, False):
            with Server(self.store) as server:
                self.assertEqual(f"made the directory {self.store.removeprefix('file:')} for a new "
                                 "store" in server.log(), expected)

    def test_idle_connections_leave_room_for_the_store(self):
        """The connection that has been idle for the longest is closed for each new one; none is
        refused."""
        with Server(f"{self.store}?segment=64KiB", descriptors=(64, 300)) as server:
            idle = []
            for _ in range(200):
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
                self.addCleanup(connection.close)
                idle.append(connection)
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertEqual(connection.recv(12), b"HTTP/1.1 200")
            first = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            self.addCleanup(first.close)
            first.connect()
            eventually(lambda: sum(map(self.is_open, idle)) == 119, "it holds 120 connections")
            self.assertEqual([self.is_open(each) for each in idle], [False] * 81 + [True] * 119)
            # Each message needs its own segment, and so a descriptor.
            for i in range(100):
                body = json.dumps({"key": str(i), "payload": "x" * 100_000, "delay": "1h"})
                first.request("POST", "/v1/queues/q/messages", body,
                              {"Content-Type": "application/json"})
                answer = first.getresponse()
                self.assertEqual(answer.status, 200, answer.read())
                answer.read()

    @staticmethod
    def is_open(connection):
        """Whether the server has left it open. Received bytes are thrown away."""
        connection.setblocking(False)
        try:
            while connection.recv(4096):
                pass
        except BlockingIOError:
            return True
        except ConnectionError:
            pass
        return False

    def test_it_says_that_the_store_has_stopped(self):
        with Server(f"{self.store}?segment=64KiB") as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            self.addCleanup(connection.close)

            def ask(method, path, body=None):
                connection.request(method, path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())

            self.assertEqual(ask("GET", "/healthz")[1]["status"], "ok")
            shutil.rmtree(self.directory / "store" / "shard-000")
            statuses = [ask("POST", "/v1/queues/q/messages",
                            json.dumps({"payload": "x" * 100_000, "delay": "1h"}))[0]
                        for _ in range(3)]
            self.assertNotEqual(statuses[-1], 200)  # there is no room for a second segment
            status, problem = ask("GET", "/healthz")
            self.assertEqual(status, 503)
            self.assertIn("shard-000", problem["detail"])
            self.assertRegex(server.log(), r"error\S* shard 0 stops: .*shard-000")
            answer = self.tarry("stats", store=server.url, code=FAILED)
            self.assertIn("shard-000", answer.err)

    def test_bodies_that_memory_does_not_suffice_for(self):
        """Whatever one client sends, the others are served, and nothing of its request is begun."""
        with Server("memory:") as server:
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            now = int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) * 1024
            hard = resource.prlimit(server.process.pid, resource.RLIMIT_AS)[1]
            resource.prlimit(server.process.pid, resource.RLIMIT_AS, (now + (96 << 20), hard))
            bodies = [b"[" + b"0," * (12 << 20) + b"0]",
                      b'{"messages":[' + b"{}," * (8 << 20) + b"{}]}",
                      b'{"messages":[' + (b'{"headers":[' + b"0," * 999 + b"0]},") * 8000 + b"{}]}",
                      b'{"payload":"' + b"x" * (150 << 20) + b'"}']
            for body in bodies:
                with self.subTest(body[:20]):
                    # The test cannot know when memory ends, but the server must say so.
                    self.assertIn(self.post(server, body), (413, 503))
                    self.asked("push", "other", "x", store=server.url)
            self.refused("ls", "q", code=UNKNOWN, store=server.url, says="no queue q")
            self.assertIn("a request could not be handled: std::bad_alloc", server.log())

    @staticmethod
    def post(server, body):
        """The status of a push."""
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        try:
            link.request("POST", "/v1/queues/q/messages", body,
                         {"Content-Type": "application/json"})
            return link.getresponse().status
        finally:
            link.close()

    def test_drain_answers_a_waiting_claim(self):
        server = Server(self.store)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", "/v1/claim", json.dumps({"queues": ["q"], "wait": "1h"}),
                           {"Content-Type": "application/json"})
        self.asked("push", "q", "x", "--in", "1h", store=server.url)
        eventually(lambda: self.asked("queue", "info", "q",
                                      store=server.url)["waiting_claims"] == 1,
                   "the claim has come to the engine")
        answers = []
        reader = threading.Thread(target=lambda: answers.append(connection.getresponse()))
        reader.start()
        self.assertEqual(server.stop(), DONE)
        reader.join(timeout=60)
        self.assertEqual(answers[0].status, 503)
        self.assertGreaterEqual(int(answers[0].headers["Retry-After"]), 1)
        self.assertEqual(json.loads(answers[0].read())["code"], "closing")

    def test_who_claims_is_told_that_the_server_was_stopped(self):
        server = Server(self.store)
        self.asked("push", "q", "x", "--in", "1h", store=server.url)
        with subprocess.Popen([PROGRAM, "--store", server.url, "claim", "q", "--wait", "10m"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment()) as claim:
            eventually(lambda: self.asked("queue", "info", "q",
                                          store=server.url)["waiting_claims"] == 1, "it waits")
            self.assertEqual(server.stop(), DONE)
            out, err = claim.communicate(timeout=60)
        self.assertEqual((claim.returncode, out), (UNREACHABLE, b""))
        self.assertIn(b"cannot connect", err)

    def test_a_claim_asks_again_for_no_longer_than_its_wait(self):
        with Server(self.store) as server:
            self.asked("push", "q", "x", "--in", "1h", store=server.url)
            begun = time.monotonic()
            self.assertEqual(
                self.asked("claim", "q", "--wait", "1s", store=server.url)["messages"], [])
            self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_killed_and_started_again(self):
        lines = "".join(json.dumps({"key": f"k:{i}", "payload": "x" * (i % 100), "delay": "1h"}) +
                        "\n" for i in range(5000))
        server = Server(self.store)
        self.asked("push", "q", "--jsonl", "-", stdin=lines.encode(), store=server.url)
        self.asked("push", "q", "x", "--key", "tried", store=server.url)
        message, = self.asked("claim", "q", store=server.url)["messages"]
        self.asked("retry", "q", message["receipt"], "--in", "1h", store=server.url)
        before = self.messages(server)
        server.process.kill()
        server.process.wait()
        with Server(self.store) as again:
            self.assertEqual(self.messages(again), before)
            self.assertEqual(before["tried"][1], 1)
            self.assertTrue(self.asked("store", "audit", store=again.url)["balanced"])

    def messages(self, server):
        listed = self.asked("ls", "q", "--limit", "10000", store=server.url)["messages"]
        return {m["key"]: (m["due_ms"], m["attempt"], m["id"], m["state"]) for m in listed}

    def test_a_clock_that_is_moved_by_hand(self):
        with Server("memory:", "--test-clock") as server:
            self.asked("push", "q", "x", "--in", "31d", store=server.url)
            self.assertEqual(self.asked("claim", "q", store=server.url)["messages"], [])
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("POST", "/v1/clock/advance", '{"by":"31d"}',
                               {"Content-Type": "application/json"})
            self.assertEqual(connection.getresponse().status, 200)
            message, = self.asked("claim", "q", "--wait", "10s", store=server.url)["messages"]
            self.assertEqual(message["claimed_ms"], message["due_ms"])

    def test_a_clock_that_is_stepped_by_hand(self):
        with Server("memory:", "--test-clock") as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            self.addCleanup(connection.close)

            def clock(move, by):
                connection.request("POST", f"/v1/clock/{move}", json.dumps({"by": by}),
                                   {"Content-Type": "application/json"})
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())

            start = self.asked("push", "q", "x", "--key", "now", store=server.url)["due_ms"]
            self.asked("cancel", "q", "now", store=server.url)
            self.asked("push", "q", "x", "--in", "1h", store=server.url)
            self.assertEqual(clock("step", "2h"), (200, {"stepped_ms": 7_200_000}))
            # By the wall clock the message is due, but an hour has not passed.
            self.assertEqual(self.asked("claim", "q", store=server.url)["messages"], [])
            self.assertEqual(clock("suspend", "1h")[0], 200)
            message, = self.asked("claim", "q", "--wait", "10s", store=server.url)["messages"]
            self.assertEqual(message["claimed_ms"], start + 3 * 3_600_000)
            self.assertEqual(clock("step", "-3h")[0], 200)
            self.assertEqual(clock("step", "-90y")[0], 400)  # no such unit
            self.assertEqual(clock("step", "-20000d")[0], 400)  # before 1970
            self.assertEqual(self.asked("push", "q", "x", store=server.url)["due_ms"], start)

    def test_no_clock_to_move_otherwise(self):
        with Server("memory:") as server:
            for move in ("advance", "suspend", "step"):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                connection.request("POST", f"/v1/clock/{move}", '{"by":"31d"}',
                                   {"Content-Type": "application/json"})
                self.assertEqual(connection.getresponse().status, 404, move)
                connection.close()

    def test_told_to_reload_before_it_was_ready(self):
        """SIGHUP does not end it; it ends here because its store becomes unreachable."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            process = subprocess.Popen(
                [PROGRAM, "serve", "--store", f"redis://127.0.0.1:{silent.getsockname()[1]}",
                 "--store-wait", "0s", "--listen", "127.0.0.1:0"], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env=environment())
            silent.settimeout(60)
            connection, _ = silent.accept()
            process.send_signal(signal.SIGHUP)
            connection.close()
        self.assertEqual(process.wait(timeout=60), UNREACHABLE)

    def test_stopped_before_it_was_ready(self):
        """A signal at any moment of the start ends it, in one way or the other."""
        process = subprocess.Popen([PROGRAM, "serve", "--store", self.store, "--listen",
                                    "127.0.0.1:0"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=environment())
        process.send_signal(signal.SIGTERM)
        self.assertIn(process.wait(timeout=60), (DONE, -signal.SIGTERM))
        if (Path(self.store.removeprefix("file:"))).exists():
            self.asked("push", "q", "x")  # however far the store was made, it can be opened


if __name__ == "__main__":
    unittest.main()
