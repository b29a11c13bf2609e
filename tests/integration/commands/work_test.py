#!/usr/bin/env python3
"""tarry work: the payload is the command's input, its exit status is the verdict, and a signal
drains it.
"""

import json
import os
import resource
import shlex
import signal
import subprocess
import unittest

from program import (DONE, FAILED, PROGRAM, UNREACHABLE, ProgramTest, Server, environment,
                     eventually)


class Work(ProgramTest):
    """A server beside the worker, so that a test can see the worker's effects meanwhile."""

    def setUp(self):
        super().setUp()
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        # A pipe: the test reads each line as soon as a command writes it, without polling.
        os.mkfifo(self.directory / "said")
        self.said_fd = os.open(self.directory / "said", os.O_RDWR)
        self.addCleanup(os.close, self.said_fd)
        self.said = os.fdopen(os.dup(self.said_fd), "r", encoding="utf-8")
        self.addCleanup(self.said.close)

    def start(self, script, *flags, queues=("q",), output="json", before=None):
        """Starts `tarry work` in the background, which runs `script` for every message. `before` is
        a function that its process calls first."""
        return subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "-o", output, "work", *queues, *flags, "--",
             "sh", "-c", script],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory, env=environment(),
            preexec_fn=before)

    def stop(self, worker, number=signal.SIGTERM, code=DONE):
        """Drains it; returns its counts."""
        worker.send_signal(number)
        out, err = worker.communicate(timeout=60)
        self.assertEqual(worker.returncode, code, err)
        return json.loads(out)

    def remote(self, *words, **more):
        return self.asked(*words, store=self.server.url, **more)

    def test_payload_and_environment(self):
        pushed = self.remote("push", "q", "two\nlines", "--key", "order:42")
        worker = self.start('printf "%s|%s|%s|%s|%s|" "$TARRY_KEY" "$TARRY_ID" "$TARRY_ATTEMPT" '
                            '"$TARRY_QUEUE" "$TARRY_DUE_MS" > said; cat > payload; echo > said')
        self.assertEqual(self.said.readline().split("|")[:5],
                         ["order:42", pushed["id"], "1", "q", str(pushed["due_ms"])])
        counts = self.stop(worker)
        self.assertEqual((self.directory / "payload").read_text(), "two\nlines")
        self.assertEqual((counts["delivered"], counts["acked"]), (1, 1))
        self.assertEqual(self.remote("queue", "info", "q")["counters"]["acked"], 1)

    def test_exit_statuses(self):
        statuses = {"ok": 0, "again": 75, "poison": 65, "broken": 1, "killed": 9}
        for key, status in statuses.items():
            self.remote("push", "q", str(status), "--key", key)
        worker = self.start('read s; echo $TARRY_KEY > said; [ $s != 9 ] || kill -9 $$; exit $s')
        self.assertEqual({self.said.readline().strip() for _ in statuses}, set(statuses))
        counts = self.stop(worker)
        self.assertEqual((counts["acked"], counts["buried"], counts["retried"]), (1, 1, 3))
        states = {m["key"]: m["state"] for m in self.remote("ls", "q")["messages"]}
        self.assertEqual(states["poison"], "dead")
        self.assertEqual({states[key] for key in ("again", "broken", "killed")}, {"scheduled"})
        self.assertNotIn("ok", states)

    def test_whoever_starts_it_may_ignore_what_children_do(self):
        self.remote("push", "q", "0", "--key", "ok")
        self.remote("push", "q", "65", "--key", "poison")
        worker = self.start('read s; echo $TARRY_KEY > said; exit $s',
                            before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual({self.said.readline().strip() for _ in range(2)}, {"ok", "poison"})
        counts = self.stop(worker)
        self.assertEqual((counts["acked"], counts["buried"]), (1, 1))

    def test_a_queue_that_is_not_there_is_waited_for_and_named(self):
        self.remote("push", "q", "x", "--key", "first")
        worker = self.start("echo $TARRY_KEY > said", queues=("typo", "q"))
        self.assertEqual(self.said.readline(), "first\n")
        self.remote("push", "typo", "x", "--key", "second")
        self.assertEqual(self.said.readline(), "second\n")
        worker.send_signal(signal.SIGTERM)
        err = worker.communicate(timeout=60)[1].decode()
        self.assertEqual(worker.returncode, DONE)
        self.assertIn("there is no queue typo yet; waiting for it", err)
        self.assertNotIn("no queue q", err)

    def test_several_queues_and_commands_at_once(self):
        for queue in ("a", "b"):
            for i in range(20):
                self.remote("push", queue, "x", "--key", f"{queue}:{i}")
        worker = self.start("echo $TARRY_KEY > said", "--concurrency", "3", queues=("a", "b"))
        keys = {self.said.readline().strip() for _ in range(40)}
        self.assertEqual(len(keys), 40)
        self.assertEqual(self.stop(worker)["acked"], 40)

    def test_so_many_commands_run_at_once(self):
        os.mkfifo(self.directory / "go")
        go_on = os.open(self.directory / "go", os.O_RDWR)
        self.addCleanup(os.close, go_on)
        for key in "abcd":
            self.remote("push", "q", "x", "--key", key)

        def leased():
            listed = self.remote("ls", "q", "--state", "leased")["messages"]
            return {message["key"] for message in listed}

        worker = self.start("echo $TARRY_KEY > said; read w < go", "--concurrency", "3")
        self.addCleanup(worker.kill)
        eventually(lambda: len(leased()) == 3, "three are claimed")
        # None of the three ends before all have begun.
        begun = {self.said.readline().strip() for _ in range(3)}
        self.assertEqual(leased(), begun)
        os.write(go_on, b"on\n" * 4)
        self.assertEqual({self.said.readline().strip()} | begun, set("abcd"))
        self.assertEqual(self.stop(worker)["acked"], 4)

    def test_the_lease_that_is_asked_for(self):
        os.mkfifo(self.directory / "go")
        self.remote("push", "q", "x", "--key", "k")
        worker = self.start("echo begun > said; read w < go", "--lease", "1h")
        self.addCleanup(worker.kill)
        self.assertEqual(self.said.readline(), "begun\n")
        # The queue's own lease is 30 s.
        self.assertGreater(self.remote("get", "q", "k")["lease_left_ms"], 3_000_000)
        with open(self.directory / "go", "w", encoding="utf-8") as go_on:
            go_on.write("on\n")
        self.assertEqual(self.stop(worker)["acked"], 1)

    def test_a_large_payload_that_is_not_read(self):
        self.remote("push", "q", "-", stdin=b"x" * 1_000_000)
        worker = self.start("echo done > said")
        self.assertEqual(self.said.readline(), "done\n")
        self.assertEqual(self.stop(worker)["acked"], 1)

    def test_drain_lets_the_running_command_finish(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                queue = f"q{number:d}"
                os.mkfifo(self.directory / queue)
                self.remote("push", queue, "x")
                self.remote("push", queue, "y")
                worker = self.start(f"echo begun > said; read w < {queue}; echo $w > said",
                                    queues=(queue,), output="table")
                self.assertEqual(self.said.readline(), "begun\n")
                worker.send_signal(number)
                self.assertIn(b"Stopping", worker.stderr.readline())
                # The second message must stay where it is. Now the first may go on.
                with open(self.directory / queue, "w", encoding="utf-8") as go_on:
                    go_on.write("finished\n")
                self.assertEqual(self.said.readline(), "finished\n")
                _, err = worker.communicate(timeout=60)
                self.assertEqual(worker.returncode, DONE)
                self.assertIn(b"delivered 1: acked 1, retried 0 (a message's last retry makes it "
                              b"dead), buried 0, not settled 0", err)
                info = self.remote("queue", "info", queue)
                self.assertEqual((info["leased"], info["ready"]), (0, 1))

    def test_a_second_signal_is_passed_on(self):
        self.remote("push", "q", "x")
        # The command leaves no process behind that holds the worker's standard output. It blocks
        # the signal between "begun" and the wait, so that no signal is missed.
        told = ("from signal import *\n"
                "pthread_sigmask(SIG_BLOCK, [SIGTERM])\n"
                "with open('said', 'w') as said:\n"
                "    print('begun', file=said, flush=True)\n"
                "    sigwait([SIGTERM])\n"
                "    print('told', file=said, flush=True)\n"
                "raise SystemExit(75)\n")
        worker = self.start(f"exec python3 -c {shlex.quote(told)}")
        self.assertEqual(self.said.readline(), "begun\n")
        worker.send_signal(signal.SIGTERM)
        worker.send_signal(signal.SIGINT)
        self.assertEqual(self.said.readline(), "told\n")
        out, _ = worker.communicate(timeout=60)
        self.assertEqual(json.loads(out)["retried"], 1)

    def test_a_shortage_costs_no_attempt(self):
        worker = self.start("echo $TARRY_KEY $TARRY_ATTEMPT > said")
        self.remote("push", "q", "x", "--key", "before")
        self.assertEqual(self.said.readline(), "before 1\n")
        limits = resource.prlimit(worker.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (1, limits[1]))
        self.remote("push", "q", "x", "--key", "meanwhile")
        # The worker's connections may fail first.
        said = next((line for line in worker.stderr if b"Too many open files" in line), b"")
        self.assertIn(b"Too many open files; trying again", said)
        resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, limits)
        self.assertEqual(self.said.readline(), "meanwhile 1\n")
        self.assertEqual(self.stop(worker)["acked"], 2)

    def test_a_command_that_cannot_be_started_any_more_costs_no_attempt(self):
        script = self.directory / "handler"
        script.write_text("#!/bin/sh\necho $TARRY_KEY > said\n")
        script.chmod(0o700)
        worker = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "work", "q", "--", str(script)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory, env=environment())
        self.remote("push", "q", "x", "--key", "before")
        self.assertEqual(self.said.readline(), "before\n")
        script.unlink()
        self.remote("push", "q", "x", "--key", "after")
        _, err = worker.communicate(timeout=60)
        self.assertEqual(worker.returncode, FAILED, err)
        self.assertIn(str(script).encode(), err)
        after = self.remote("get", "q", "after")
        self.assertEqual((after["state"], after["attempt"]), ("ready", 0))

    def test_a_server_that_goes_away(self):
        # Pushed first, otherwise the worker may report that there is no queue yet.
        self.remote("push", "q", "x")
        worker = self.start("echo begun > said", "--lease", "1s")
        self.assertEqual(self.said.readline(), "begun\n")  # now it listens to signals
        self.server.process.kill()
        self.server.process.wait()
        self.assertIn(b"; trying again", worker.stderr.readline())
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=60)
        self.assertIn(worker.returncode, (DONE, UNREACHABLE))


if __name__ == "__main__":
    unittest.main()
