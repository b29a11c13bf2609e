"""Files that tests build with public tools are kept beside the program, by a hash of all their
sources. A run in which nothing has changed builds nothing, and asks no registry.
"""

import ensurepip
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from program import PROGRAM, SOURCE, ProgramTest

SOURCES = SOURCE / "tests/integration/clients/generated"
TYPESCRIPT = SOURCE / "clients/typescript"
# For Java that lives for seconds: without them half of its processor time is the JIT compiler's.
JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
JAVAC = ("javac", *(f"-J{flag}" for flag in JVM))
DEBIAN_WHEELS = Path("/usr/share/python-wheels")


def run(*command, cwd=None, timeout=550, **variables):
    """Runs the command and returns its output. A failure shows all its output."""
    environment = {"MAVEN_OPTS": " ".join(JVM), **os.environ, **variables}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment,
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
        """The folder NAME. `make` fills it, unless an earlier run made it from the same texts.
        Of tests that want it at the same time, one makes it and the others wait."""
        mark = hashlib.sha256("\0".join(made_from).encode()).hexdigest()[:16]
        folder = self.kept / f"{name}-{mark}"
        with open(self.kept / f"{name}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                new = folder.with_suffix(".new")
                shutil.rmtree(new, ignore_errors=True)
                new.mkdir()
                make(new)
                new.rename(folder)
        return folder

    def node_modules(self):
        """The packages of the TypeScript client, with the compiler. Several tests use them."""
        def make(work):
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(TYPESCRIPT / name, work)
            run("npm", "ci", "--silent", "--prefer-offline", "--ignore-scripts", cwd=work)

        texts = [(TYPESCRIPT / "package-lock.json").read_text()]
        return self.made("node-modules", texts, make) / "node_modules"

    def pip(self, python, *words):
        """Runs pip for that python, which needs none of its own: to install it takes 6 s."""
        wheel, = [found for place in (Path(ensurepip.__file__).parent / "_bundled", DEBIAN_WHEELS)
                  for found in place.glob("pip-*.whl")][:1]
        folder = self.made("pip", [str(wheel)],
                           lambda new: shutil.unpack_archive(wheel, new, "zip"))
        run(sys.executable, folder / "pip", "-q", "--disable-pip-version-check", "--python", python,
            *words)

    def install(self, folder, *requirements):
        """Makes an environment. Nothing is compiled ahead: most modules are never imported."""
        run(sys.executable, "-m", "venv", "--without-pip", folder)
        self.pip(folder / "bin/python", "install", "--no-compile", *requirements)

    def environment(self, *requirements):
        """A Python environment with those pip requirements; returns its python."""
        def make(folder):
            self.install(folder, *requirements)

        name = "python-" + requirements[0].partition("=")[0]
        return self.made(name, [*requirements, sys.version], make) / "bin/python"
