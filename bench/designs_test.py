"""Each design of the comparison that can run here hands over what it was given, once and not early;
and a run that is killed leaves no server behind.

usage: designs_test.py PROGRAM
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOT_CANCELLED = ["message-ttl", "queue-ttl", "ttl-ladder", "tarry-rabbitmq"]
NOT_MOVED = [*NOT_CANCELLED, "redisson-scripts", "redisson"]
NEEDED = ["tarry-embedded", "heap", "plain-wheel", "kafka-wheel", "tarry-redis", "zset-scan",
          "lua-batch", "zset-hash", "leased-zset-hash", "redisson-scripts"]


def check(holds, what):
    if not holds:
        sys.exit(f"designs_test: {what}")


def ran(program, directory, *words):
    return subprocess.run([program, "--dir", directory, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=280, check=False)


def runnable(program, directory):
    """The designs whose servers and libraries are installed here."""
    lines = ran(program, directory, "--list").stdout.splitlines()
    names = [name for name, missing in (line.split("\t") for line in lines) if not missing]
    check(set(NEEDED) <= set(names), f"these can run: {names}")
    return names


def calm_run(program, directory):
    wanted = runnable(program, directory)
    done = ran(program, directory, "--calm", *wanted)
    check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    told = {line["id"]: line for line in map(json.loads, done.stdout.splitlines())}
    check(sorted(told) == sorted(wanted), f"designs {list(told)}")
    for name, line in told.items():
        found = line["results"]
        check(line["skipped"] == "" and line["failures"] == "", f"{line}")
        check(found["calm_pushed"] == 200, f"{name}: {found}")
        for bad in ("calm_lost", "calm_doubled", "calm_early"):
            check(found[bad] == 0, f"{name}: {found}")
        check(found["cancel"] == (name not in NOT_CANCELLED), f"{name}: {found}")
        check(found["reschedule"] == (name not in NOT_MOVED), f"{name}: {found}")
    check(not os.listdir(directory), f"files are left behind: {os.listdir(directory)}")
    return len(wanted)


def rounds(program, directory):
    """Two rounds; the second measures only figures that vary."""
    done = ran(program, directory, "--quick", "--rounds", "2", "--measure", "rates,changes", "heap",
               "plain-wheel")
    told = [(line["id"], line["round"], "push_rate" in line["results"], "cancel" in line["results"])
            for line in map(json.loads, done.stdout.splitlines())]
    check(told == [("heap", 1, True, True), ("plain-wheel", 1, True, True),
                   ("heap", 2, True, False), ("plain-wheel", 2, True, False)], f"{told}")


def users_of(directory):
    """The processes whose working directory this is; Redis is one of them."""
    users = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd").startswith(directory):
                users.append(process.name)
        except OSError:
            pass  # it has ended
    return users


def wait_until(holds, what):
    end = time.monotonic() + 60
    while not holds():
        check(time.monotonic() < end, what)
        time.sleep(0.02)


def killed(program, directory):
    with subprocess.Popen([program, "--measure", "lateness", "--dir", directory, "zset-scan"],
                          env={**os.environ, "TMPDIR": directory}, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as running:
        wait_until(lambda: users_of(directory), f"a server starts: {os.listdir(directory)}")
        running.kill()
    wait_until(lambda: not users_of(directory), "the servers of a killed run end")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        count = calm_run(program, directory)
        rounds(program, directory)
        killed(program, directory)
    unknown = subprocess.run([program, "no-such-design"], stderr=subprocess.PIPE, text=True,
                             check=False)
    check(unknown.returncode == 2 and "no-such-design" in unknown.stderr, f"unknown: {unknown}")
    print(f"{count} designs ran")


if __name__ == "__main__":
    main()
