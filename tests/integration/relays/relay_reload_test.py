#!/usr/bin/env python3
"""tarry relay --config reads its file again at SIGHUP: another number of ZSETs of a layout, another
store and other sections take effect, and no message is lost meanwhile.
"""

import json
import re
import signal
import subprocess
import unittest

from coordination_test import Member
from program import PROGRAM, ProgramTest, environment, eventually
from redis_server import RedisServer


class Running(Member):
    """A `tarry relay --config FILE`, and its log lines."""

    def __init__(self, file):
        self._read_up_to = 0
        super().__init__("relay", "--config", str(file))

    def hears(self, pattern):
        """The next line that matches, among those not looked at yet."""
        def found():
            for at in range(self._read_up_to, len(self.lines)):
                if re.search(pattern, self.lines[at]):
                    self._read_up_to = at + 1
                    return True
            return False
        with self._heard:
            if not self._heard.wait_for(found, 60):
                raise AssertionError(f"no {pattern} in {self.lines[self._read_up_to:]}")

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def stop(self):
        return {one["name"]: one for one in super().stop()["relays"]}


class RelayReload(ProgramTest):
    def setUp(self):
        super().setUp()
        self.redis = RedisServer(parent=self.directory)
        self.addCleanup(self.redis.close)
        self.redis.start()
        self.added = 0

    def layout(self, sets):
        return f"{self.redis.url}?layout=plain&zset=dq:{{0..{sets - 1}}}&queue=dq"

    def write(self, store, **keys):
        file = self.directory / "tarry.toml"
        lines = [f"{key} = {json.dumps(value)}" for key, value in
                 {"name": "dq", "queue": "dq", "to": f"{self.redis.url}?list=out", **keys}.items()]
        file.write_text("\n".join(["[store]", f'url = "{store}"', "[[relay]]", *lines, ""]))
        return file

    def start(self, file):
        relay = Running(file)
        self.addCleanup(relay.kill)
        return relay

    def add(self, zset, count=100):
        """Adds entries as a producer does that does not know tarry."""
        for _ in range(count):
            self.redis.ask("ZADD", f"dq:{zset}", 1000, f"task:{self.added}")
            self.added += 1

    def arrived(self, name="out"):
        return [json.loads(line)["key"] for line in self.redis.ask("LRANGE", name, 0, -1)]

    def all_arrive(self):
        eventually(lambda: len(self.arrived()) >= self.added, "all have arrived")
        self.assertEqual(sorted(self.arrived()), sorted(f"task:{i}" for i in range(self.added)))

    def test_more_and_fewer_sets_of_a_layout(self):
        file = self.write(self.layout(2))
        relay = self.start(file)
        self.add(0)
        self.add(1)
        self.add(2)  # no relay serves these yet
        eventually(lambda: len(self.arrived()) >= 200, "those of two sets have arrived")
        self.assertEqual(self.redis.ask("ZCARD", "dq:2"), 100)
        self.write(self.layout(3))
        relay.reload()
        relay.hears("reloaded: the relays stop, and go on as the file says")
        self.add(1)
        self.all_arrive()
        self.write(self.layout(1))
        relay.reload()
        relay.hears("reloaded: the relays stop, and go on as the file says")
        self.add(0)
        self.all_arrive()
        stats = relay.stop()
        self.assertEqual(stats["dq"]["acked"], self.added)  # of all three ZSETs
        self.assertEqual(stats["dq"]["stale"], 0)

    def test_sets_are_shared_and_a_reload_shares_them_anew(self):
        shares = {"coordination": f"{self.redis.url}?db=1", "session": "2s"}
        file = self.write(self.layout(4), **shares)
        first = self.start(file)
        first.hears("4 of 4 shards are its own; 1 relay has them")
        second = self.start(file)
        for relay in (first, second):
            relay.hears("2 of 4 shards are its own; 2 relays share them")
        for zset in range(4):
            self.add(zset)
        self.all_arrive()
        self.write(self.layout(6), **shares)
        for relay in (first, second):
            relay.reload()
        for relay in (first, second):
            relay.hears("3 of 6 shards are its own; 2 relays share them")
        for zset in range(6):
            self.add(zset)
        self.all_arrive()
        done = [relay.stop()["dq"]["acked"] for relay in (first, second)]
        self.assertEqual(sum(done), self.added)
        self.assertTrue(all(done), done)  # each of them has done something

    def test_what_is_wrong_changes_nothing(self):
        good = self.layout(2)
        file = self.write(good)
        relay = self.start(file)
        self.add(0)
        self.all_arrive()
        relay.reload()
        relay.hears("reloaded: nothing has changed")
        for store, keys, says in (
                (good, {"to": "carrier-pigeon"}, '"carrier-pigeon" names no sink'),
                (good, {"threads": 65}, "relay.threads: 65 is not from 1 to 64"),
                (good, {"max_attempts": 3}, "max_attempts 3: this store, redis plain, keeps no"),
                ("file:/no/such/store", {}, "its store cannot be opened"),
                (self.redis.url + "?layout=oak", {}, 'option layout "oak" must be native')):
            with self.subTest(says):
                self.write(store, **keys)
                relay.reload()
                relay.hears("not reloaded, everything stays as it was: .*" + re.escape(says))
        file.write_text("")
        relay.reload()
        relay.hears(r"not reloaded, .* has no \[\[relay\]\] section")
        self.add(1)
        self.all_arrive()
        self.assertEqual(relay.stop()["dq"]["acked"], self.added)

    def test_another_store(self):
        file = self.write(self.layout(1))
        relay = self.start(file)
        self.add(0)
        self.all_arrive()
        native = f"{self.redis.url}?db=2"
        self.write(native, queue="orders", name="orders")
        relay.reload()
        relay.hears("there is no queue orders yet; waiting for it")
        self.asked("push", "orders", "x", "--key", "k", store=native)
        eventually(lambda: "k" in self.arrived(), "the order has arrived")
        self.add(0, 1)
        stats = relay.stop()
        self.assertEqual({name: one["acked"] for name, one in stats.items()},
                         {"dq": self.added - 1, "orders": 1})
        self.assertEqual(self.redis.ask("ZCARD", "dq:0"), 1)

    def test_a_relay_of_flags_ends_by_a_hangup(self):
        relay = subprocess.Popen(
            [PROGRAM, "--store", self.layout(1), "relay", "dq", "--to",
             f"{self.redis.url}?list=out"], stderr=subprocess.DEVNULL, env=environment())
        self.addCleanup(relay.kill)
        self.add(0, 1)
        self.all_arrive()
        relay.send_signal(signal.SIGHUP)
        self.assertEqual(relay.wait(60), -signal.SIGHUP)


if __name__ == "__main__":
    unittest.main()
