"""The measures of one entry in one round. Each gives figures by their names."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from process import Failure

sys.path.append(str(Path(__file__).resolve().parents[1] / "clients"))
from install import Failed, run  # noqa: E402  pylint: disable=wrong-import-position

LATE_A_SECOND = 200
CLIENT_SECONDS = 900


@dataclass(frozen=True)
class Effort:
    """How long, and with how many messages."""

    rate_seconds: float
    late_seconds: float
    pending: int
    warm_ups: bool


FULL = Effort(5, 10, 100_000, True)
QUICK = Effort(1, 2, 5_000, False)


def driven(program, server, verb, first, second):
    """What the client's program says."""
    try:
        told = run(*program, server.address(), verb, first, second, timeout=CLIENT_SECONDS)
    except Failed as error:
        raise Failure(f"{verb}: {str(error).strip()[-600:]}") from error
    return json.loads(told.splitlines()[-1])


def rate(program, server, effort, batch):
    """Lives a second, and the server's processor time for one."""
    before = server.processor_seconds()
    told = driven(program, server, "rate", effort.rate_seconds, batch)
    spent = server.processor_seconds() - before
    name = "batch" if batch > 1 else "single"
    return {f"{name}_rate": told["lives"] / told["seconds"],
            f"{name}_cpu_us": spent / told["all"] * 1e6}


def lateness(program, server, effort):
    told = driven(program, server, "late", effort.late_seconds, LATE_A_SECOND)
    return {f"late_{name}": told[name] for name in ("p50_ms", "p99_ms", "max_ms")}


def space_and_restart(entry, program, server, effort):
    """What a pending message takes, and how long a killed server needs until it serves again."""
    # The first message makes what no other needs.
    driven(program, server, "fill", 1, entry.pending_delay)
    server.rest()
    memory, disk = server.memory_bytes(), server.disk_bytes()
    driven(program, server, "fill", effort.pending, entry.pending_delay)
    server.rest()
    found = {"memory_bytes": (server.memory_bytes() - memory) / effort.pending,
             "disk_bytes": (server.disk_bytes() - disk) / effort.pending}
    if server.forgets:
        return found
    server.kill()
    begin = time.monotonic()
    server.start()
    found["restart_s"] = time.monotonic() - begin
    found["kept"] = server.pending()
    if found["kept"] != effort.pending + 1:
        raise Failure(f"restart: {found['kept']} of {effort.pending + 1} messages are left")
    return found


def measured(entry, program, parent, effort, number, say):
    """(figures, failures) of the round with that number. What hardly varies is measured in the
    first one only."""
    found, failures = {}, []

    def take(name, work):
        say(name)
        try:
            found.update(work())
        except Failure as error:
            failures.append(f"{name}: {error}")

    def on_a_server(name, works):
        try:
            with entry.server(parent) as server:
                for what, work in works:
                    take(what, lambda one=work, at=server: one(at))
        except Failure as error:
            failures.append(f"{name}: {error}")

    if number == 1:
        on_a_server("space", [("space and restart",
                               lambda server: space_and_restart(entry, program, server, effort))])
    # A server in Java or on Erlang is slow at first. The last run's figures replace the others'.
    warm_ups = entry.warm_ups if effort.warm_ups else 0
    works = [(name, lambda server: rate(program, server, effort, 1))
             for name in (*["warm up"] * warm_ups, "one at a time")]
    if entry.batch:
        works.append(("batches", lambda server: rate(program, server, effort, entry.batch)))
    works.append(("lateness", lambda server: lateness(program, server, effort)))
    on_a_server("rates", works)
    return found, failures
