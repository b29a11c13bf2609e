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
modules and Maven. Their versions are pinned here, in rivals/ and in tests/redisson/pom.xml.
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

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
CELERY = "celery[redis]==5.7.0"
MUST = {"python": 2, "go": 2, "typescript": 2, "java": 2, "batches": 5}
TICKS = os.sysconf("SC_CLK_TCK")
LIMIT = 600  # seconds that a program may take


def run(*command, cwd=None, **variables):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=os.environ | variables,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


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
        self._place = place

    def _folder(self, name):
        folder = self._place / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def python(self):
        folder = self._folder("python")
        rival = folder / "bin/python"
        if not rival.exists():
            run(sys.executable, "-m", "venv", folder)
            run(rival, "-m", "pip", "-q", "install", CELERY)
        script = HERE / "rivals/celery_worker.py"
        path = {"PYTHONPATH": str(SOURCE / "clients/python/src")}
        return (lambda port, count: run(sys.executable, HERE / "tarry/python_worker.py",
                                        f"http://127.0.0.1:{port}", count, **path),
                lambda what, port, count: run(rival, "-W", "ignore", script, what,
                                              f"redis://127.0.0.1:{port}/0", count, cwd=folder))

    def go(self):
        folder = self._folder("go")
        run("go", "build", "-o", folder / "tarry", ".", cwd=HERE / "tarry/go")
        run("go", "build", "-o", folder / "asynq", ".", cwd=HERE / "rivals/asynq")
        return (lambda port, count: run(folder / "tarry", f"http://127.0.0.1:{port}", count),
                lambda what, port, count: run(folder / "asynq", what, f"127.0.0.1:{port}", count))

    def typescript(self):
        client, rival = self._typescript()
        return (lambda port, count: run("node", HERE / "tarry/worker.mjs", client,
                                        f"http://127.0.0.1:{port}", count),
                lambda what, port, count: run("node", rival, what, port, count))

    def batches(self):
        client, rival = self._typescript()
        return (lambda port, count: run("node", HERE / "tarry/worker.mjs", client,
                                        f"http://127.0.0.1:{port}", count, "batches"),
                lambda what, port, count: run("node", rival, "batches", port, count))

    def _typescript(self):
        client = self._folder("typescript")
        shutil.copytree(SOURCE / "clients/typescript", client, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("node_modules", "dist", "build"))
        if not (client / "node_modules").exists():
            run("npm", "ci", "--silent", "--prefer-offline", "--ignore-scripts", cwd=client)
        run("npm", "run", "--silent", "build", cwd=client)
        rival = self._folder("bullmq")
        for name in ("package.json", "bullmq.mjs"):
            shutil.copy(HERE / "rivals" / name, rival)
        if not (rival / "node_modules").exists():
            run("npm", "install", "--silent", "--prefer-offline", cwd=rival)
        return client / "dist/esm/index.js", rival / "bullmq.mjs"

    def java(self):
        folder = self._folder("java")
        run(sys.executable, "-B", SOURCE / "clients/java/tests/build.py", folder / "client")
        mine = f"{folder}/client/tarry-client.jar:{folder}/classes"
        run("javac", "-cp", mine, "-d", folder / "classes", HERE / "tarry/TarryRate.java")
        theirs = run(sys.executable, "-B", SOURCE / "bench/java_classpath.py", "redisson",
                     folder / "redisson").strip()
        run("javac", "-nowarn", "-cp", theirs, "-d", folder / "classes",
            HERE / "rivals/RedissonRate.java")
        return (lambda port, count: run("java", "-cp", mine, "TarryRate",
                                        f"http://127.0.0.1:{port}", count),
                lambda what, port, count: run("java", "-cp", f"{theirs}:{folder}/classes",
                                              "RedissonRate", what, f"redis://127.0.0.1:{port}",
                                              count))


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
            rates[1].append(rate(pid, count, theirs, "work", port))
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
        ours, theirs = measured(name, getattr(languages, name)(), options)
        ratios = [one[0] / other[0] for one, other in zip(ours, theirs)]
        median = statistics.median(ratios)
        missed = missed or median < MUST[name]
        print(f"{'F15' if name == 'batches' else 'F19'} {name}: {median:.1f}x "
              f"({min(ratios):.1f} to {max(ratios):.1f}), must {MUST[name]}x; tarry {said(ours)}, "
              f"rival {said(theirs)}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
