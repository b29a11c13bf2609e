#!/usr/bin/env python3
"""Schedules in five zones, over eight months with both changes of each zone's clock, on servers
that are killed at any moment: each occurrence is delivered once, none is missed, none is early.

With TARRY_SCHEDULE_LONG=N: three servers on one Redis, N schedules, kills in every second step.
"""

import json
import os
import random
import subprocess
import time
import unittest
import urllib.request
from collections import Counter
from datetime import datetime, timedelta, timezone

from program import PROGRAM, ProgramTest, Server, environment, eventually

UTC = timezone.utc
CLOCK_BEGINS = datetime(2020, 1, 1, tzinfo=UTC)
BEGIN, END = datetime(2020, 3, 7, tzinfo=UTC), datetime(2020, 11, 2, tzinfo=UTC)
# With the moments at which their clocks changed in 2020.
ZONES = {"Europe/Berlin": ("2020-03-29T01:00", "2020-10-25T01:00"),
         "America/New_York": ("2020-03-08T07:00", "2020-11-01T06:00"),
         "Australia/Lord_Howe": ("2020-04-04T15:00", "2020-10-03T15:30"),
         "America/Santiago": ("2020-04-05T03:00", "2020-09-06T04:00"),
         "Africa/Casablanca": ("2020-04-19T02:00", "2020-05-31T02:00")}
CHANGES = sorted(datetime.fromisoformat(text).replace(tzinfo=UTC)
                 for pair in ZONES.values() for text in pair)
LONG = int(os.environ.get("TARRY_SCHEDULE_LONG", "0"))
# The many schedules of the long test happen less often.
KINDS = ("30 2 * * *", "0 */12 * * *" if LONG else "15 * * * *", "0 0 * * SUN")
# Longer than the lease of a turn.
TURN = timedelta(seconds=11)


def redis_server(test):
    """A Redis server of the test's own; returns its URL."""
    socket = f"{test.directory}/redis.sock"
    process = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no",
         "--maxmemory-policy", "noeviction"], cwd=test.directory, stdout=subprocess.DEVNULL)
    test.addCleanup(process.wait)
    test.addCleanup(process.terminate)
    eventually(lambda: os.path.exists(socket), "Redis listens")
    return f"redis+unix://{socket}"


