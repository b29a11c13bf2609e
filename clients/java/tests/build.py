#!/usr/bin/env python3
"""build.py FOLDER: builds the Java client and its driver there, unless nothing has changed.

Maven makes the jar. Its dependencies come from the local repository if they are there.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
# Without them half of the processor time is the JIT compiler's.
JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


def run(*command, cwd):
    done = subprocess.run([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=280, check=False,
                          env={"MAVEN_OPTS": " ".join(JVM), **os.environ})
    return done.returncode, done.stdout + done.stderr


def must(*command, cwd):
    code, said = run(*command, cwd=cwd)
    if code != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {said}")


def sources():
    return sorted(path for kind in ("*.java", "pom.xml") for path in HERE.rglob(kind)
                  if "target" not in path.relative_to(HERE).parts)


def build(folder):
    mark = hashlib.sha256(b"\0".join(
        str(path).encode() + path.read_bytes() for path in [*sources(), Path(__file__)]))
    done = folder / "mark"
    if done.exists() and done.read_text(encoding="utf-8") == mark.hexdigest():
        return
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("target", "tests"))
    maven = ("mvn", "-q", "-B", "-DskipTests", "-pl", "tarry-client", "package",
             "dependency:copy-dependencies")
    if run(*maven, "-o", cwd=folder)[0] != 0:
        must(*maven, cwd=folder)
    jar = next(path for path in (folder / "tarry-client/target").glob("tarry-client-*.jar")
               if not path.stem.endswith(("-sources", "-javadoc")))
    shutil.copy(jar, folder / "tarry-client.jar")
    (folder / "tarry-client/target/needed").rename(folder / "needed")
    tests = sorted((folder / "tarry-client/src/test").rglob("*.java"))
    drivers = sorted((folder / "conformance").glob("*.java"))
    must("javac", *(f"-J{flag}" for flag in JVM), "--release", "11", "-Xlint:all", "-cp",
         "tarry-client.jar:needed/*", "-d", "classes", *drivers, *tests, cwd=folder)
    done.write_text(mark.hexdigest(), encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
