#!/usr/bin/env python3
"""tarry beside the queues that people use instead, each through its own client, on servers that
this program starts. scripts/bench rivals calls it.

usage: run.py PROGRAM [--quick] [--only NAME,...] [--rounds N] [-o table|json] [--from FILE,...]

Measures of each: lives (push, claim, settle) a second one at a time and in batches, with four
producers, four consumers and at most 5,000 messages outstanding; the server's processor time for a
life; lateness of messages that are due a second later, 200 a second; memory and disk of a pending
message; and how long a killed server needs until it serves again.

The programs of the rivals are in bench/clients/rivals. A whole run is written into
docs/performance.md; a run that is --quick, or of --only some, is printed. All are kept in
build/bench/rivals.jsonl. --from FILE,... writes the page from runs that were kept.
Exit code: 1 if a measure failed, 3 if a rival could not be installed (it is named).
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / name) for name in ("clients", "page")),
                str(HERE.parent)]
import servers  # noqa: E402  pylint: disable=wrong-import-position
from entries import ENTRIES, NAMES  # noqa: E402  pylint: disable=wrong-import-position
from install import Failed, Programs  # noqa: E402  pylint: disable=wrong-import-position
from java_classpath import SOURCE  # noqa: E402  pylint: disable=wrong-import-position
from machine import machine, now  # noqa: E402  pylint: disable=wrong-import-position
from measure import FULL, QUICK, measured  # noqa: E402  pylint: disable=wrong-import-position
from rounds import kept, one_line_each  # noqa: E402  pylint: disable=wrong-import-position
from table import put_into, text  # noqa: E402  pylint: disable=wrong-import-position

PAGE = SOURCE / "docs" / "performance.md"
KEPT = SOURCE / "build" / "bench" / "rivals.jsonl"
ROUNDS = 3
FAILED, LEFT_OUT = 1, 3


def say(words):
    print(f"rivals: {words}", file=sys.stderr, flush=True)


def installed(entries, programs):
    """(what each that is there is run with, why the others are not)."""
    there, missing = {}, {}
    for entry in entries:
        say(f"{entry.name}: its client and server")
        try:
            for program in entry.server.needed:
                if not shutil.which(program):
                    raise Failed(f"{program} is not installed")
            entry.needs(programs)
            there[entry.name] = entry.program(programs)
        except Failed as error:
            missing[entry.name] = " ".join(str(error).split())[-300:]
            say(f"without {entry.name}: {missing[entry.name]}")
    return there, missing


def rounds_of(entries, there, options, effort):
    """The lines of all rounds. The rivals take turns in each."""
    parent = tempfile.mkdtemp(prefix="rivals-", dir=KEPT.parent)
    os.chmod(parent, 0o711)  # PostgreSQL does not run as root
    try:
        for number in range(1, options.rounds + 1):
            for entry in entries:
                if entry.name not in there:
                    continue
                figures, failures = measured(
                    entry, there[entry.name], parent, effort, number,
                    lambda what, at=entry.name, n=number:
                    say(f"round {n} of {options.rounds}, {at}: {what}"))
                for failure in failures:
                    say(f"{entry.name} failed: {failure}")
                yield {"id": entry.name, "round": number, "skipped": "",
                       "failures": "; ".join(failures), "results": figures}
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def made(options):
    servers.Tarry.program = options.program.resolve()
    effort = QUICK if options.quick else FULL
    entries = [entry for entry in ENTRIES if entry.name in options.only]
    run = {"quick": options.quick, **machine(), "rounds": options.rounds,
           "pending": effort.pending}
    begun = time.monotonic()
    there, missing = installed(entries, Programs(SOURCE / "build" / "bench" / "clients"))
    lines = [{"id": name, "round": 1, "skipped": why, "failures": "", "results": {}}
             for name, why in missing.items()]
    lines += rounds_of(entries, there, options, effort)
    run["ended"] = now()
    say(f"measured in {time.monotonic() - begun:.0f} s")
    KEPT.write_text("".join(json.dumps(line) + "\n" for line in [run, *lines]), encoding="utf-8")
    return run, lines


def arguments(words):
    asked = argparse.ArgumentParser(prog="scripts/bench rivals",
                                    description=__doc__.split("\n\n", maxsplit=1)[0])
    asked.add_argument("program", type=Path, help="tarry")
    asked.add_argument("--quick", action="store_true", help="less of everything, one round")
    asked.add_argument("--only", type=lambda names: names.split(","), default=NAMES,
                       metavar="NAME,...", help=f"some of {', '.join(NAMES)}")
    asked.add_argument("--rounds", type=int, help=f"default {ROUNDS}, with --quick 1")
    asked.add_argument("-o", dest="output", choices=("table", "json"), default="table")
    asked.add_argument("--from", dest="kept", metavar="FILE,...",
                       help="writes the page from runs that were kept")
    options = asked.parse_args(words)
    if unknown := [name for name in options.only if name not in NAMES]:
        asked.error(f"no rival {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if options.rounds is None:
        options.rounds = 1 if options.quick else ROUNDS
    if options.rounds < 1:
        asked.error("--rounds is at least 1")
    return options


def main():
    options = arguments(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    run, lines = kept(options.kept) if options.kept else made(options)
    lines = one_line_each(lines)
    told = text(run, lines)
    if options.output == "json":
        print(json.dumps({**run, "lines": lines}))
    else:
        print(told)
    if options.kept or (not options.quick and options.only == NAMES):
        PAGE.write_text(put_into(PAGE.read_text(encoding="utf-8"), told), encoding="utf-8")
        say(f"written: {PAGE.relative_to(SOURCE)}")
    if any(line["failures"] for line in lines):
        return FAILED
    return LEFT_OUT if any(line["skipped"] for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
