"""Installs what the rivals' programs (rivals/) and tarry's clients need, from the Go
modules, below one directory. Versions are pinned here and in rivals/.
"""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
NATS_SERVER = "github.com/nats-io/nats-server/v2@v2.14.5"
LIMIT = 600  # seconds that a program may take


class Failed(Exception):
    """A program that could not be installed, or that failed."""


def run(*command, cwd=None, timeout=LIMIT, **variables):
    """Runs the command; what it prints."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=cwd, env=os.environ | variables,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"{words[0]}: {error}") from error
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


class Programs:
    """The first words of each program's command line; it is built or installed if need be."""

    def __init__(self, place):
        self._place = place

    def folder(self, name):
        folder = self._place / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def go(self, name, source=HERE / "rivals/go"):
        """The program of that name in the Go module."""
        built = self.folder("go") / name
        run("go", "build", "-o", built, f"./{name}", cwd=source)
        return [built]

    def nats_server(self):
        # scripts/bench F23 uses the same file.
        folder = self._place.parent / "nats"
        if not (folder / "nats-server").exists():
            run("go", "install", NATS_SERVER, GOBIN=str(folder))
        return [folder / "nats-server"]
