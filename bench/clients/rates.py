#!/usr/bin/env python3
"""Figures F19 and F15: each client's worker against its language's usual rival, in the same run.

usage: rates.py PROGRAM [--only NAME,...] [--messages N] [--rounds N] [--dir DIRECTORY]

F19 (python, go, typescript, java): messages of 100 bytes are pushed first. Then one worker process,
with default settings and a handler that only counts, works them off: messages a second from the
first handler to the last. F15 (batches): one process pushes, claims and settles by hundreds.
tarry has a file store with default settings; the rivals have a redis-server that keeps nothing on
disk. Both take turns in each round, each on a fresh server. Prints a line for each figure: the
median of the rounds' ratios, the least and the most, and what it must be; then the rates, and the
processor time of worker and server for a message, which says more where the machine is busy (the
start of the worker is in it). Exits 1 if a figure is missed.

The first run installs the rivals below DIRECTORY (build/bench/clients) from PyPI, npm, the Go
modules and Maven (install.py).
"""

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from install import HERE, SOURCE, Failed, Programs, run

MUST = {"python": 2, "go": 2, "typescript": 2, "java": 2, "batches": 5}
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def server(*command, port):
    """A server process until the block ends."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise SystemExit(f"{command[0]} does not listen") from None
                time.sleep(0.02)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(30)


def tarry(program, place):
    port = free_port()
    return server(program, "serve", "--store", f"file:{place}/store", "--listen",
                  f"127.0.0.1:{port}", port=port)


def redis():
    port = free_port()
    return server("redis-server", "--port", port, "--save", "", "--appendonly", "no", port=port)


def spent(pid):
    """Seconds of processor time: of the server, and of all children that have ended."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (int(words[11]) + int(words[12])) / TICKS + ended.ru_utime + ended.ru_stime


def rate(pid, count, worker, *words):
    """(messages a second, processor time for a message in microseconds)."""
    before = spent(pid)
    told = re.search(r"^[\d.]+(e-\d+)?$", worker(*words, count), re.MULTILINE)
    seconds = float(told[0])
    return count / seconds, (spent(pid) - before) / count * 1e6


def fill(port, count):
    """Pushes as many messages, by thousands."""
    body = json.dumps({"messages": [{"payload": "x" * 100}] * 1000}).encode()
    for _ in range(count // 1000):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/queues/bench/messages", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()


class Languages:
    """How each client and its rival is installed: two functions that each run one side."""

    def __init__(self, place):
        self._programs = Programs(place)

    @staticmethod
    def _rival(program):
        """Runs the rival's program on the server at that port."""
        return lambda what, port, count: run(*program, f"127.0.0.1:{port}", what, count,
                                             *(["0"] if what == "fill" else []))

    def python(self):
        path = {"PYTHONPATH": str(SOURCE / "clients/python/src")}
        return (lambda port, count: run(sys.executable, HERE / "tarry/python_worker.py",
                                        f"http://127.0.0.1:{port}", count, **path),
                self._rival(self._programs.celery()))

    def go(self):
        worker = self._programs.go("worker", HERE / "tarry/go", ".")
        return (lambda port, count: run(*worker, f"http://127.0.0.1:{port}", count),
                self._rival(self._programs.go("asynq")))

    def typescript(self):
        return self._typescript()

    def batches(self):
        return self._typescript("batches")

    def _typescript(self, *how):
        client = self._programs.folder("typescript")
        shutil.copytree(SOURCE / "clients/typescript", client, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("node_modules", "dist", "build"))
        if not (client / "node_modules").exists():
            run("npm", "ci", "--silent", "--prefer-offline", "--ignore-scripts", cwd=client)
        run("npm", "run", "--silent", "build", cwd=client)
        return (lambda port, count: run("node", HERE / "tarry/worker.mjs",
                                        client / "dist/esm/index.js", f"http://127.0.0.1:{port}",
                                        count, *how),
                self._rival(self._programs.bullmq()))

    def java(self):
        folder = self._programs.folder("java")
        run(sys.executable, "-B", SOURCE / "clients/java/tests/build.py", folder / "client")
        mine = f"{folder}/client/tarry-client.jar:{folder}/classes"
        run("javac", "-cp", mine, "-d", folder / "classes", HERE / "tarry/TarryRate.java")
        return (lambda port, count: run("java", "-cp", mine, "TarryRate",
                                        f"http://127.0.0.1:{port}", count),
                self._rival(self._programs.java("RedissonRival", "redisson")))


def measured(name, sides, options):
    """(ours, the rival's): what `rate` says of each round."""
    ours, theirs = sides
    rates = ([], [])
    count = options.messages
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as place, tarry(options.program, place) as (port, pid):
            if name != "batches":
                fill(port, count)
            rates[0].append(rate(pid, count, ours, port))
        with redis() as (port, pid):
            if name != "batches":
                theirs("fill", port, count)
            what = "batches" if name == "batches" else "work"
            rates[1].append(rate(pid, count, theirs, what, port))
    return rates


def said(side):
    rates, times = zip(*side)
    return f"{statistics.median(rates):,.0f}/s and {statistics.median(times):,.0f} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--only", default=",".join(MUST))
    parser.add_argument("--messages", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dir", type=Path, default=SOURCE / "build/bench/clients")
    options = parser.parse_args()
    names = options.only.split(",")
    if set(names) - set(MUST) or options.messages < 1000 or options.messages % 1000:
        parser.error(f"--only is some of {', '.join(MUST)}; --messages is a multiple of 1000")
    languages = Languages(options.dir.resolve())
    missed = False
    for name in names:
        try:
            ours, theirs = measured(name, getattr(languages, name)(), options)
        except Failed as error:
            raise SystemExit(error) from error
        ratios = [one[0] / other[0] for one, other in zip(ours, theirs)]
        median = statistics.median(ratios)
        missed = missed or median < MUST[name]
        print(f"{'F15' if name == 'batches' else 'F19'} {name}: {median:.1f}x "
              f"({min(ratios):.1f} to {max(ratios):.1f}), must {MUST[name]}x; tarry {said(ours)}, "
              f"rival {said(theirs)}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
