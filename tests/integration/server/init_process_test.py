#!/usr/bin/env python3
"""As process 1 of a container: it reaps processes that commands leave behind, receives signals, and
exits with the code of the work.
"""

import os
import shutil
import signal
import subprocess
import unittest
from pathlib import Path

from program import DONE, PROGRAM, USAGE, ProgramTest, environment, eventually

UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


def may_unshare():
    if not shutil.which("unshare"):
        return False
    asked = subprocess.run([*UNSHARE, "true"], capture_output=True, check=False)
    return asked.returncode == 0


def children_of(pid):
    """The children's process numbers, as seen from outside the container."""
    return [int(word) for task in Path(f"/proc/{pid}/task").iterdir()
            for word in (task / "children").read_text().split()]


@unittest.skipUnless(may_unshare(), "needs namespaces of its own")
class InitProcess(ProgramTest):
    def setUp(self):
        super().setUp()
        # The process that the handler leaves behind ends once it has read a line.
        self.handler = self.directory / "handler"
        self.handler.write_text("#!/bin/sh\n(read -r line < gate; true) &\nexit 0\n")
        self.handler.chmod(0o755)
        subprocess.run(["mkfifo", str(self.directory / "gate")], check=True)
        for key in ("a", "b"):
            self.tarry("push", "q", "x", "--key", key)

    def start(self, *words):
        return subprocess.Popen([*UNSHARE, PROGRAM, *words], cwd=self.directory,
                                env=environment(TARRY_STORE=self.store), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run_and_reap(self, process, stop):
        eventually(lambda: children_of(process.pid), "it has become process 1")
        init, = children_of(process.pid)
        # One `read` is left of each of the two handlers; process 1 is now their parent.
        eventually(lambda: len(children_of(init)) == 3, "both are left behind")

        def reaped():
            """Lets the processes end that read by now. Returns whether both were reaped."""
            try:
                gate = os.open(self.directory / "gate", os.O_WRONLY | os.O_NONBLOCK)
                try:
                    os.write(gate, b"1\n2\n")
                finally:
                    os.close(gate)
            except OSError:  # no process reads yet, or none any more
                pass
            return len(children_of(init)) == 1

        eventually(reaped, "both are reaped")
        subprocess.run(["kill", f"-{stop}", str(init)], check=True)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, DONE, (out, err))
        self.assertEqual(self.asked("queue", "info", "q")["counters"]["acked"], 2)

    def test_work(self):
        self.run_and_reap(self.start("work", "q", "--", "./handler"), signal.SIGTERM)

    def test_relay(self):
        self.run_and_reap(self.start("relay", "q", "--to", "command", "--", "./handler"),
                          signal.SIGINT)

    def test_serve(self):
        config = self.directory / "tarry.toml"
        config.write_text(f'[store]\nurl = "{self.store}"\n[server]\nlisten = "127.0.0.1:0"\n'
                          '[[relay]]\nname = "r"\nqueues = ["q"]\nto = "command"\n'
                          'command = ["./handler"]\n')
        self.run_and_reap(self.start("serve", "--config", str(config)), signal.SIGTERM)

    def test_the_exit_code_is_that_of_the_work(self):
        process = self.start("relay", "q", "--to", "nowhere")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, USAGE)


if __name__ == "__main__":
    unittest.main()