class Servers:
    """Servers of one store, whose clocks are moved together."""

    def __init__(self, test, store, count):
        self.store = store
        self.now = CLOCK_BEGINS
        self.servers = [self.start() for _ in range(count)]
        test.addCleanup(lambda: [server.stop() for server in self.servers])

    def start(self):
        server = Server(self.store, "--test-clock")
        self.move(server, self.now - CLOCK_BEGINS)
        return server

    @staticmethod
    def ask(server, path, body=None):
        request = urllib.request.Request(
            server.url + path, None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def move(self, server, by):
        if by:
            self.ask(server, "/v1/clock/advance", {"by_ms": int(by.total_seconds() * 1000)})

    def advance(self, by):
        self.now += by
        for server in self.servers:
            self.move(server, by)

    def kill_one(self):
        at = random.randrange(len(self.servers))
        self.servers[at].process.kill()
        self.servers[at].stop()
        self.servers[at] = self.start()

    def settle(self):
        """Waits until everything that is due has been carried out."""
        def is_settled():
            for queue in self.ask(self.servers[0], "/v1/queues")["queues"]:
                if queue["queue"] == "tarry.timers":
                    return queue["ready"] == queue["leased"] == 0
            return False
        eventually(is_settled, "the timers are carried out", seconds=300)


class KillTest(ProgramTest):
    def expected(self, schedules):
        """The keys of all occurrences, by `tarry schedule next`; integration.schedule_zones
        compares its times with Python's."""
        keys = set()
        for when, zone in set(schedules.values()):
            answer = subprocess.run(
                [PROGRAM, "schedule", "next", when, "--zone", zone, "--from", BEGIN.isoformat(),
                 "--count", "7000", "-o", "json"],
                capture_output=True, check=True, timeout=60, env=environment())
            times = [datetime.fromtimestamp(each["time_ms"] / 1000, UTC)
                     for each in json.loads(answer.stdout)["occurrences"]]
            for name, what in schedules.items():
                if what == (when, zone):
                    keys |= {f"{name}@{time:%Y-%m-%dT%H:%M:%SZ}" for time in times if time <= END}
        return keys

    def collect(self, servers, seen):
        """Claims and acks everything, by any of the servers."""
        while True:
            server = random.choice(servers.servers)
            messages = servers.ask(server, "/v1/claim",
                                   {"queues": ["reports"], "max": 5000})["messages"]
            if not messages:
                return
            servers.ask(server, "/v1/settle",
                        {"items": [{"receipt": each["receipt"], "action": "ack"}
                                   for each in messages]})
            for each in messages:
                nominal = datetime.fromisoformat(each["key"].split("@")[1].replace("Z", "+00:00"))
                self.assertLessEqual(nominal, servers.now, each["key"])
                self.assertLessEqual(each["due_ms"], servers.now.timestamp() * 1000)
                seen[each["key"]] += 1

    def steps(self):
        """How far the clock is moved each time: by hours around a change, else by days."""
        now = BEGIN
        while now < END:
            is_near = any(abs(now - change) < timedelta(hours=10) for change in CHANGES)
            if is_near:
                step = timedelta(minutes=random.randrange(20, 400))
            else:
                step = timedelta(hours=random.randrange(20, 120))
                following = [change for change in CHANGES if change - timedelta(hours=9) > now]
                if following:
                    step = min(step, following[0] - timedelta(hours=9) - now)
            step = min(step, END - now)
            now += step
            yield step

    def live(self, store, count, schedules, kills):
        """Adds the schedules, and lets the months pass."""
        seed = int(os.environ.get("TARRY_SEED") or time.time())
        random.seed(seed)
        servers = Servers(self, store, count)
        servers.advance(BEGIN - servers.now)
        queued = [{"key": name, "delay": "36000d",
                   "payload": json.dumps({"when": when, "zone": zone, "queue": "reports",
                                          "missed": "all"})}
                  for name, (when, zone) in schedules.items()]
        timers = [{"key": f"{name}@new.1"} for name in schedules]
        for queue, items in (("tarry.schedules", queued), ("tarry.timers", timers)):
            for first in range(0, len(items), 5000):
                servers.ask(servers.servers[0], f"/v1/queues/{queue}/push",
                            {"messages": items[first:first + 5000]})
        servers.settle()
        seen = Counter()
        for step in self.steps():
            servers.advance(step)
            if random.random() < kills:
                # Somewhere within a turn, sometimes.
                for _ in range(random.randrange(8)):
                    servers.ask(servers.servers[0], "/v1/queues")
                servers.kill_one()
                self.collect(servers, seen)
                servers.advance(TURN)
            servers.settle()
            self.collect(servers, seen)
        wanted = self.expected(schedules)
        late = servers.now - END
        self.assertEqual({key for key in wanted if seen[key] != 1}, set(), f"seed {seed}")
        extra = {key for key in seen if key not in wanted}
        self.assertTrue(all(key.split("@")[1] > f"{END:%Y-%m-%dT%H:%M:%SZ}" for key in extra),
                        f"seed {seed}: {late}, {sorted(extra)[:5]}")
        return len(wanted)

    def schedules(self, count):
        kinds = [(when, zone) for when in KINDS for zone in ZONES]
        return {f"s{i}": kinds[i % len(kinds)] for i in range(count)}

    @unittest.skipIf(LONG, "only the long one")
    def test_on_a_file_store(self):
        self.assertGreater(self.live(self.store, 1, self.schedules(15), 0.15), 25_000)

    @unittest.skipIf(LONG, "only the long one")
    def test_on_redis(self):
        self.assertGreater(self.live(redis_server(self), 2, self.schedules(15), 0.15), 25_000)

    @unittest.skipUnless(LONG, "TARRY_SCHEDULE_LONG=N for N schedules")
    def test_three_servers_on_redis(self):
        count = self.live(redis_server(self), 3, self.schedules(LONG), 0.5)
        print(f"{count} occurrences, each once")


if __name__ == "__main__":
    unittest.main()
