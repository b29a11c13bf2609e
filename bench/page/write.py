#!/usr/bin/env python3
"""Runs the designs' program and writes docs/designs.md, docs/designs.zh-CN.md and their pictures.
scripts/bench designs calls it.

usage: write.py PROGRAM [--quick] [--rounds N] [--measure NAME,...] [--from FILE,...] [DESIGN...]
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1])]
from children import die_with_parent  # noqa: E402  pylint: disable=wrong-import-position
from java_classpath import (  # noqa: E402  pylint: disable=wrong-import-position
    SOURCE, java_classpath)
from machine import machine, now  # noqa: E402  pylint: disable=wrong-import-position
from pages import page, pictures  # noqa: E402  pylint: disable=wrong-import-position
from rounds import (  # noqa: E402  pylint: disable=wrong-import-position
    kept, one_line_each, rounds_of)

KEPT = SOURCE / "build" / "bench" / "designs.jsonl"
ROUNDS = 3


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


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("program")
    asked.add_argument("--quick", action="store_true", help="less of everything, one round")
    asked.add_argument("--rounds", type=int, help=f"of what varies (default {ROUNDS})")
    asked.add_argument("--measure", help="only these, and no page: rates,lateness,kills,growth,...")
    asked.add_argument("--from", dest="kept", help="writes the pages from runs that were kept")
    asked.add_argument("--keep", default=str(KEPT), help="where the run is kept")
    asked.add_argument("designs", nargs="*", metavar="DESIGN")
    words = asked.parse_intermixed_args()  # designs may follow the options
    failed = 0
    if words.kept:
        run, lines = kept(words.kept)
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
