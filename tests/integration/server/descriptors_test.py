#!/usr/bin/env python3
"""If the machine gives few file descriptors, the program prints a plain error, and leaves nothing
half done.
"""

import resource
import signal
import subprocess
import unittest
from pathlib import Path

from program import DONE, PROGRAM, UNREACHABLE, ProgramTest, Server, environment, eventually

MOST = 40


class Few(ProgramTest):
    def run_with(self, limit, *words):
        return subprocess.run(
            [PROGRAM, "--store", f"{self.store}?shards=4", *words], capture_output=True, text=True,
            timeout=100, env=environment(), check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))

    def test_a_push_works_or_says_why(self):
        self.asked("push", "orders", "first", "--key", "0", store=f"{self.store}?shards=4")
        pushed, refused = 1, 0
        for limit in range(4, MOST):
            done = self.run_with(limit, "push", "orders", "x", "--key", str(limit))
            # It ended before main: the system could not even open the program's libraries.
            if done.returncode == 127 and "error while loading shared libraries" in done.stderr:
                continue
            self.assertNotEqual(done.returncode, -signal.SIGABRT, f"{limit}: {done.stderr}")
            if done.returncode == DONE:
                pushed += 1
                continue
            refused += 1
            self.assertEqual(done.returncode, UNREACHABLE, f"{limit}: {done.stderr}")
            self.assertRegex(done.stderr, r"^tarry: .*Too many open files")
        self.assertGreater(refused, 0)
        self.assertGreater(pushed, 1)
        stats, = self.asked("stats")["queues"]
        self.assertEqual(stats["ready"], pushed)
        self.assertTrue(self.asked("store", "audit")["balanced"])


class FewForAServer(ProgramTest):
    """Few descriptors for serve, and for a relay within it."""

    def test_serve_works_or_says_why(self):
        """At any limit, the runtime does not abort, and no store is left half made."""
        served, refused = 0, 0
        for limit in (*range(8, 40), 48, 64, 80):
            done = self.start_and_stop(limit)
            if done is None:
                served += 1
                continue
            code, err = done
            if code == 127 and "error while loading shared libraries" in err:
                continue
            refused += 1
            self.assertGreater(code, 0, f"{limit}: {err}")
            self.assertRegex(err.splitlines()[-1], "^tarry: .*[Tt]oo many open files", f"{limit}")
        self.assertGreater(refused, 0)
        self.assertGreater(served, 0)

    def start_and_stop(self, limit):
        """None if the server ran; otherwise its exit code and its output."""
        process = subprocess.Popen(
            [PROGRAM, "serve", "--store", self.store, "--listen", "127.0.0.1:0"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        ready = process.stdout.readline()
        if ready:
            process.terminate()
        _, err = process.communicate(timeout=60)
        if not ready:
            return process.returncode, err
        self.assertEqual(process.returncode, DONE, err)
        return None

    def test_how_few_clients_there_may_be_is_told(self):
        for descriptors, flags, says in (
                (64, (), "at most 1 connection at once, not the 10,000 of"),
                (1_000, ("--max-connections", "500"),
                 "at most 400 connections at once, not the 500 of"),
                (1_000, ("--max-connections", "4"), None), (5_000, (), None)):
            with self.subTest(descriptors=descriptors, flags=flags), \
                    Server(self.store, *flags, descriptors=(descriptors, descriptors)) as server:
                if says:
                    self.assertIn(says, server.log())
                    self.assertIn(f"{descriptors:,} open files", server.log())
                else:
                    self.assertNotIn("at most", server.log())

    def test_a_command_has_the_limit_of_before_and_no_token(self):
        told = self.directory / "told"
        config = self.directory / "tarry.toml"
        config.write_text(
            '[[relay]]\nname = "r"\nqueues = ["q"]\nto = "command"\n'
            f"""command = ["sh", "-c", "(ulimit -n; env) > {told}.new; mv {told}.new {told}"]\n""")
        with Server(self.store, "--config", str(config), descriptors=(300, 4_096),
                    variables={"TARRY_TOKEN": "a-token-not-to-be-told", "OTHER": "told"}) as server:
            limits = Path(f"/proc/{server.process.pid}/limits").read_text(encoding="utf-8")
            self.assertRegex(limits, r"Max open files +4096 +4096")
            self.asked("push", "q", "x", store=server.url)
            eventually(told.exists, "the command has run")
        limit, *variables = told.read_text(encoding="utf-8").splitlines()
        self.assertEqual(limit, "300")
        self.assertIn("OTHER=told", variables)
        self.assertFalse([line for line in variables if line.startswith("TARRY_TOKEN")])


if __name__ == "__main__":
    unittest.main()
