#!/usr/bin/env python3
"""tarry store export and import: the export of one store is imported into another, and exported
again.
"""

import json
import signal
import subprocess
import unittest
from pathlib import Path

from program import CONFLICT, FAILED, PROGRAM, USAGE, ProgramTest, Server, environment, eventually
from redis_server import RedisServer


def catches(pid, number):
    """Whether the process has its own handler for the signal."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("SigCgt:"):
            return int(line.split()[1], 16) >> (number - 1) & 1 == 1
    return False


def to_the_minute(lines):
    """Sorts the lines, and cuts push times to the minute, because Redis keeps no more."""
    told = []
    for line in map(json.loads, lines):
        if line.get("message", {}).pop("pushed", None):
            line["message"]["pushed_ms"] //= 60_000
        told.append(json.dumps(line, sort_keys=True))
    return sorted(told)


class Transfer(ProgramTest):
    def fill(self, store):
        lines = [{"key": f"k:{i}", "payload": f"p{i}", "due": "2099-01-31T09:00:00Z",
                  "headers": {"n": str(i)}, "priority": 1000 + i % 50} for i in range(1100)]
        lines += [{"payload_base64": "/wA=", "delay": f"{i + 1}h", "max_attempts": 3}
                  for i in range(50)]
        self.tarry("push", "orders", "--jsonl", "-", store=store,
                   stdin="\n".join(map(json.dumps, lines)).encode())
        self.tarry("push", "orders", "x", "--key", "dead", store=store)
        receipt = self.asked("claim", "orders", store=store)["messages"][0]["receipt"]
        self.tarry("bury", "orders", receipt, "--reason", "no good", store=store)
        self.tarry("push", "mails", "y", store=store)

    def export(self, store, *words):
        return self.tarry("store", "export", *words, store=store).out.splitlines()

    def test_there_and_back_again(self):
        """memory: (over HTTP) -> file: -> redis: -> file:, with the same contents each time."""
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        file = str(self.directory / "export.jsonl")
        with Server("memory:") as server:
            self.fill(server.url)
            lines = self.export(server.url)
            told = self.asked("store", "export", file, store=server.url)
            self.assertEqual((told["queues"], told["messages"]), (2, 1152))
        self.assertEqual(json.loads(lines[0]), {"tarry_export": 2})
        self.assertEqual(json.loads(lines[-1]), {"end": True, "messages": 1152})
        self.assertEqual(len(lines), 1 + 2 + 1152 + 1)
        for store in (f"file:{self.directory}/a", redis.url, f"file:{self.directory}/b"):
            told = self.asked("store", "import", file, store=store)
            self.assertEqual((told["complete"], told["imported"], told["held"]), (True, 1152, []))
            self.assertEqual(to_the_minute(self.export(store)), to_the_minute(lines))
            self.assertTrue(self.asked("store", "audit", store=store)["balanced"])
            (self.directory / "export.jsonl").unlink()
            self.tarry("store", "export", file, store=store)
        one = self.export(f"file:{self.directory}/b", "--queue", "mails")
        self.assertEqual(len(one), 4)

    def test_an_export_for_an_older_program_says_no_push_times(self):
        self.fill(self.store)
        lines = self.tarry("store", "export", "--format", "1").out.splitlines()
        self.assertEqual(json.loads(lines[0]), {"tarry_export": 1})
        self.assertFalse([line for line in lines if "pushed" in line])
        told = self.tarry("store", "import", "-o", "json", store=f"file:{self.directory}/older",
                          stdin="\n".join(lines).encode())
        self.assertEqual(json.loads(told.out)["imported"], 1152)
        self.assertIn("3", self.tarry("store", "export", "--format", "3", code=USAGE).err)

    def test_into_servers(self):
        """An export of file: is imported over HTTP, and the server's contents are exported
        unchanged."""
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        self.fill(self.store)
        file = str(self.directory / "export.jsonl")
        self.tarry("store", "export", file)
        lines = self.export(self.store)
        for store in (f"file:{self.directory}/served", redis.url, "memory:"):
            with Server(store) as server, self.subTest(store):
                told = self.asked("store", "import", file, store=server.url)
                self.assertEqual((told["complete"], told["imported"], told["held"]),
                                 (True, 1152, []))
                self.assertEqual(to_the_minute(self.export(server.url)), to_the_minute(lines))
                told = self.asked("store", "import", file, store=server.url)
                self.assertEqual((told["found"], told["imported"]), (1152, 0))
                self.assertTrue(self.asked("store", "audit", store=server.url)["balanced"])

    def test_a_server_with_small_bodies_is_asked_in_more_requests(self):
        self.fill(self.store)
        self.tarry("push", "orders", "x" * 5_000, "--key", "large", "--in", "1h")
        lines = self.export(self.store)
        with Server("memory:", "--max-body", "4KiB") as server:
            answer = self.tarry("store", "import", "-o", "json", store=server.url,
                                stdin="\n".join(lines).encode(), code=FAILED)
            told = json.loads(answer.out)
            self.assertEqual((told["complete"], told["imported"], told["failed"], told["held"]),
                             (True, 1152, 1, []))
            self.assertIn('message "large" is not imported: ', answer.err)
            self.assertIn("4096 bytes", answer.err)

    def test_a_file_cut_in_the_middle_is_gone_on_with(self):
        self.fill(self.store)
        lines = self.export(self.store)
        self.cut_in_the_middle(lines, f"file:{self.directory}/other")
        with Server("memory:") as server:
            self.cut_in_the_middle(lines, server.url)

    def cut_in_the_middle(self, lines, other):
        cut = "\n".join(lines[:700]) + "\n" + lines[700][:40]
        answer = self.tarry("store", "import", "-o", "json", store=other, stdin=cut.encode(),
                            code=FAILED)
        told = json.loads(answer.out.splitlines()[0])
        self.assertEqual((told["complete"], told["imported"], told["held"]),
                         (False, 697, ["mails", "orders"]))
        self.assertRegex(answer.err, "tarry: line 701: .*: it was cut off")
        self.assertIn("stay paused until an import is complete", answer.err)
        whole = "\n".join(lines) + "\n"
        told = self.asked("store", "import", "-", store=other, stdin=whole.encode())
        self.assertEqual((told["found"], told["imported"]), (697, 1152 - 697))
        self.assertEqual(sorted(self.export(other)), sorted(lines))

    def test_what_is_no_export_makes_no_store(self):
        for text, why in ((b"", "the input is empty"), (b'{"a":1}\n', "line 1: it is no export"),
                          (b"zz\n", "line 1: it is no export"),
                          (b"\n \n{}\n", "line 3: it is no export"),
                          (b"\n\n", "the input is empty"),
                          (b'{"tarry_export":3}\n', "line 1: ")):
            self.refused("store", "import", code=FAILED, stdin=text, says=why,
                         store=f"file:{self.directory}/new")
            self.assertFalse((self.directory / "new").exists())

    def test_a_stopped_import_is_gone_on_with(self):
        self.fill(self.store)
        whole = "\n".join(self.export(self.store)).encode() + b"\n"
        # Cut after a whole line, so that the rest of the import does not complete a broken line.
        part = whole[:whole.rindex(b"\n", 0, len(whole) * 2 // 3) + 1]
        other = f"file:{self.directory}/other"
        with subprocess.Popen([PROGRAM, "--store", other, "store", "import"],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env=environment()) as importing:
            importing.stdin.write(part)
            importing.stdin.flush()
            eventually((self.directory / "other" / "STORE").exists, "the store is made")
            eventually(lambda: catches(importing.pid, signal.SIGTERM), "it watches for signals")
            # While it waits for more input, which never comes.
            importing.send_signal(signal.SIGTERM)
            importing.wait(timeout=60)
            error = importing.stderr.read().decode()
        self.assertEqual(importing.returncode, FAILED, error)
        self.assertIn("stopped", error)
        told = self.asked("store", "import", "-", store=other, stdin=whole)
        self.assertEqual(told["found"] + told["imported"], 1152)

    def test_an_export_that_nobody_reads_is_stopped(self):
        lines = b"".join(b'{"payload":"%s"}\n' % (b"x" * 1000) for _ in range(500))
        self.tarry("push", "q", "--jsonl", "-", stdin=lines)
        with subprocess.Popen([PROGRAM, "--store", self.store, "store", "export", "-"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment()) as exporting:
            eventually(lambda: catches(exporting.pid, signal.SIGTERM), "it watches for signals")
            exporting.send_signal(signal.SIGTERM)
            exporting.wait(timeout=60)
            self.assertIn(b"stopped", exporting.stderr.read())
        self.assertEqual(exporting.returncode, FAILED)

    def test_a_killed_import_is_gone_on_with(self):
        self.fill(self.store)
        file = self.directory / "export.jsonl"
        self.tarry("store", "export", str(file))
        other = f"file:{self.directory}/other"
        whole = file.read_bytes()
        with subprocess.Popen([PROGRAM, "--store", other, "store", "import"],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              env=environment()) as importing:
            importing.stdin.write(whole[:len(whole) * 2 // 3])
            importing.stdin.flush()
            importing.send_signal(signal.SIGKILL)
            importing.wait(timeout=60)
        told = self.asked("store", "import", str(file), store=other)
        self.assertEqual(told["found"] + told["imported"], 1152)
        self.assertEqual(sorted(self.export(other)), sorted(whole.decode().splitlines()))

    def many(self, store):
        """Pushes so many messages that exporting them takes a while."""
        lines = "".join(f'{{"key":"k:{i}","payload":"{"x" * 400}","delay":"1h"}}\n'
                        for i in range(120_000))
        self.tarry("push", "orders", "--jsonl", "-", store=store, stdin=lines.encode())

    def cut_export(self, store, file, how):
        """Ends an export of many messages once it has recorded its progress."""
        mark = file.with_name(file.name + ".part.mark")
        with subprocess.Popen([PROGRAM, "--store", store, "store", "export", str(file)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env=environment()) as exporting:
            while not mark.exists() and exporting.poll() is None:
                pass
            exporting.send_signal(how)
            error = exporting.communicate(timeout=60)[1].decode()
        self.assertNotEqual(exporting.returncode, 0, "it was over before it was cut short")
        self.assertTrue(mark.exists(), error)
        self.assertFalse(file.exists())
        if how == signal.SIGTERM:
            self.assertEqual(exporting.returncode, FAILED, "no store was out of reach")
            self.assertIn("the same command continues it", error)

    def test_an_export_that_was_cut_short_is_gone_on_with(self):
        self.many(self.store)
        whole = sorted(self.export(self.store))
        for how in (signal.SIGTERM, signal.SIGKILL):
            file = self.directory / f"export-{how}.jsonl"
            part = file.with_name(file.name + ".part")
            self.cut_export(self.store, file, how)
            began = json.loads(part.with_name(part.name + ".mark").read_text())
            self.assertIn("another export", self.tarry("store", "export", str(file), "--queue",
                                                       "orders", code=CONFLICT).err)
            self.assertTrue(part.exists())
            answer = self.tarry("store", "export", str(file))
            self.assertIn(f"continuing after {began['messages']:,} messages", answer.err)
            self.assertEqual(sorted(file.read_text().splitlines()), whole)
            self.assertEqual(list(self.directory.glob("*.part*")), [])

    def test_an_export_from_redis_goes_on_though_redis_was_started_again(self):
        """The cursors of that Redis are then worthless, but no message is written twice."""
        redis = RedisServer("--appendonly", "yes", "--appendfsync", "always", parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        self.many(redis.url)
        whole = sorted(self.export(redis.url))
        file = self.directory / "export.jsonl"
        self.cut_export(redis.url, file, signal.SIGTERM)
        redis.shoot()
        redis.bury()
        redis.start()
        self.tarry("store", "export", str(file), store=redis.url)
        self.assertEqual(sorted(file.read_text().splitlines()), whole)

    def test_an_export_from_redis_misses_nothing_that_is_moved_meanwhile(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        lines = "".join(f'{{"key":"k:{i}","payload":"{"x" * 400}"}}\n' for i in range(40_000))
        self.tarry("push", "q", "--jsonl", "-", store=redis.url, stdin=lines.encode())
        file = self.directory / "export.jsonl"
        with subprocess.Popen([PROGRAM, "--store", redis.url, "store", "export", str(file)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env=environment()) as exporting:
            moved = 0
            while exporting.poll() is None:
                claimed = self.asked("claim", "q", "--max", "1000", store=redis.url)["messages"]
                receipts = [one["receipt"] for one in claimed]
                if receipts and moved % 2000 == 0:
                    self.tarry("retry", "q", *receipts, "--in", "1d", store=redis.url)
                moved += len(receipts)
            self.assertEqual(exporting.returncode, 0, exporting.stderr.read().decode())
        self.assertGreater(moved, 0)
        keys = [json.loads(line)["message"]["key"] for line in file.read_text().splitlines()
                if line.startswith('{"message"')]
        self.assertEqual(len(keys), 40_000)
        self.assertEqual(len(set(keys)), 40_000)

    def test_what_is_left_of_an_export_must_be_what_its_mark_says(self):
        self.tarry("push", "q", "x", "--key", "k")
        file = self.directory / "export.jsonl"
        part, mark = (self.directory / f"export.jsonl.part{end}" for end in ("", ".mark"))
        part.write_text("of a run that was killed early, without a mark")
        self.tarry("store", "export", str(file))
        self.assertEqual(len(file.read_text().splitlines()), 4)
        file.unlink()
        kept = {"export": self.store, "bytes": 10, "queues": ["q"], "queue": 0, "after": "",
                "total": 1, "messages": 0, "leased": 0, "remembered": 0, "problems": []}
        part.write_text("short")
        mark.write_text(json.dumps(kept))
        self.assertIn("only 5 of the 10 bytes that were written",
                      self.tarry("store", "export", str(file), code=FAILED).err)
        mark.write_text(json.dumps(kept)[:-20])
        self.assertIn("does not say how far",
                      self.tarry("store", "export", str(file), code=FAILED).err)
        self.assertEqual(part.read_text(), "short")

    def test_a_last_attempt_at_a_consumer_is_dead(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        for queue, store, other in (("a", self.store, redis.url),
                                    ("b", redis.url, f"file:{self.directory}/other")):
            with self.subTest(store):
                self.tarry("push", queue, "x", "--key", "once", "--max-attempts", "1", store=store)
                self.tarry("push", queue, "x", "--key", "twice", "--max-attempts", "2", store=store)
                self.tarry("claim", queue, "--max", "2", "--lease", "1h", store=store)
                answer = self.tarry("store", "export", "--queue", queue, store=store)
                self.assertIn("or makes them dead after their last attempt", answer.err)
                self.tarry("store", "import", store=other, stdin=answer.bytes)
                claimed = self.asked("claim", queue, "--max", "2", store=other)["messages"]
                self.assertEqual([(one["key"], one["attempt"]) for one in claimed], [("twice", 2)])
                dead = self.asked("get", queue, "once", store=other)
                self.assertEqual((dead["state"], dead["reason"]),
                                 ("dead", "lease ran out on attempt 1 of 1"))

    def test_what_is_cancelled_at_a_consumer_is_left_out_and_said(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        file = self.directory / "export.jsonl"
        part, mark = (self.directory / f"export.jsonl.part{end}" for end in ("", ".mark"))
        for store in (self.store, redis.url):
            with self.subTest(store):
                self.tarry("push", "q", "x", "--key", "gone", store=store)
                self.tarry("push", "q", "x", "--key", "other", "--in", "1h", store=store)
                self.tarry("claim", "q", "--lease", "1h", store=store)
                self.tarry("cancel", "q", "gone", store=store, code=CONFLICT)
                self.assertIn("Not in the export: 1 message cancelled",
                              self.tarry("store", "export", store=store).err)
                told = self.asked("store", "export", str(file), store=store)
                self.assertEqual((told["messages"], told["leased"], told["stopping"]), (1, 0, 1))
                # It goes on after that message, and still reports it.
                lines = file.read_bytes()
                part.write_bytes(lines)
                file.unlink()
                mark.write_text(json.dumps({
                    "export": store, "bytes": len(lines.splitlines(True)[0]), "queues": [],
                    "queue": 0, "after": "", "total": 2, "messages": 0, "leased": 0,
                    "stopping": 7, "remembered": 0, "problems": []}))
                self.assertEqual(self.asked("store", "export", str(file), store=store)["stopping"],
                                 7)
                file.unlink()

    def test_conflicts_are_named(self):
        self.fill(self.store)
        file = str(self.directory / "export.jsonl")
        self.tarry("store", "export", file)
        other = f"file:{self.directory}/other"
        self.tarry("push", "orders", "mine", "--key", "k:7", store=other)
        answer = self.tarry("store", "import", file, "--keep-settings", store=other, code=CONFLICT)
        self.assertIn('queue "orders", message "k:7" is not imported: its key belongs to '
                      "another message already",
                      answer.err)

    def test_the_settings_of_queues_that_are_there(self):
        file = str(self.directory / "export.jsonl")
        self.tarry("push", "orders", "x", "--key", "k", "--in", "1h")
        for queue in ("orders", "mails"):
            self.tarry("queue", "set", queue, "--lease", "1m")
        self.tarry("store", "export", file)

        def lease(queue, store):
            return self.asked("queue", "info", queue, store=store)["settings"]["lease_ms"]

        with Server("memory:") as server:
            for store in (f"file:{self.directory}/other", server.url):
                self.tarry("push", "orders", "mine", "--key", "mine", "--in", "1h", store=store)
                for flags, left in ((("--keep-settings",), 120_000), ((), 60_000)):
                    with self.subTest(store=store, flags=flags):
                        self.tarry("queue", "set", "orders", "--lease", "2m", store=store)
                        told = self.asked("store", "import", file, *flags, store=store)
                        self.assertTrue(told["complete"])
                        self.assertEqual(lease("orders", store), left)
                        # The queue did not exist, so the flag makes no difference.
                        self.assertEqual(lease("mails", store), 60_000)

    def test_what_is_refused(self):
        file = self.directory / "export.jsonl"
        self.tarry("push", "q", "x", "--key", "k")
        self.tarry("store", "export", str(file))
        self.assertIn(f'"{file}" exists already',
                      self.tarry("store", "export", str(file), code=CONFLICT).err)
        self.refused("store", "import", str(self.directory), says="is a directory")
        absent = str(self.directory / "no" / "file")
        self.assertIn("No such file", self.tarry("store", "export", absent, code=USAGE).err)
        self.assertIn("cannot read", self.tarry("store", "import", absent, code=USAGE).err)
        self.assertIn("ends with this command",
                      self.tarry("store", "import", str(file), store="memory:", code=USAGE).err)
        self.assertIn("there is no queue",
                      self.tarry("store", "export", "--queue", "none", code=3).err)
        self.assertEqual([path.name for path in self.directory.glob("*.part*")], [])


if __name__ == "__main__":
    unittest.main()
