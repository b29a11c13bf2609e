#!/usr/bin/env python3
"""Runs the designs' program and writes docs/designs.md, docs/designs.zh-CN.md and their pictures.
scripts/bench designs calls it.

usage: write.py PROGRAM [--quick] [--rounds N] [--measure NAME,...] [--from FILE,...] [DESIGN...]
"""

import argparse
import ctypes
import datetime
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1])]
from java_classpath import (  # noqa: E402  pylint: disable=wrong-import-position
    KINDS, SOURCE, java_classpath)
from pages import page, pictures  # noqa: E402  pylint: disable=wrong-import-position
from rounds import one_line_each, rounds_of  # noqa: E402  pylint: disable=wrong-import-position

KEPT = SOURCE / "build" / "bench" / "designs.jsonl"
ROUNDS = 3


def version_of(*words):
    """The first line that a program prints about its version."""
    try:
        told = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return ""
    lines = (told.stdout or told.stderr).splitlines()
    return lines[0].strip() if told.returncode == 0 and lines else ""


def machine():
    """The facts of the machine on which the figures depend."""
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="ascii")
                if line.startswith("model name")), platform.machine())
    memory = int(open("/proc/meminfo", encoding="ascii").readline().split()[1]) / 2 ** 20
    packages = {}
    for package in ("redis-server", "rabbitmq-server", "beanstalkd", "libsqlite3-0"):
        told = version_of("dpkg-query", "-W", "-f", "${Version}\n", package)
        if told:
            packages[package] = told
    if servers := sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        packages["PostgreSQL"] = version_of(str(servers[-1]), "--version").split(") ")[-1]
    if '"' in (java := version_of("java", "-version")):
        packages["Java"] = java.split('"')[1]
    pom = (SOURCE / KINDS["redisson"][0]).read_text("utf-8")
    packages["Redisson"] = re.search("<redisson.version>(.*)<", pom).group(1)
    return {"date": now(), "cpu": cpu, "cores": os.cpu_count(), "memory": f"{memory:.0f} GiB",
            "kernel": platform.release(), "load": f"{os.getloadavg()[0]:.1f}",
            "packages": packages}


def now():
    """The time in the form of the page."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def die_with_parent():
    """Runs in the program before it begins. If this script is killed, the program ends too, and its
    servers with it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def measured(program, options, designs):
    """Runs the program and returns its lines, which it also prints. The program's files and those
    of its servers are in two directories, which are removed however it ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    lines = []
    environment = dict(os.environ)
    if path := java_classpath("redisson"):
        environment["TARRY_REDISSON_CLASSPATH"] = path
    files = tempfile.mkdtemp(prefix="designs-", dir=KEPT.parent)
    servers = tempfile.mkdtemp(prefix="tarry-designs-")  # sockets' paths have to be short
    os.chmod(servers, 0o711)  # PostgreSQL does not run as root
    environment["TMPDIR"] = servers
    words = [program, "--dir", files, *options, *designs]
    try:
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment,
                              preexec_fn=die_with_parent) as running:
            try:
                for line in running.stdout:
                    lines.append(json.loads(line))
                    if designs:
                        print(line, end="", flush=True)
            except BaseException:
                running.kill()
                raise
    finally:
        for directory in (files, servers):
            shutil.rmtree(directory, ignore_errors=True)
    if running.returncode not in (0, 1):
        sys.exit(running.returncode)
    return lines, running.returncode


def read(files):
    """A run that was kept, with the lines of further files."""
    run, lines = None, []
    for file in files.split(","):
        first, *rest = map(json.loads, Path(file).read_text(encoding="utf-8").splitlines())
        run = {**(run or first), "ended": first["ended"]}
        lines += rest
    return run, lines


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("program")
    asked.add_argument("--quick", action="store_true", help="less of everything, one round")
    asked.add_argument("--rounds", type=int, help=f"of what varies (default {ROUNDS})")
    asked.add_argument("--measure", help="only these, and no page: rates,lateness,kills,growth,...")
    asked.add_argument("--from", dest="kept", help="writes the pages from runs that were kept")
    asked.add_argument("--keep", default=str(KEPT), help="where the run is kept")
    asked.add_argument("designs", nargs="*", metavar="DESIGN")
    words = asked.parse_args()
    failed = 0
    if words.kept:
        run, lines = read(words.kept)
    else:
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        rounds = words.rounds or (1 if words.quick else ROUNDS)
        options = ["--rounds", str(rounds), *(["--quick"] if words.quick else []),
                   *(["--measure", words.measure] if words.measure else [])]
        run = {"quick": words.quick, **machine()}
        begun = time.monotonic()
        lines, failed = measured(words.program, options, words.designs)
        run["ended"] = now()
        print(f"designs: measured in {time.monotonic() - begun:.0f} s", file=sys.stderr)
        Path(words.keep).write_text("".join(json.dumps(line) + "\n" for line in [run, *lines]),
                                    encoding="utf-8")
        if words.designs or words.measure:
            sys.exit(failed)
    designs = one_line_each(lines)
    run["rounds"], run["runs"] = rounds_of(lines), len((words.kept or "").split(","))
    for name, text in pictures(designs).items():
        (SOURCE / "docs" / "plots" / f"{name}.svg").write_text(text, encoding="utf-8")
    for language, name in (("en", "designs.md"), ("zh", "designs.zh-CN.md")):
        (SOURCE / "docs" / name).write_text(page(language, run, designs), encoding="utf-8")
        print(f"written: docs/{name}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
