#!/usr/bin/env python3
"""tarry relay: due messages reach the sink, and are acked once the sink has them."""

import json
import os
import re
import signal
import subprocess
import time
import unittest
import urllib.request
from pathlib import Path

from authority import Authority
from kafka_cluster import KafkaCluster
from program import DONE, PROGRAM, SOURCE, UNREACHABLE, ProgramTest, Server, environment, eventually
from redis_server import RedisServer


class Deaf:
    """A command that ignores SIGTERM."""

    def __init__(self, test):
        self._test = test
        self._file = test.directory / "pid"
        self.words = ["sh", "-c", f"trap '' TERM; echo $$ > {self._file}; exec sleep 600"]
        self._pid = None
        test.addCleanup(self._kill)

    def wait(self):
        """Waits until it runs again, as another process than the last time."""
        eventually(lambda: self._file.exists() and self._file.read_text(), "it runs")
        self._pid = int(self._file.read_text())
        self._file.unlink()

    def assert_gone(self):
        with self._test.assertRaises(ProcessLookupError):
            os.kill(self._pid, 0)
        self._pid = None

    def _kill(self):
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)


class Relay(ProgramTest):
    """A server beside the relay, so that a test can see the relay's effects meanwhile."""

    def setUp(self):
        super().setUp()
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        # Otherwise a relay says that there is no queue.
        self.remote("queue", "set", "q", "--lease", "30s")

    def start_redis(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        return redis

    @staticmethod
    def end(relay):
        """Ends the relay, whatever happened in the test."""
        if relay.poll() is None:
            relay.kill()
            relay.communicate()

    def start(self, *words, output="json", queue="q"):
        """Starts `tarry relay QUEUE` in the background."""
        relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "-o", output, "relay", queue, *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory, env=environment())
        self.addCleanup(self.end, relay)
        return relay

    def stop(self, relay, code=DONE):
        """Drains it; returns its standard output from now on."""
        relay.send_signal(signal.SIGTERM)
        out, err = relay.communicate(timeout=60)
        self.assertEqual(relay.returncode, code, err)
        return out.decode()

    def remote(self, *words, **more):
        return self.asked(*words, store=self.server.url, **more)

    def push(self, count, payload="x"):
        """Pushes k0, k1, ... in this order."""
        for i in range(count):
            self.remote("push", "q", payload, "--key", f"k{i}", "--header", f"n={i}")

    def acked(self, count):
        eventually(lambda: self.remote("queue", "info", "q")["counters"]["acked"] == count,
                   f"{count} acked")

    def test_stdout(self):
        self.push(3, "hello")
        relay = self.start("--to", "stdout")
        # This line feed ends half a line of another run.
        self.assertEqual(relay.stdout.readline(), b"\n")
        lines = [json.loads(relay.stdout.readline()) for _ in range(3)]
        self.assertEqual([line["key"] for line in lines], ["k0", "k1", "k2"])
        self.assertEqual(lines[2]["payload"], "hello")
        self.assertEqual(lines[2]["headers"], {"n": "2"})
        self.assertEqual((lines[2]["queue"], lines[2]["attempt"]), ("q", 1))
        self.acked(3)
        self.assertEqual(self.stop(relay), "")

    def test_no_claim_takes_more_than_a_batch(self):
        for batch, least in (("2", 3), ("3", 2)):
            before = self.server.answered("/v1/claim")
            self.push(6)
            relay = self.start("--to", "stdout", "--batch", batch)
            relay.stdout.readline()
            keys = [json.loads(relay.stdout.readline())["key"] for _ in range(6)]
            self.assertEqual(keys, [f"k{i}" for i in range(6)])
            self.assertGreaterEqual(self.server.answered("/v1/claim") - before, least)
            self.stop(relay)

    def test_no_more_than_the_rate(self):
        self.push(6)
        begun = time.monotonic()
        relay = self.start("--to", "stdout", "--rate", "4")
        self.acked(6)
        # The first message goes at once, each further one a quarter of a second later.
        self.assertGreaterEqual(time.monotonic() - begun, 1.25)
        self.stop(relay)

    def test_each_thread_has_a_connection_of_its_own(self):
        redis = self.start_redis()
        for threads in ("1", "3"):
            relay = self.start("--to", redis.url + "?list=due", "--threads", threads)

            def connected():
                """A connection is made for the first message of a thread."""
                self.remote("push", "q", "x")
                return redis.ask("CLIENT", "LIST").count(" name=tarry ") == int(threads)

            eventually(connected, "all are connected")
            self.stop(relay)

    def test_a_reader_that_goes_away_ends_it_and_costs_no_attempt(self):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as out:
            self.push(1)
            ended = subprocess.run(
                [PROGRAM, "--store", self.server.url, "relay", "q", "--to", "stdout"], stdout=out,
                stderr=subprocess.PIPE, timeout=60, env=environment(), check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(b"cannot write to stdout: Broken pipe", ended.stderr)
        message = self.remote("get", "q", "k0")
        self.assertEqual((message["state"], message["attempt"]), ("ready", 0))

    def test_a_reader_that_does_not_read_holds_no_stop_up(self):
        # More than a pipe holds.
        self.remote("push", "q", "-", "--key", "k", stdin=b"x" * 1_000_000)
        relay = self.start("--to", "stdout", "--drain", "0s")
        self.assertEqual(relay.stdout.read(2), b"\n{")
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(relay.wait(timeout=60), DONE)
        relay.communicate()
        self.assertEqual(self.remote("get", "q", "k")["attempt"], 1)

    def test_a_command_that_does_not_end_holds_no_stop_up(self):
        command = Deaf(self)
        self.push(1)
        self.remote("queue", "set", "q", "--backoff-min", "1ms", "--backoff-max", "1ms")
        for drain in ("0s", "1h"):
            with self.subTest(drain):
                relay = self.start("--to", "command", "--drain", drain, "--", *command.words,
                                   output="table")
                command.wait()
                relay.send_signal(signal.SIGTERM)
                self.assertIn(b"Stopping", relay.stderr.readline())
                if drain == "1h":
                    relay.send_signal(signal.SIGTERM)
                self.assertEqual(relay.wait(timeout=60), DONE)
                relay.communicate()
                command.assert_gone()

    def test_command(self):
        for key, status in (("ok", 0), ("again", 75), ("poison", 65)):
            self.remote("push", "q", str(status), "--key", key)
        relay = self.start("--to", "command", "--concurrency", "3", "--", "sh", "-c",
                           "read s; exit $s")
        eventually(lambda: self.remote("get", "q", "poison")["state"] == "dead", "poison is dead")
        self.acked(1)
        eventually(lambda: self.remote("get", "q", "again")["attempt"] >= 1, "again has failed")
        self.assertEqual(self.remote("get", "q", "poison")["reason"],
                         "the command exited with 65")
        counts = json.loads(self.stop(relay))
        self.assertEqual((counts["acked"], counts["buried"]), (1, 1))
        self.assertGreaterEqual(counts["retried"], 1)

    def test_redis_that_is_away_for_a_while(self):
        redis = RedisServer("--appendonly", "yes", parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        relay = self.start("--to", redis.url + "?list=due")
        self.push(3)
        self.acked(3)
        redis.shoot()
        redis.bury()
        self.remote("push", "q", "late", "--key", "late")
        self.assertIn(b"is down: ", relay.stderr.readline())
        redis.start()
        self.assertIn(b"is back", relay.stderr.readline())
        self.acked(4)
        rows = [json.loads(redis.ask("LPOP", "due")) for _ in range(4)]
        self.assertEqual([row["key"] for row in rows], ["k0", "k1", "k2", "late"])
        self.assertEqual(rows[3]["payload"], "late")
        self.assertGreaterEqual(json.loads(self.stop(relay))["breaker_openings"], 1)
        self.assertEqual(self.remote("ls", "q")["messages"], [])

    def test_a_channel_of_redis(self):
        redis = self.start_redis()
        with redis.listening("due") as heard:
            relay = self.start("--to", redis.url + "?channel=due")
            self.push(1, "hello")
            message = json.loads(heard())
        self.assertEqual((message["key"], message["payload"]), ("k0", "hello"))
        self.acked(1)
        self.stop(relay)

    def test_a_stream_of_redis_that_is_kept_short(self):
        redis = self.start_redis()
        relay = self.start("--to", redis.url + "?stream=due&maxlen=10")
        self.remote("push", "q", "--jsonl", "-", stdin=b'{"payload": "x"}\n' * 1000)
        self.acked(1000)
        # Redis only cuts off whole nodes, of a hundred entries at most.
        self.assertIn(redis.ask("XLEN", "due"), range(10, 111))
        self.stop(relay)

    def test_a_redis_that_asks_who_it_is(self):
        redis = self.start_redis()
        redis.ask("ACL", "SETUSER", "shop", "reset", "on", ">sesame", "~due", "+rpush", "+llen")
        redis.ask("ACL", "SETUSER", "default", "off")
        redis.login = ("shop", "sesame")
        self.push(1)
        relay = self.start("--to", redis.url + "?list=due")
        line = relay.stderr.readline().decode()
        self.assertIn(" is down: ", line)
        self.assertIn("NOAUTH", line)
        self.assertEqual(json.loads(self.stop(relay))["acked"], 0)
        (self.directory / "password").write_text("sesame\n")
        relay = self.start("--to", redis.url + "?list=due&user=shop&password_file=password")
        self.acked(1)
        self.assertEqual(redis.ask("LLEN", "due"), 1)
        self.stop(relay)

    def test_kafka(self):
        if "kafka" not in self.asked("version")["sinks"]:
            self.skipTest("built without Kafka")
        cluster = KafkaCluster(2, "due", parent=self.directory)
        self.addCleanup(cluster.stop)
        relay = self.start("--to", f"kafka://{cluster.brokers}/due")
        self.push(3)
        self.acked(3)
        cluster.say("down")
        self.remote("push", "q", "late", "--key", "late")
        self.assertIn(b"is down: kafka: ", relay.stderr.readline())
        cluster.say("up")
        self.assertIn(b"is back", relay.stderr.readline())
        self.acked(4)
        eventually(lambda: {record.key for record in cluster.records()}
                   == {"k0", "k1", "k2", "late"}, "all are there")
        self.assertGreaterEqual(json.loads(self.stop(relay))["breaker_openings"], 1)

    def test_the_guide(self):
        redis = self.start_redis()
        text = (SOURCE / "docs/guide/relays.md").read_text(encoding="utf-8")
        marked = re.findall(r"<!-- relay(?: (\w+))? -->\n```sh\n(.*?)```", text, re.DOTALL)
        self.assertEqual([needs for needs, _ in marked],
                         ["amqp", "kafka", "kafka", "redis", "redis", "webhook", "allow",
                          "certificate", "", ""])
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        sinks = self.asked("version")["sinks"]
        brokers = ""
        if "kafka" in sinks:
            cluster = KafkaCluster(1, "orders-due", parent=self.directory)
            self.addCleanup(cluster.stop)
            brokers = cluster.brokers
            settings, = re.findall(r"<!-- kafka\.properties -->\n```ini\n(.*?)```", text, re.DOTALL)
            (self.directory / "kafka.properties").write_text(settings)
        for needs, command in marked:
            with self.subTest(command):
                if {"amqp": "rabbitmq", "kafka": "kafka", "webhook": "webhook",
                    "allow": "webhook", "certificate": "webhook"}.get(needs, "stdout") not in sinks:
                    continue
                command = command.replace("127.0.0.1:9092", brokers)
                if needs == "webhook":
                    secret = self.directory / "hook-secret"
                    secret.write_text("sixteen bytes at least")
                    # Nobody listens there; webhook_test.py has receivers.
                    command = command.replace("/etc/tarry/hook-secret", str(secret)).replace(
                        "https://shop.example/", "http://127.0.0.1:1/").replace(
                            "#", "#allow_private=yes&")
                if needs == "allow":
                    command = command.replace("hooks.internal:8080", "127.0.0.1:1").replace(
                        "10.0.0.0/8", "127.0.0.0/8")
                if needs == "certificate":
                    command = command.replace("/etc/tarry/", f"{self.certificates()}/").replace(
                        "shop.example", "127.0.0.1:1").replace("#", "#allow=127.0.0.1&")
                command = command.replace("redis://127.0.0.1/0", redis.url)
                # Nobody listens there: no broker is started for this.
                command = command.replace("@127.0.0.1/", "@127.0.0.1:1/")
                acked = self.acked_orders()
                self.remote("push", "orders", "x")
                relay = subprocess.Popen(
                    ["bash", "-c", "exec " + command], stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, cwd=self.directory,
                    env=environment(PATH=path, TARRY_STORE=self.server.url))
                self.addCleanup(self.end, relay)
                if needs in ("amqp", "webhook", "allow", "certificate"):
                    where = ("rabbitmq 127.0.0.1:1, exchange 'shop'" if needs == "amqp" else
                             "webhook http" + "s" * (needs == "certificate") + "://127.0.0.1:1")
                    self.assertIn(f"{where} is down: ", relay.stderr.readline().decode())
                else:
                    eventually(lambda: self.acked_orders() > acked, "it is handed on")
                relay.send_signal(signal.SIGTERM)
                relay.communicate(timeout=60)
                self.assertEqual(relay.returncode, DONE)

    def certificates(self):
        """A folder with the files of the guide."""
        files = Authority(self.directory / "certificates", "ca")
        files.issue("relay", "client")
        return files.here

    def acked_orders(self):
        queues = self.remote("stats")["queues"]
        return sum(queue["counters"]["acked"] for queue in queues if queue["queue"] == "orders")

    def test_bad_input(self):
        sinks = self.asked("version")["sinks"]
        properties = self.directory / "kafka.properties"
        properties.write_text("sasl.password=secret\nlingerms=5\n")
        for words, says in (
                (("--to", "carrier-pigeon"), 'names no sink'),
                (("--to", "ftp://user:secret@host/"), '"ftp" names no sink'),
                (("--to", "stdot"), 'did you mean "stdout"?'),
                (("--to", "redsi://user:secret@host/"), 'did you mean "redis"?'),
                (("--to", "command"), "needs a command after --"),
                (("--to", "stdout", "--", "cat"), "a command after -- needs --to command"),
                (("--to", "command", "--", "/no/such"), 'cannot run "/no/such"'),
                (("--to", "redis://127.0.0.1/0"), "needs list=NAME, stream=NAME or channel=NAME"),
                (("--to", "redis://127.0.0.1/0?list=a&stream=b"), "exclude each other"),
                (("--to", "redis://127.0.0.1/0?list=a&maxlen=5"), "maxlen goes with stream="),
                (("--to", "redis://127.0.0.1/0?stream=a&maxlen=0"), "maxlen"),
                (("--to", "redis://127.0.0.1/0?list=a&shards=3"), '"shards" is not one of a sink'),
                (("--to", "redis://127.0.0.1/0?strem=a"), 'did you mean "stream"?'),
                (("--to", "redis+cluster://127.0.0.1?list=a"), "a Redis Cluster cannot be a sink"),
                (("--to", "amqp:127.0.0.1"), "a broker's URL is amqp://HOST"),
                (("--to", "amqp://u:secret@127.0.0.1/"), "needs exchange=NAME, or routing_key="),
                (("--to", "amqp://127.0.0.1/?exchang=a"), '"exchang" is not one of amqp:'),
                (("--to", "amqp://127.0.0.1/?exchang=a"), 'did you mean "exchange"?'),
                (("--to", "amqp://127.0.0.1/?exchange=a&channels=65"), "channels"),
                (("--to", "amqp://127.0.0.1/?exchange=a&heartbeat=10ms"), 'heartbeat "10ms"'),
                (("--to", "amqp://127.0.0.1/?exchange=a&ca=x"), "go with amqps: only"),
                (("--to", "amqps://127.0.0.1/?exchange=a&cert=x"), "cert and key go together"),
                (("--to", "amqp://127.0.0.1/?exchange=a&password_file=/no"), 'password_file "/no"'),
                (("--to", "kafka://127.0.0.1:9092"), "is kafka://HOST[:PORT][,HOST...]/TOPIC"),
                (("--to", "kafka://u:secret@127.0.0.1/t"), "no user and password in a URL"),
                (("--to", "redis://:secret%et@127.0.0.1/0?list=a"), "write %25 for a %"),
                (("--to", "redis://:s?secret@127.0.0.1/0?list=a"), "as %2F, %3F"),
                (("--to", "amqp://u:secret%et@127.0.0.1/?exchange=a"), "write %25 for a %"),
                (("--to", "amqp://u:secret/et@127.0.0.1/?exchange=a"), "as %2F, %3F"),
                (("--to", "kafka://u:secret/et@127.0.0.1/t"), "no user and password in a URL"),
                (("--to", "kafka://u:secret/t?et@127.0.0.1/t"), "as %2F, %3F"),
                (("--to", "kafka://127.0.0.1:no/t"), "port"),
                (("--to", "kafka://127.0.0.1/a%20b"), 'topic "a b" must be 1 to 249'),
                (("--to", "kafka://127.0.0.1/t?acks=0"), '"acks" is not one of kafka:'),
                (("--to", "kafka://127.0.0.1/t?confg=a"), 'did you mean "config"?'),
                (("--to", "kafka://127.0.0.1/t?config=/no"), 'config "/no": No such file'),
                (("--to", f"kafka://127.0.0.1/t?config={properties}"),
                 f'config {properties}:2: No such configuration property: "lingerms"'),
                (("--to", "stdout", "--drain", "2h"), "drain 2h must be from 0s to 1h"),
                (("--to", "stdout", "--in-flight", "0"), "--in-flight"),
                (("--to", "stdout", "--threads", "65"), "--threads"),
                (("--to", "stdout", "--threads", "2"), "threads 2 must be 1 for stdout"),
                (("--to", "command", "--threads", "2", "--", "cat"),
                 "threads 2 must be 1 for command; raise its concurrency instead"),
                (("--to", "redis://127.0.0.1/0?list=a", "--threads", "4", "--in-flight", "3"),
                 "threads 4 must not be more than in_flight, which is 3"),
                (("--to", "redis://127.0.0.1/0?list=a", "--threads", "4", "--rate", "3"),
                 "threads 4 must not be more than rate, which is 3"),
                (("--in-flight", "5"), "--to is required"),
                (("--config", "x.toml"), "leave out QUEUE, --to and their flags")):
            if words[1].startswith("amqp") and "rabbitmq" not in sinks:
                continue
            if words[1].startswith("kafka") and "kafka" not in sinks:
                continue
            with self.subTest(words):
                refused = self.refused("relay", "q", *words, says=says)
                self.assertNotIn("secret", refused.err)
        missing = self.start("--to", "stdout", queue="nobody")
        self.assertEqual(missing.stderr.readline(),
                         b"tarry: there is no queue nobody yet; waiting for it\n")
        self.stop(missing)
        self.refused("relay", "no spaces", "--to", "stdout", says='"no spaces"')
        self.refused("relay", "a*b", "--to", "stdout", says='"a*b" may have a * at its end only')
        self.refused("relay", "--to", "stdout", says="QUEUE is missing; or give --config FILE")
        self.refused("relay", says="it takes QUEUE and --to SINK, or --config FILE")
        empty = self.directory / "empty.toml"
        empty.write_text("[server]\n")
        self.refused("relay", "--config", str(empty), says="has no [[relay]] section")
        self.refused("relay", "--config", str(empty), "--", "cat", says="not to --config")
        self.tarry("relay", "q", "--to", "stdout", store="http://127.0.0.1:1", code=UNREACHABLE)


class FromAFile(ProgramTest):
    """[[relay]] sections: in `tarry relay --config`, in `tarry serve`, in `tarry config check`."""

    def setUp(self):
        super().setUp()
        self.redis = RedisServer(parent=self.directory)
        self.addCleanup(self.redis.close)
        self.redis.start()
        self.processes = []

    def write(self, text):
        path = self.directory / "tarry.toml"
        path.write_text(text)
        return str(path)

    def section(self, queue, **keys):
        lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        return "\n".join(["[[relay]]", f'queue = "{queue}"', *lines, ""])

    def arrived(self, name):
        """The keys of the entries in the list."""
        return {json.loads(line)["key"]
                for line in self.redis.ask("LRANGE", name, "0", "-1") or []}

    def start(self, *words, **variables):
        relay = subprocess.Popen(
            [PROGRAM, "-o", "json", "relay", *words], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.directory, env=environment(**variables))
        self.addCleanup(Relay.end, relay)
        return relay

    def stop(self, relay):
        relay.send_signal(signal.SIGTERM)
        out, err = relay.communicate(timeout=60)
        self.assertEqual(relay.returncode, DONE, err)
        return json.loads(out)["relays"]

    def test_a_server_ends_within_its_drain_timeout_whatever_its_relays_do(self):
        command = Deaf(self)
        file = self.write(self.section("q", to="command", drain="1h", command=command.words))
        server = Server("memory:", "--config", file, "--drain-timeout", "0s")
        self.addCleanup(server.process.kill)
        self.asked("push", "q", "x", store=server.url)
        command.wait()
        self.assertEqual(server.stop(), DONE)
        command.assert_gone()

    def test_every_section_runs_and_queues_that_come_are_found(self):
        with Server("memory:") as server:
            file = self.write(
                f'[store]\nurl = "{server.url}"\n'
                + self.section("orders.*", name="orders", threads=3, to=self.redis.url + "?list=o")
                + self.section("mails", to=self.redis.url + "?list=m"))
            relay = self.start("--config", file)
            self.assertIn(b"there is no queue mails yet", relay.stderr.readline())
            self.assertIn(b'relay "orders": no queue matches orders.*; looking again every 5s',
                          relay.stderr.readline())
            for queue, key in (("mails", "a"), ("orders.eu", "b"), ("orders", "c")):
                self.asked("push", queue, "x", "--key", key, store=server.url)
            eventually(lambda: self.arrived("m") == {"a"}, "the mail")
            self.assertIn(b'relay "orders": 1 queue matches now', relay.stderr.readline())
            eventually(lambda: self.arrived("o") == {"b"}, "the order")
            threads = {(Path("/proc") / str(relay.pid) / "task" / task / "comm").read_text().strip()
                       for task in os.listdir(f"/proc/{relay.pid}/task")}
            self.assertLessEqual({"orders-0", "orders-1", "orders-2", "mails-0"}, threads)
            found = {one["name"]: one["acked"] for one in self.stop(relay)}
            self.assertEqual(found, {"orders": 1, "mails": 1})

    def test_relays_that_share_say_how_long_they_live(self):
        self.start("--config", self.write(
            f'[store]\nurl = "{self.redis.url}"\n'
            + self.section("a", to="stdout", coordination="redis", session="2s")
            + self.section("b", to=self.redis.url + "?list=b", coordination="redis",
                           session="5m")))
        for queue in ("a", "b"):
            eventually(lambda: self.redis.lease_left_ms(queue) is not None, f"{queue} is shared")
        self.assertLessEqual(self.redis.lease_left_ms("a"), 2_000)
        # The same length as without the key.
        self.assertGreater(self.redis.lease_left_ms("b"), 10_000)

    def test_the_file_that_the_environment_names(self):
        file = self.write(f'[store]\nurl = "{self.redis.url}"\n'
                          + self.section("orders", to=self.redis.url + "?list=o"))
        relay = self.start(TARRY_CONFIG=file)
        self.asked("push", "orders", "x", "--key", "k", store=self.redis.url)
        eventually(lambda: self.arrived("o") == {"k"}, "it is handed on")
        self.stop(relay)

    def test_so_many_sections(self):
        sections = [self.section(f"q{i}", to=self.redis.url + "?list=l") for i in range(257)]
        self.asked("config", "check", "--config", self.write("".join(sections[:256])))
        self.refused("config", "check", "--config", self.write("".join(sections)),
                     says=":769: relay: is too much: at most 256 relays")

    def test_a_server_runs_them_and_tells_of_them(self):
        file = self.write(self.section("orders.*", name="shop", to=self.redis.url + "?list=o"))
        with Server(self.store, "--config", file) as server:
            self.asked("push", "orders.eu", "x", "--key", "k", store=server.url)
            eventually(lambda: self.arrived("o") == {"k"}, "it is handed on")
            counted = 'tarry_relay_settles_total{relay="shop",outcome="ack"} 1'
            eventually(lambda: counted in self.page(server), "it is counted")
            self.assertIn('tarry_relay_breaker_open{relay="shop"} 0', self.page(server))
            self.assertIn('tarry_relay_lag_seconds_count{relay="shop"} 1', self.page(server))
            self.redis.shoot()
            self.redis.bury()
            self.asked("push", "orders.eu", "x", "--key", "late", store=server.url)
            eventually(lambda: 'relay "shop": redis ' in server.log()
                       and " is down: " in server.log(), "the log tells of it")
            self.assertIn('tarry_relay_breaker_open{relay="shop"} 1', self.page(server))
            before = server.log()
            self.write(self.section("orders.*", name="shop", to=self.redis.url + "?list=p"))
            server.process.send_signal(signal.SIGHUP)
            eventually(lambda: "a change of [[relay]] needs a restart" in
                       server.log()[len(before):], "the reload is told of")
        # It stopped cleanly; messages that it had not handed on are there for the next one.
        self.redis.start()
        with Server(self.store, "--config", file):
            eventually(lambda: self.arrived("p") == {"late"}, "the next server hands it on")

    def page(self, server):
        with urllib.request.urlopen(server.url + "/metrics", timeout=30) as answer:
            return answer.read().decode()

    def test_the_guides_file(self):
        text = (SOURCE / "docs/guide/relays.md").read_text(encoding="utf-8")
        block, = re.findall(r"<!-- relays -->\n```toml\n(.*?)```", text, re.DOTALL)
        relay = self.start("--config", self.write(
            block.replace("redis://127.0.0.1/0", self.redis.url)))
        for queue in ("orders.eu", "letters"):
            self.asked("push", queue, "x", store=self.redis.url)
        eventually(lambda: self.redis.ask("XLEN", "due-orders") == 1, "the order is handed on")
        eventually(lambda: self.asked("queue", "info", "letters",
                                      store=self.redis.url)["counters"]["acked"] == 1, "the letter")
        self.assertEqual({one["name"]: one["acked"] for one in self.stop(relay)},
                         {"orders.*": 1, "mails": 1})

    def test_the_reference_lists_all_keys(self):
        page = (SOURCE / "docs/reference/config.md").read_text(encoding="utf-8")
        relays = page.index("\n## Relays")
        table = page[relays:page.index("\n## ", relays + 1)]
        listed = {key for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
                  for key in re.findall(r"`(\w+)`", row)}
        refused = self.refused("config", "check", "--config",
                               self.write("[[relay]]\nzzzzzzzzzz = 1\n"))
        known, = re.findall(r"known are (.*)", refused.err)
        self.assertEqual(set(known.split(", ")), listed)

    def test_config_check_shows_them_without_passwords(self):
        file = self.write(self.section("a", to="redis://u:hush@127.0.0.1/0?list=l"))
        shown = self.asked("config", "check", "--config", file)["relays"]
        self.assertEqual(shown, [{"name": "a", "queues": ["a"], "threads": 1, "line": 1,
                                  "to": "redis://***@127.0.0.1/0?list=l"}])
        table = self.tarry("config", "check", "--config", file, output="table").out
        self.assertIn("redis://***@127.0.0.1/0?list=l", table)

    def test_bad_sections(self):
        good = self.redis.url + "?list=a"
        for text, says in (
                ('[[relay]]\nqueue = "a"\n', ':1: relay.to: is missing'),
                (f'[[relay]]\nto = "{good}"\n', ':1: relay: needs queue = "NAME" or queues'),
                (f'[[relay]]\nto = "{good}"\ncoordination = "redis://h"\n',
                 ':1: relay: needs queue'),
                ('[store]\nurl = "redis://h"\n\n[[relay]]\nqueue = "a b"\n'
                 f'to = "{good}"\ncoordination = "redis"\n', ':5: relay.queue: '),
                (self.section("a", to=good, coordination="etcd"),
                 'relay.coordination: coordination "etcd" must be all, redis'),
                (self.section("a", to=good, session="1ms"),
                 'relay.session: "1ms" is not from 1s to 10m'),
                ('[store]\nurl = "file:x"\n\n' + self.section("a", to=good, coordination="redis"),
                 ':4: coordination redis needs a store in Redis, which "file:'),
                (f'[[relay]]\nqueue = "a b"\nto = "{good}"\n', ':2: relay.queue: '),
                (f'[[relay]]\nqueue = "a*b"\nto = "{good}"\n', 'may have a * at its end only'),
                (f'[[relay]]\nqueue = "a"\nqueues = ["b"]\nto = "{good}"\n',
                 ':3: relay.queues: cannot be given together with queue'),
                ('[[relay]]\nqueue = "a"\nto = "carrier-pigeon"\n',
                 ':3: relay.to: "carrier-pigeon" names no sink'),
                (self.section("a", to=good, theads=2), 'did you mean "threads"?'),
                (self.section("a", to=good, threads=65), "relay.threads: 65 is not from 1 to 64"),
                (self.section("a", to=good, threads=9, rate=8), "threads 9 must not be more than"),
                (self.section("a", to=good, lease="8d"), 'relay.lease: "8d" is not from 1ms to 7d'),
                (self.section("a", to=good, drain="2h"), 'relay.drain: "2h" is not from 0s to 1h'),
                (self.section("a", to=good, name="a b"),
                 "1 to 64 characters of ASCII, without spaces"),
                (self.section("a", to="command", command=["/no/such"]), 'cannot run "/no/such"'),
                (self.section("a", to=good) + self.section("b", to=good, name="a"),
                 "is the name of the relay in line 1 already; choose another"),
                (self.section("a", to=good) * 2, "choose another"),
                (self.section("a", to="stdout") + self.section("b", to="stdout"),
                 "the relay in line 1 writes to stdout already"),
                (self.section("a", to="command"), "relay.command: is missing"),
                (self.section("a", to=good, command=["cat"]), 'needs to = "command"'),
                (self.section("a", to=good, concurrency=2), 'needs to = "command"'),
                (f'[[relay]]\nqueues = ["a", "b", "a"]\nto = "{good}"\n',
                 'queue "a" is named twice'),
                (self.section("shop.*", to=good)
                 + self.section("shop.eu", to=self.redis.url + "?list=b"),
                 'its queue "shop.eu" can be the same as queue "shop.*" of the relay in line 1'),
                ("[relay]\n", "[[relay]]")):
            with self.subTest(text):
                self.refused("config", "check", "--config", self.write(text), says=says)
        file = self.write(self.section("a", to="stdout"))
        self.refused("serve", "--config", file, says='"stdout" needs tarry relay --config',
                     store="memory:")


if __name__ == "__main__":
    unittest.main()
