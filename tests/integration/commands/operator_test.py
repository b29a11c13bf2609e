#!/usr/bin/env python3
"""Work of operators, on a file store, over HTTP and on Redis: queue set, pause, resume, purge;
dead; extend; verbs on a prefix.
"""

import json
import unittest

from program import CONFLICT, FAILED, UNKNOWN, UNREACHABLE, USAGE, ProgramTest, Server
from redis_server import RedisServer


class OnFiles(ProgramTest):
    """Each test runs once more in each class below."""

    def setUp(self):
        super().setUp()
        self.tarry("push", "another", "x", "--in", "1h")  # this makes the store

    def put(self, queue, *keys, delay="1h"):
        lines = "".join(f'{{"key":"{key}","payload":"x","delay":"{delay}"}}\n' for key in keys)
        self.tarry("push", queue, "--jsonl", "-", stdin=lines.encode())

    def test_settings(self):
        settings = self.asked("queue", "set", "q", "--lease", "2m", "--max-attempts", "5",
                              "--backoff-min", "3s", "--backoff-max", "4m", "--remember", "1h",
                              "--dead-keep", "2d", "--if-exists", "keep")
        self.assertEqual(settings, {"queue": "q", "settings": {
            "lease_ms": 120_000, "max_attempts": 5, "backoff_min_ms": 3_000,
            "backoff_max_ms": 240_000, "remember_ms": 3_600_000, "dead_keep_ms": 172_800_000,
            "if_exists": "keep"}})
        settings["settings"]["lease_ms"] = 1_000
        self.assertEqual(self.asked("queue", "set", "q", "--lease", "1s"), settings)
        self.assertEqual(self.asked("queue", "info", "q")["settings"], settings["settings"])
        out = self.tarry("queue", "set", "q", "--lease", "7m").out
        self.assertRegex(out, r"lease +7m\n")
        self.assertRegex(self.tarry("queue", "info", "q").out, r"lease +7m\n")

    def test_settings_that_are_refused(self):
        self.put("q", "k")
        before = self.asked("queue", "info", "q")["settings"]
        for flag, value, says in (("--lease", "8d", "7d"), ("--lease", "0s", "1ms"),
                                  ("--max-attempts", "0", "65535"),
                                  ("--max-attempts", "65536", "65535"),
                                  ("--backoff-min", "11m", "10m"),
                                  ("--backoff-max", "366d", "365d"),
                                  ("--remember", "366d", "365d"),
                                  ("--dead-keep", "999ms", "1s"),
                                  ("--if-exists", "kep", 'did you mean "keep"?')):
            with self.subTest(flag=flag, value=value):
                self.refused("queue", "set", "q", flag, value, says=says)
        self.refused("queue", "set", "q", says="--max-attempts")
        self.assertEqual(self.asked("queue", "info", "q")["settings"], before)

    def test_health(self):
        self.assertIs(self.asked("health")["ready"], True)
        self.assertEqual(self.tarry("health").out, "ready\n")

    def test_pause_and_resume(self):
        self.put("q", "k", delay="0s")
        self.assertEqual(self.asked("queue", "pause", "q"), {"queue": "q", "paused": True})
        self.assertEqual(self.asked("claim", "q")["messages"], [])
        self.assertRegex(self.tarry("queue", "info", "q").out, r"paused +yes\n")
        self.assertEqual(self.asked("queue", "resume", "q"), {"queue": "q", "paused": False})
        self.assertEqual(self.tarry("queue", "resume", "q").out, "queue q was not paused\n")
        paused = self.asked("queue", "pause", "q", "--until", "2100-01-31T09:00:00+01:00")
        self.assertEqual(paused["paused_until"], "2100-01-31T08:00:00.000Z")
        info = self.asked("queue", "info", "q")
        self.assertEqual(info["paused_until_ms"], paused["paused_until_ms"])
        self.assertIn("until 2100-01-31T08", self.tarry("queue", "ls").out)
        first = self.asked("queue", "pause", "q", "--for", "1h")["paused_until_ms"]
        later = self.asked("queue", "pause", "q", "--for", "2h")["paused_until_ms"]
        self.assertGreaterEqual(later - first, 3_600_000)
        self.refused("queue", "pause", "q", "--until", "2020-01-31T08:00:00Z",
                     says=("2020-01-31T08:00:00", "has passed", "nothing was done"))
        self.assertEqual(self.asked("queue", "info", "q")["paused_until_ms"], later)
        self.refused("queue", "pause", "none", "--until", "2020-01-31T08:00:00Z")
        self.tarry("queue", "info", "none", code=UNKNOWN)
        self.assertEqual(self.tarry("queue", "resume", "q").out, "queue q is resumed\n")
        self.assertEqual(len(self.asked("claim", "q", "--wait", "60s")["messages"]), 1)
        self.tarry("queue", "pause", "new")  # before its first push
        self.assertTrue(self.asked("queue", "info", "new")["paused"])
        self.refused("queue", "resume", "nobodys", code=UNKNOWN, says="nobodys")
        self.refused("queue", "pause", "q", "--for", "1h", "--until", "2100-01-31T08:00:00Z",
                     says="excludes")
        self.refused("queue", "pause", "q", "--until", "2100-01-31T08:00:00", says="offset")

    def test_purge(self):
        self.put("q", "a", "b", delay="0s")
        self.put("q", "c", "d", "e")
        claimed, = self.asked("claim", "q")["messages"]
        self.refused("queue", "purge", "q", says=("--yes", "--dry-run", '"q"'))
        counted = self.asked("queue", "purge", "q", "--dry-run")
        self.assertEqual(counted, {"queue": "q", "dry_run": True, "purged": 4})
        self.assertEqual(self.tarry("queue", "purge", "q", "--dry-run").out,
                         "queue q: 4 messages would be purged\n")
        self.assertEqual(self.asked("queue", "purge", "q", "--yes"),
                         {"queue": "q", "dry_run": False, "purged": 4})
        self.assertEqual(self.tarry("queue", "purge", "q", "--yes").out,
                         "queue q: 0 messages purged\n")
        self.tarry("ack", "q", claimed["receipt"])
        self.assertRegex(self.tarry("queue", "info", "q").out, r"4 purged, 0 moved away\n")
        self.refused("queue", "purge", "nobodys", "--yes", code=UNKNOWN, says="nobodys")

    def test_rm(self):
        self.put("r", "a", "b", delay="0s")
        self.put("r", "c")
        self.refused("queue", "rm", "r", says=("--yes", "--dry-run", '"r"'))
        self.assertEqual(self.asked("queue", "rm", "r", "--dry-run"),
                         {"queue": "r", "dry_run": True, "removed": 3})
        self.assertEqual(self.tarry("queue", "rm", "r", "--dry-run").out,
                         "queue r would be removed with 3 messages\n")
        claimed, = self.asked("claim", "r", "--wait", "60s")["messages"]
        self.refused("queue", "rm", "r", "--yes", code=CONFLICT, says=("r", "1 message leased"))
        self.assertEqual(self.asked("queue", "rm", "r", "--yes", "--force"),
                         {"queue": "r", "dry_run": False, "removed": 3})
        self.tarry("ack", "r", claimed["receipt"], code=CONFLICT)
        self.refused("queue", "info", "r", code=UNKNOWN, says="r")
        self.refused("queue", "rm", "r", "--yes", code=UNKNOWN, says="r")
        self.put("r", "a")
        self.assertEqual(self.tarry("queue", "rm", "r", "--yes").out,
                         "queue r is removed with 1 message\n")

    def bury(self, queue, *keys):
        self.put(queue, *keys, delay="0s")
        messages = self.asked("claim", queue, "--max", "100", "--wait", "60s")["messages"]
        self.assertEqual({message["key"] for message in messages}, set(keys))
        self.tarry("bury", queue, *(m["receipt"] for m in messages), "--reason", "no such order")

    def outcomes(self, answer):
        return [result.get("outcome", result.get("error", {}).get("code"))
                for result in answer["results"]]

    def test_a_mistyped_queue_is_not_an_empty_one(self):
        self.tarry("queue", "set", "empty", "--lease", "1m")
        for words in (("ls",), ("ls", "--state", "dead"), ("dead", "ls"), ("forecast",),
                      ("forecast", "--width", "1h", "--buckets", "3")):
            with self.subTest(words):
                answer = self.refused(*words, "nobodys", code=UNKNOWN,
                                      says="there is no queue nobodys")
                self.assertEqual(len(answer.err.splitlines()), 1, answer)
                answer = self.tarry(*words, "nobodys", "-o", "json", code=UNKNOWN)
                error = json.loads(answer.err.splitlines()[-1])["error"]
                self.assertEqual((answer.out, error["code"]), ("", "not_found"))
                self.tarry(*words, "empty")

    def test_the_dead(self):
        self.bury("q", "a", "b", "c", "d")
        self.put("q", "alive")
        dead = self.asked("dead", "ls", "q")["messages"]
        self.assertEqual({(m["key"], m["reason"]) for m in dead},
                         {(key, "no such order") for key in "abcd"})
        first = self.asked("dead", "ls", "q", "--limit", "3")
        self.assertTrue(first["more"])
        last = self.asked("dead", "ls", "q", "--after", first["next"])
        self.assertEqual({m["key"] for m in first["messages"] + last["messages"]}, set("abcd"))
        self.assertIn("no such order", self.tarry("dead", "ls", "q").out)
        answer = self.asked("dead", "revive", "q", "a", "nobody", "alive", code=CONFLICT)
        self.assertEqual(self.outcomes(answer), ["revived", "unknown", "conflict"])
        self.assertIn('"alive" is scheduled, not dead', answer["results"][2]["error"]["message"])
        self.tarry("dead", "revive", "q", "nobody", code=UNKNOWN)
        answer = self.asked("dead", "rm", "q", "b", "nobody", "alive", code=CONFLICT)
        self.assertEqual(self.outcomes(answer), ["cancelled", "unknown", "conflict"])
        self.assertEqual(self.asked("get", "q", "alive")["state"], "scheduled")
        self.assertEqual(self.asked("dead", "revive", "q", "--all"), {"queue": "q", "revived": 2})
        messages = self.asked("claim", "q", "--max", "9", "--wait", "60s")["messages"]
        self.assertEqual({(m["key"], m["attempt"]) for m in messages},
                         {("a", 1), ("c", 1), ("d", 1)})
        self.tarry("bury", "q", *(m["receipt"] for m in messages))
        self.refused("dead", "rm", "q", "--all", says=("--yes", '"q"'))
        self.assertEqual(self.tarry("dead", "rm", "q", "--all", "--yes").out,
                         "queue q: 3 messages removed\n")
        self.assertEqual(self.asked("dead", "ls", "q")["messages"], [])
        self.assertEqual(self.asked("get", "q", "alive")["state"], "scheduled")

    def test_the_dead_misnamed(self):
        self.make_queue("q")
        for verb in ("revive", "rm"):
            self.refused("dead", verb, "q", says="--all")
            self.refused("dead", verb, "q", "k", "--all", says="either KEYs, --all, or")
            self.refused("dead", verb, "nobodys", "--all", "--yes" if verb == "rm" else "--all",
                         code=UNKNOWN, says="nobodys")
        self.refused("dead", "ls", "q", "--limit", "0", says="1 to 1000000")

    def make_queue(self, queue):
        self.tarry("queue", "set", queue, "--lease", "30s")

    def test_extend(self):
        self.put("q", "k", delay="0s")
        claimed, = self.asked("claim", "q", "--lease", "1m")["messages"]
        self.assertLessEqual(self.asked("get", "q", "k")["lease_left_ms"], 60_000)
        answer = self.asked("extend", "q", claimed["receipt"], "--lease", "2d")
        self.assertEqual(self.outcomes(answer), ["done"])
        self.assertGreater(self.asked("get", "q", "k")["lease_left_ms"], 86_400_000)
        self.tarry("extend", "q", claimed["receipt"])  # the queue's lease: 30 s
        self.assertLessEqual(self.asked("get", "q", "k")["lease_left_ms"], 30_000)
        self.tarry("extend", "q", claimed["receipt"], "--lease", "8d", code=USAGE)
        self.tarry("ack", "q", claimed["receipt"])
        answer = self.asked("extend", "q", claimed["receipt"], code=CONFLICT)
        self.assertEqual(self.outcomes(answer), ["stale"])
        self.tarry("extend", "q", "rubbish", code=USAGE)

    def test_prefix(self):
        self.put("q", *(f"a:{i}" for i in range(1_200)), *(f"b:{i}" for i in range(5)))
        self.bury("q", "a:dead")
        self.put("q", "a:leased", delay="0s")
        self.assertEqual(len(self.asked("claim", "q", "--wait", "60s")["messages"]), 1)
        counted = self.asked("cancel", "q", "--prefix", "a:", "--dry-run")
        self.assertEqual(counted, {"queue": "q", "prefix": "a:", "dry_run": True, "matched": 1_201,
                                   "outcomes": {}})
        moved = self.asked("reschedule", "q", "--prefix", "a:", "--in", "9d", code=CONFLICT)
        self.assertEqual(moved["outcomes"], {"rescheduled": 1_200, "in_flight": 1})
        self.assertEqual(self.asked("get", "q", "a:7")["due_ms"] // 86_400_000 >
                         self.asked("get", "q", "b:1")["due_ms"] // 86_400_000, True)
        self.assertEqual(self.asked("get", "q", "a:dead")["state"], "dead")
        again = self.asked("reschedule", "q", "--prefix", "a:1", "--at",
                           str(self.asked("get", "q", "a:1")["due_ms"]))
        self.assertEqual(again["outcomes"], {})  # they have that due time already
        # A command that was interrupted after its first pages would go on like this: some messages
        # are gone already.
        self.tarry("cancel", "q", *(f"a:{i}" for i in range(300)))
        gone = self.asked("cancel", "q", "--prefix", "a:", code=CONFLICT)
        self.assertEqual(gone["outcomes"], {"cancelled": 900, "stopping": 1})
        self.assertRegex(self.tarry("cancel", "q", "--prefix", "c:").out, r"matched +0\n")
        self.assertRegex(self.tarry("cancel", "q", "--prefix", "b:", "--dry-run").out,
                         r"would match +5\n")
        self.assertEqual(self.asked("queue", "info", "q")["scheduled"], 5)
        self.assertEqual(self.asked("get", "q", "a:dead")["state"], "dead")
        self.put("r", "b:1")
        self.assertIn("it needs --yes", self.tarry("cancel", "r", "--prefix", "b", "--dry-run").err)
        self.refused("cancel", "r", "--prefix", "b", says="--yes")

    def test_a_prefix_of_which_some_are_leased(self):
        """A message in flight answers its own due time, which the others must not get."""
        self.put("q", "a:leased", "a:too", delay="1ms")
        self.put("q", "b")
        claimed = [message for _ in range(2)
                   for message in self.asked("claim", "q", "--wait", "60s",
                                             "--lease", "1h")["messages"]]
        self.assertEqual(sorted(message["key"] for message in claimed), ["a:leased", "a:too"])
        waits = ["reschedule", "q", "--prefix", "a:", "--in", "9d"]
        self.assertEqual(self.asked(*waits, code=CONFLICT)["outcomes"], {"in_flight": 2})
        self.put("q", "a:0", "a:1")
        moves = ["reschedule", "q", "--prefix", "a:", "--at", "2099-01-31T09:00:00Z"]
        for outcomes in ({"rescheduled": 2, "in_flight": 2}, {"in_flight": 2}):
            self.assertEqual(self.asked(*moves, code=CONFLICT)["outcomes"], outcomes)
            for key in ("a:0", "a:1"):
                message = self.asked("get", "q", key)
                self.assertEqual((message["state"], message["due"]),
                                 ("scheduled", "2099-01-31T09:00:00.000Z"))

    def test_a_prefix_that_matches_everything(self):
        self.put("q", "a:1", "a:2")
        for verb in (["cancel"], ["reschedule", "--in", "9d"]):
            for prefix in ("", "a:"):
                with self.subTest(verb=verb, prefix=prefix):
                    words = [verb[0], "q", "--prefix", prefix, *verb[1:]]
                    self.refused(*words, says=("--yes", '"q"', f'"{prefix}"'))
                    self.assertEqual(self.asked(*words, "--dry-run")["matched"], 2)
                    self.assertEqual(self.asked(*words, "--dry-run", "--yes")["matched"], 2)
        self.put("q", "b:1")
        self.assertEqual(self.asked("cancel", "q", "--prefix", "a:1")["outcomes"], {"cancelled": 1})
        moved = self.asked("reschedule", "q", "--prefix", "", "--in", "2d", "--yes")
        self.assertEqual(moved["outcomes"], {"rescheduled": 2})
        gone = self.asked("cancel", "q", "--prefix", "", "--yes")
        self.assertEqual(gone["outcomes"], {"cancelled": 2})

    def test_a_prefix_misused(self):
        self.make_queue("q")
        for verb in (["cancel"], ["reschedule", "--in", "9d"]):
            self.refused(verb[0], "q", "k", "--prefix", "k", *verb[1:], says="not both")
            self.refused(verb[0], "q", *verb[1:], says="--prefix")
            for flag in ("--dry-run", "--yes"):
                self.refused(verb[0], "q", "k", flag, *verb[1:], says=(flag, "--prefix"))
            self.refused(verb[0], "nobodys", "--prefix", "k", *verb[1:], code=UNKNOWN,
                         says="nobodys")
        self.refused("reschedule", "q", "--prefix", "k", says="--in")


class OverHttp(OnFiles):
    def setUp(self):
        super().setUp()
        server = Server(self.store)
        self.addCleanup(server.stop)
        self.store = server.url


class OnRedis(OnFiles):
    def setUp(self):
        super().setUp()
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        self.store = redis.url


class OfAServer(ProgramTest):
    """Health while the server runs but its store does not; then without the server."""

    def test_health(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        server = Server(redis.url)
        self.addCleanup(server.stop)
        self.assertEqual(self.asked("health", store=server.url), {"ready": True})
        redis.shoot()
        redis.bury()
        # An error contains the last two names of a path.
        told = "/".join(redis.url.split("/")[-2:])
        self.refused("health", store=server.url, code=FAILED, says=told)
        self.refused("health", store=redis.url, code=UNREACHABLE, says="Redis at")
        server.process.kill()
        server.process.wait()
        self.refused("health", store=server.url, code=UNREACHABLE, says="cannot connect to")


if __name__ == "__main__":
    unittest.main()
