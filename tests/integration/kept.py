"""Files that tests build with public tools are kept beside the program, by a hash of all their
sources. A run in which nothing has changed builds nothing, and asks no registry.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from program import PROGRAM, SOURCE, ProgramTest

SOURCES = SOURCE / "tests/integration/generated"


def run(*command, cwd=None, timeout=550, **variables):
    """Runs the command and returns its output. A failure shows all its output."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=os.environ | variables,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


class Kept(ProgramTest):
    """A test with a folder that is kept for later runs."""

    def setUp(self):
        super().setUp()
        self.kept = Path(PROGRAM).resolve().parent / "generated"
        self.kept.mkdir(exist_ok=True)

    def made(self, name, made_from, make):
        """The folder NAME. `make` fills it, unless an earlier run made it from the same texts."""
        mark = hashlib.sha256("\0".join(made_from).encode()).hexdigest()[:16]
        folder = self.kept / f"{name}-{mark}"
        if not folder.exists():
            new = folder.with_suffix(".new")
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            make(new)
            new.rename(folder)
        return folder

    def environment(self, *requirements):
        """A Python environment with those pip requirements; returns its python."""
        def make(folder):
            run(sys.executable, "-m", "venv", folder)
            run(folder / "bin/python", "-m", "pip", "-q", "install", *requirements)

        name = "python-" + requirements[0].partition("=")[0]
        return self.made(name, [*requirements, sys.version], make) / "bin/python"
