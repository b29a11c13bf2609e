"""Installs what the rivals' programs (rivals/) and tarry's clients need, from PyPI, npm, the Go
modules and Maven, below one directory. Versions are pinned here, in rivals/ and in tests/*/pom.xml.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
CELERY = "celery[redis]==5.7.0"
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

    def go(self, name, module=HERE / "rivals/go", package=None):
        """The program of that name: that package of the module, or the one of its name."""
        built = self.folder("go") / name
        run("go", "build", "-o", built, package or f"./{name}", cwd=module)
        return [built]

    def nats_server(self):
        # scripts/bench F23 uses the same file.
        folder = self._place.parent / "nats"
        if not (folder / "nats-server").exists():
            run("go", "install", NATS_SERVER, GOBIN=str(folder))
        return [folder / "nats-server"]

    def celery(self):
        folder = self.folder("python")
        if not (folder / "bin/celery").exists():
            run(sys.executable, "-m", "venv", folder)
            run(folder / "bin/python", "-m", "pip", "-q", "install", CELERY)
        return [folder / "bin/python", "-W", "ignore", HERE / "rivals/celery_worker.py"]

    def bullmq(self):
        folder = self.folder("bullmq")
        for name in ("package.json", "bullmq.mjs"):
            shutil.copy(HERE / "rivals" / name, folder)
        if not (folder / "node_modules/bullmq").exists():
            run("npm", "install", "--silent", "--prefer-offline", cwd=folder)
        return ["node", folder / "bullmq.mjs"]

    def classpath(self, kind):
        """The libraries of Java that bench/java_classpath.py knows under that name."""
        return run(sys.executable, "-B", SOURCE / "bench/java_classpath.py", kind,
                   self.folder("java") / kind).strip()

    def java(self, name, kind):
        """A program of rivals/, with these libraries."""
        libraries = self.classpath(kind)
        classes = self.folder("java") / "classes"
        run("javac", "-nowarn", "-cp", libraries, "-d", classes,
            *(HERE / f"rivals/java/{one}.java" for one in ("Drive", name)))
        return ["java", "-cp", f"{libraries}:{classes}", name]
