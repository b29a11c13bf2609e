"""Every figure is measured and every picture drawn, on stores a few hundredths of their usual size:
whether the harness works, not how fast anything is.

usage: smoke_test.py PROGRAM
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from java_classpath import java_classpath

PLOTS = {"lifecycles-by-batch": 3, "lifecycles-by-clients": 3, "cost-by-pending": 2,
         "lateness-by-load": 3}  # lines in each
IDS = ["F1", "F2", "F3", "F3s", "F4", "F5", "F6", "F6k", "F8", "F8c", "F7", "F7m", "F9", "F10",
       "F10c", "F11", "F11m", "F11k", "F11e"]
WITH_REDISSON = ["F12"]  # where Java, Maven and Redisson's library are there
WITH_RABBITMQ = ["F16"]  # where rabbitmq-server and rabbitmq-c are installed
WITH_LIMITED_RAM = ["F17", "F17r", "F17p"]  # where control groups can be made
WITH_BEANSTALKD = ["F13", "F14", "F22", "F24", "F24r"]
WITH_NATS = ["F23"]  # where scripts/bench has built nats-server
OVER_HTTP = ["F25", "F25b", "F26", "F26s"]
SCHEDULES = ["F21", "F21l"]


def run(program, *arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=400)


def check(holds, what):
    if not holds:
        sys.exit(f"smoke_test: {what}")


def main():
    program = sys.argv[1]
    redisson = java_classpath("redisson", Path(program).resolve().parent / "redisson")
    if redisson:
        os.environ["TARRY_REDISSON_CLASSPATH"] = redisson
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "figures.jsonl"
        done = run(program, "--rounds", "1", "--scale", "0.01", "--dir", directory, "--out", out)
        check(done.returncode in (0, 1), f"exit code {done.returncode}: {done.stderr}")
        check(redisson or "F12 is left out" in done.stderr, f"no word of F12: {done.stderr}")
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        ids = [line["id"] for line in lines]
        wanted = IDS + (WITH_REDISSON if redisson else [])
        wanted += [id for id in WITH_RABBITMQ if id in ids]
        wanted += ([] if "F17 is left out" in done.stderr + done.stdout else WITH_LIMITED_RAM)
        wanted += [] if "F22 and F24 are left out" in done.stderr else WITH_BEANSTALKD
        wanted += [] if "F23 is left out" in done.stderr else WITH_NATS
        wanted += OVER_HTTP + SCHEDULES
        check(ids == wanted, f"figures {ids}")
        for line in lines:
            check(line["low"] <= line["value"] <= line["high"], f"spread of {line}")
        worse = [line["id"] for line in lines if not line["ok"]]
        check(bool(worse) == (done.returncode == 1), f"exit code {done.returncode} with {worse}")
        for figure in wanted:
            check(figure in done.stdout, f"{figure} is not in the table:\n{done.stdout}")
        check(list(Path(directory).iterdir()) == [out], "stores are left behind")
    with tempfile.TemporaryDirectory() as directory:
        drawn = run(program, "--rounds", "1", "--scale", "0.01", "--dir", directory, "--plots",
                    directory)
        check(drawn.returncode == 0, f"exit code {drawn.returncode}: {drawn.stderr}")
        files = {path.name: path.read_text() for path in Path(directory).iterdir()}
        check(sorted(files) == sorted(f"{name}.svg" for name in PLOTS), f"pictures {list(files)}")
        for name, lines in PLOTS.items():
            check(files[f"{name}.svg"].count("<polyline") == lines, f"the lines of {name}")
    unknown = run(program, "F99")
    check(unknown.returncode == 2 and "F99" in unknown.stderr, f"unknown figure: {unknown}")
    print(f"{len(wanted)} figures measured, {len(PLOTS)} pictures drawn")


if __name__ == "__main__":
    main()
