#!/usr/bin/env python3
"""tarry push --jsonl: good lines are pushed, bad lines are named, nothing is pushed twice."""

import base64
import http.client
import http.server
import json
import os
import pty
import signal
import subprocess
import threading
import unittest

from program import (CONFLICT, DONE, FAILED, PROGRAM, UNREACHABLE, USAGE, ProgramTest, Server,
                     environment, eventually)


class Holding:
    """A proxy between HTTP clients and a server. It holds a request that contains `first` until a
    request that contains `second` was answered, or for a second."""

    def __init__(self, port, first, second):
        answered = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def hand_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if first in body:
                    answered.wait(1)
                server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                server.request(self.command, self.path, body, dict(self.headers))
                answer = server.getresponse()
                text = answer.read()
                server.close()
                if second in body:
                    answered.set()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = hand_on

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class BulkPush(ProgramTest):
    """On a file store, and over HTTP."""

    def push(self, lines, *flags, code=DONE, **more):
        """Pushes these lines (bytes or objects). Returns the summary."""
        text = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"
                        for line in lines)
        (self.directory / "in.jsonl").write_bytes(text)
        return self.asked("push", "q", "--jsonl", "in.jsonl", *flags, code=code, **more)

    def test_every_field(self):
        summary = self.push([
            {"key": "a", "payload": "text", "delay": "1h", "headers": {"h": "v"}, "priority": 7,
             "max_attempts": 3},
            {"key": "b", "payload_base64": base64.b64encode(b"\xff\x00").decode(),
             "due": "2030-01-31T09:00:00+01:00"},
            {"payload": "no key"},
            {},
        ])
        self.assertEqual((summary["lines"], summary["pushed"], summary["failed"]), (4, 4, 0))
        a = self.asked("get", "q", "a")
        self.assertEqual((a["payload"], a["headers"], a["priority"]), ("text", {"h": "v"}, 7))
        b = self.asked("get", "q", "b")
        self.assertEqual(base64.b64decode(b["payload_base64"]), b"\xff\x00")
        self.assertEqual(b["due"], "2030-01-31T08:00:00.000Z")

    def test_bad_lines_fail_alone(self):
        bad = {
            2: (b"{not json", "invalid_argument"),
            4: (b'{"payload": "x", "dealy": "1h"}', "invalid_argument"),
            5: (b'{"payload_base64": "%%%"}', "invalid_argument"),
            6: (b'{"delay": "soon"}', "invalid_argument"),
            7: (b'{"key": "' + b"k" * 513 + b'"}', "too_large"),
            8: (b'{"payload": "' + b"x" * (2**20 + 1) + b'"}', "too_large"),
            9: (b'[{"payload": "x"}]', "invalid_argument"),
            10: (b'{"messages": [{"payload": "x"}]}', "invalid_argument"),
            12: (b"\xff\xfe", "invalid_argument"),
        }
        lines = [bad[n][0] if n in bad else {"key": f"good:{n}", "delay": "1h"}
                 for n in range(1, 14)]
        summary = self.push(lines, code=FAILED)
        self.assertEqual((summary["pushed"], summary["failed"]), (13 - len(bad), len(bad)))
        self.assertEqual({error["line"]: error["error"]["code"] for error in summary["errors"]},
                         {n: code for n, (_, code) in bad.items()})
        keys = {m["key"] for m in self.asked("ls", "q")["messages"]}
        self.assertEqual(keys, {f"good:{n}" for n in range(1, 14) if n not in bad})

    def test_the_summary_names_the_first_lines(self):
        (self.directory / "in.jsonl").write_bytes(b"{}\n" + b"nonsense\n" * 20)
        answer = self.tarry("push", "q", "--jsonl", "in.jsonl", code=FAILED)
        self.assertRegex(answer.out, r"pushed +1\n")
        self.assertRegex(answer.out, r"failed +20\n")
        self.assertIn("tarry: line 2: ", answer.err)
        self.assertIn("15 more lines failed", answer.err)

    def test_empty_lines_and_no_newline_at_the_end(self):
        (self.directory / "in.jsonl").write_bytes(b'\n{"key":"a"}\r\n  \n{"key":"b"}')
        self.assertEqual(self.asked("push", "q", "--jsonl", "in.jsonl")["pushed"], 2)

    def test_from_standard_input(self):
        self.assertEqual(self.asked("push", "q", "--jsonl", "-", stdin=b"{}\n{}\n")["pushed"], 2)

    def test_again(self):
        lines = [{"key": f"k:{i}", "delay": "1h"} for i in range(1200)]
        self.assertEqual(self.push(lines)["pushed"], 1200)
        self.assertEqual(self.push(lines, code=CONFLICT)["exists"], 1200)
        self.assertEqual(self.push(lines, "--if-exists", "keep")["kept"], 1200)

    def test_lines_of_one_key_stay_in_order(self):
        """This holds even if other batches are on their way, over several connections."""
        lines = []
        for i in range(4000):
            lines.append({"key": f"k:{i % 7}" if i % 3 == 0 else f"other:{i}", "payload": str(i),
                          "delay": "1h", "if_exists": "replace"})
        last = {line["key"]: line["payload"] for line in lines}
        with Server("memory:") as server:
            self.push(lines, store=server.url)
            results = self.asked("get", "q", *(f"k:{i}" for i in range(7)), store=server.url)
        for info in results["results"]:
            self.assertEqual(info["payload"], last[info["key"]])

    def test_lines_of_one_key_stay_in_order_where_it_waits_for_all_batches(self):
        """After 64 batches of 500 lines it waits for all of them. The last line of the 64th batch
        and the next line have the same key."""
        at = 64 * 500 - 1
        lines = [{"delay": "1h"} for _ in range(at + 500)]
        for line, payload in ((at, "FIRST"), (at + 1, "SECOND")):
            lines[line] = {"key": "k", "payload": payload, "delay": "1h", "if_exists": "replace"}
        with Server("memory:") as server, Holding(server.port, b"FIRST", b"SECOND") as holding:
            self.push(lines, store=holding.url)
            self.assertEqual(self.asked("get", "q", "k", store=server.url)["payload"], "SECOND")

    def test_orders_of_the_examples(self):
        source = os.environ["TARRY_SOURCE_DIR"]
        summary = self.asked("push", "orders", "--jsonl", f"{source}/examples/orders.jsonl")
        self.assertEqual((summary["pushed"], summary["failed"]), (5000, 0))

    def test_the_store_goes_away(self):
        """Lines without an answer are reported as such; nothing is repeated."""
        with Server("memory:") as server:
            reading, writing = os.pipe()
            # Files instead of pipes: a pipe might fill while we write to the other one.
            out = self.directory / "out"
            with subprocess.Popen([PROGRAM, "--store", server.url, "-o", "json", "push", "q",
                                   "--jsonl", "-"], stdin=reading, stdout=out.open("wb"),
                                  stderr=subprocess.DEVNULL, env=environment()) as process:
                os.close(reading)
                with open(writing, "wb") as lines:
                    lines.write(b'{"payload":"x"}\n' * 1000)
                    lines.flush()
                    # The server has some of the lines before it dies.
                    eventually(lambda: process.poll() is not None or
                               self.asked("queue", "ls", store=server.url)["queues"],
                               "the first are pushed")
                    self.assertIsNone(process.poll(), "it has given up")
                    server.process.kill()
                    server.process.wait()
                    try:
                        for _ in range(100):
                            lines.write(b'{"payload":"x"}\n' * 1000)
                    except BrokenPipeError:
                        pass
                process.wait(timeout=60)
            server.stop = lambda *_: 0
        summary = json.loads(out.read_text())
        self.assertIn(process.returncode, (FAILED, UNREACHABLE))
        self.assertGreater(summary["failed"], 0)
        for error in summary["errors"]:
            self.assertIn(error["error"]["code"], ("unknown_outcome", "unavailable", "closed"))

    def start_on_a_pipe(self, server):
        return subprocess.Popen([PROGRAM, "push", "orders", "--jsonl", "-"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=environment(TARRY_STORE=server.url))

    def test_a_line_of_a_slow_pipe_is_pushed_before_the_next_comes(self):
        with Server(self.store) as server:
            process = self.start_on_a_pipe(server)
            for key in ("a", "b", "c"):
                # The incomplete next line must not delay the whole one.
                process.stdin.write(b'{"key":"%s","payload":"x"}\n{"key"' % key.encode())
                process.stdin.flush()
                eventually(lambda wanted=key: wanted in self.keys(server), f"{key} is there")
                process.stdin.write(b':"%s2"}\n' % key.encode())
                process.stdin.flush()
                eventually(lambda wanted=key: wanted + "2" in self.keys(server), f"{key}2 is there")
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, DONE, (out, err))

    def test_a_signal_ends_it_and_says_how_far_it_came(self):
        with Server(self.store) as server:
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(number):
                    process = self.start_on_a_pipe(server)
                    lines = b"".join(b'{"key":"%d-%d"}\n' % (number, i) for i in range(700))
                    process.stdin.write(lines + b'{"key":"half')
                    process.stdin.flush()
                    eventually(lambda n=number: f"{n}-699" in self.keys(server), "all is pushed")
                    process.send_signal(number)
                    process.wait(timeout=60)  # its input stays open until then
                    out, err = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, FAILED, (out, err))
                    self.assertRegex(out.decode(), r"pushed +700\b")
                    self.assertIn("stopped by a signal after line 700", err.decode())

    def keys(self, server):
        """The keys in the queue; none if it does not exist yet."""
        ls = subprocess.run([PROGRAM, "ls", "orders", "--limit", "10000", "-o", "json"],
                            capture_output=True, env=environment(TARRY_STORE=server.url),
                            timeout=60, check=False)
        return {one["key"] for one in json.loads(ls.stdout)["messages"]} if ls.stdout else set()

    def test_a_bad_queue_is_refused_at_once(self):
        (self.directory / "in.jsonl").write_bytes(b"{}\n")
        self.refused("push", "a b", "--jsonl", "in.jsonl", code=USAGE, says='"a b"')

    def test_on_a_terminal(self):
        """A terminal gets a table. A log gets no escape sequence."""
        (self.directory / "in.jsonl").write_bytes(b'{"delay":"1h"}\n' * 3000)
        ours, theirs = pty.openpty()
        with subprocess.Popen([PROGRAM, "--store", self.store, "push", "q", "--jsonl", "in.jsonl"],
                              stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL,
                              cwd=self.directory, env=environment()) as process:
            os.close(theirs)
            text = b""
            try:
                while chunk := os.read(ours, 4096):
                    text += chunk
            except OSError:
                pass  # Linux reports like this that the other end was closed
            os.close(ours)
        self.assertEqual(process.returncode, DONE)
        self.assertRegex(text, rb"pushed +3,000\r\n")


if __name__ == "__main__":
    unittest.main()
