"""Runs the blocks of a guide as its reader would, on one machine: systemctl, ssh and scp are small
scripts, and each machine of the guide is a directory.
"""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from pages import blocks, with_places
from program import PROGRAM, ProgramTest, environment

_SSH = """#!/bin/sh
cd "$GUIDE_HERE/${1#*@}" && export HOME=$PWD && exec bash -euo pipefail -c "$2"
"""
# HOST:PATH is a file of that machine's directory, or, if it is absolute, of ours.
_SCP = """#!/bin/bash
set -eu
to=${!#}
host=${to%%:*} path=${to#*:}
host=${host#*@}
case $path in /*) ;; *) path=$GUIDE_HERE/$host/$path ;; esac
exec cp "${@:1:$#-1}" "$path"
"""
_SYSTEMCTL = """#!/bin/sh
[ "$*" = "$1 tarry" ] && echo "$1" >> "$GUIDE_HERE/systemctl"
"""


class GuideTest(ProgramTest):
    """A test of one page. `shown`: texts of the page, and what stands for each here."""

    PAGE = ""

    def setUp(self):
        super().setUp()
        self.marked = {mark: text for mark, _, text in blocks(self.PAGE)}
        self.shown = {}
        self.processes = []
        self.ran = set()
        programs = self.directory / "programs"
        programs.mkdir()
        for name, text in (("ssh", _SSH), ("scp", _SCP), ("systemctl", _SYSTEMCTL)):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)

    def block(self, mark):
        """The block's text, with everything that stands for something else replaced."""
        self.ran.add(mark)
        return with_places(self.marked[mark], self.shown)

    def variables(self, home):
        path = ":".join(map(str, (self.directory / "programs", Path(PROGRAM).parent,
                                  os.environ["PATH"], "/usr/sbin")))
        return environment(PATH=path, HOME=str(home), GUIDE_HERE=str(self.directory))

    def shell(self, *texts, home=None, code=0):
        """Runs shell texts one after the other, in one shell, and returns their output. The exit
        code must be `code`, unless that is None."""
        home = home or self.directory
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(texts)],
                              capture_output=True, text=True, timeout=200, cwd=home,
                              stdin=subprocess.DEVNULL, env=self.variables(home), check=False)
        if code is not None:
            self.assertEqual(done.returncode, code,
                             f"{texts}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def start(self, *command, home=None, log=None):
        """Starts a program that runs until the test ends; returns its process. Its output goes to
        the file `log`."""
        home = home or self.directory
        with open(log or os.devnull, "ab") as out:
            process = subprocess.Popen([str(word) for word in command], cwd=home, stdout=out,
                                       stderr=out, env=self.variables(home))
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """Ends a process that was started here."""
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def reload(self, server):
        """What systemctl has noted for the server happens here, and is waited for."""
        noted = self.directory / "systemctl"
        self.assertEqual(set(noted.read_text().split()), {"reload"})
        noted.unlink()
        before = len(re.findall("reloaded", server.log()))
        server.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 60
        while len(re.findall("reloaded", server.log())) == before:
            self.assertLess(time.monotonic(), deadline, "the server reads its files again")

    def private(self, *paths):
        """No other user may read any of these files."""
        for path in paths:
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600, path)
