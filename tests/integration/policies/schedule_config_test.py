#!/usr/bin/env python3
"""[[schedule]] sections of the configuration: what a start and SIGHUP change in the store, and what
they leave alone; several servers on one Redis, with files of different ages.
"""

import signal
import subprocess
import unittest

from program import PROGRAM, USAGE, ProgramTest, Server, environment, eventually
from redis_server import RedisServer


def section(name, when="every 15m", queue="reports", **more):
    lines = [f'name = "{name}"', f'when = "{when}"', f'queue = "{queue}"']
    lines += [f"{key} = {value}" for key, value in more.items()]
    return "[[schedule]]\n" + "\n".join(lines) + "\n"


class ScheduleConfigTest(ProgramTest):
    def write(self, *sections, revision=None, name="tarry.toml"):
        path = self.directory / name
        head = "" if revision is None else f"[schedules]\nrevision = {revision}\n"
        path.write_text(head + "".join(sections))
        return str(path)

    def serve(self, file, store="memory:", *flags):
        self.server = self.enterContext(Server(store, "--config", file, *flags))
        self.store = self.server.url
        return self.server

    def reload(self, says="reloaded"):
        before = self.server.log().count(says)
        self.server.process.send_signal(signal.SIGHUP)
        eventually(lambda: self.server.log().count(says) > before, f"the log says {says}")

    def listed(self, *fields):
        """The schedules of the store by name; of each these fields."""
        return {each["name"]: tuple(each[field] for field in fields)
                for each in self.asked("schedule", "ls")["schedules"]}

    def test_the_file_owns_what_it_declares(self):
        file = self.write(section("a"), section(
            "b", "0 9 * * MON", zone='"Europe/Berlin"', start='"2020-01-01T00:00:00Z"',
            end='"2099-01-01T00:00:00+01:00"', jitter='"5m"', payload='"hello"',
            headers='{ kind = "daily", empty = "" }', priority=7, missed='"all"'))
        self.serve(file, "memory:", "--test-clock")
        shown = self.asked("schedule", "show", "b")
        self.assertEqual(
            {name: shown[name] for name in ("when", "zone", "start", "end", "jitter_ms", "payload",
                                            "headers", "priority", "missed", "paused")},
            {"when": "0 9 * * MON", "zone": "Europe/Berlin", "start": "2020-01-01T00:00:00.000Z",
             "end": "2098-12-31T23:00:00.000Z", "jitter_ms": 300_000, "payload": "hello",
             "headers": {"kind": "daily", "empty": ""}, "priority": 7, "missed": "all",
             "paused": False})

        self.tarry("schedule", "add", "by-hand", "every 1h", "reports")
        self.tarry("schedule", "pause", "b")
        self.tarry("schedule", "add", "a", "every 2h", "elsewhere")
        self.write(section("a"), section("b", "@daily"), section("c"))
        self.reload()
        every = {"a": ("every 15m", "reports", False), "b": ("@daily", "reports", True),
                 "by-hand": ("every 1h", "reports", False), "c": ("every 15m", "reports", False)}
        self.assertEqual(self.listed("when", "queue", "paused"), every)
        self.tarry("clock", "advance", "15m")

        def ready():
            return {each["queue"]: each["ready"] for each in self.asked("queue", "ls")["queues"]}
        # The queue is made by the first occurrence.
        eventually(lambda: ready().get("reports") == 2, "a and c happen")

        # What is the same goes on undisturbed.
        changes = self.server.log().count("schedule_configured") + \
            self.server.log().count('schedule "')
        self.reload()
        self.assertEqual(changes, self.server.log().count("schedule_configured") +
                         self.server.log().count('schedule "'))

        self.write(section("b", "@daily"))
        self.reload()
        self.assertEqual(self.listed("paused"), {"b": (True,), "by-hand": (False,)})
        self.write()  # the last section
        self.reload()
        self.assertEqual(self.listed(), {"by-hand": ()})

    def test_a_wrong_file_changes_nothing_at_a_reload(self):
        file = self.write(section("a"))
        self.serve(file)
        self.write(section("a", "every 1h"), section("b", "0 0 30 2 *"))
        self.reload("not reloaded, everything stays as it was")
        self.assertIn("such a day never comes", self.server.log())
        self.assertEqual(self.listed("when"), {"a": ("every 15m",)})

    def test_refuses_with_one_line_before_anything_listens(self):
        for sections, line in (
                ((section("r", "0 0 30 2 *"),),
                 '1: schedule: "r": cron expression "0 0 30 2 *": such a day never comes'),
                ((section("a"), section("r", "*/61 * * * *")), '5: schedule: "r": '),
                ((section("r", "@daily", zone='"Mars/Base"'),), 'no time zone "Mars/Base"'),
                ((section("r", start='"2026-01-02T00:00:00Z"', end='"2026-01-01T00:00:00Z"'),),
                 "is before the start"),
                ((section("r", start='"tomorrow"'),), "5: schedule.start: "),
                ((section("r", jitter='"16m"'),), "jitter 16m is longer than"),
                ((section("a b"),), 'schedule "a b": a name is 1 to 128'),
                ((section("r", queue="a b"),), '"a b"'),
                ((section("r", missed='"none"'),), '5: schedule.missed: "none" is none of skip'),
                ((section("r", priority=-1),), "schedule.priority: -1 is not from 0"),
                ((section("r", headers='{ a = 1 }'),), "schedule.headers.a must be a text"),
                ((section("r", paused="true"),), '5: unknown key "paused" in [schedule]'),
                ((section("r"), section("r")),
                 '6: schedule.name: "r" is the name of the schedule in line 1 already'),
                (('[[schedule]]\nname = "r"\nqueue = "q"\n',),
                 '1: schedule.when: is missing in schedule "r"'),
                (('[[schedule]]\nwhen = "@daily"\nqueue = "q"\n',),
                 "1: schedule.name: is missing in schedule number 1"),
                (tuple(section(f"s{i}") for i in range(1001)), "at most 1000 schedules")):
            with self.subTest(line):
                file = self.write(*sections)
                for command in (("serve", "--store", "memory:"), ("config", "check")):
                    done = subprocess.run([PROGRAM, *command, "--config", file], timeout=60,
                                          capture_output=True, text=True, env=environment(),
                                          check=False)
                    self.assertEqual((done.returncode, done.stdout), (USAGE, ""), done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                    self.assertIn(line, done.stderr)
        self.assertIn('"x" ', self.refused("serve", "--schedules-revision", "x", code=USAGE).err)

    def test_config_check_shows_them(self):
        file = self.write(section("a", "@daily"), revision=3)
        shown = self.asked("config", "check", "--config", file, store="")
        self.assertEqual([(each["name"], each["when"]) for each in shown["schedules"]],
                         [("a", "@daily")])
        self.assertIn("@daily", self.tarry("config", "check", "--config", file, store="").out)

    def test_servers_with_older_files_do_not_undo(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        old = self.write(section("a"), section("b"), revision=1, name="old.toml")
        new = self.write(section("a", "every 1h"), section("c"), revision=2, name="new.toml")
        none = self.write(name="none.toml")
        done = subprocess.run(
            [PROGRAM, "serve", "--config", old, "--listen", "127.0.0.1:0", "--store",
             redis.url + "?layout=plain&zset=z&queue=q"], timeout=60, capture_output=True,
            text=True, env=environment(), check=False)
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertIn("[[schedule]]: this store, redis plain, cannot keep schedules", done.stderr)
        first = self.serve(old, redis.url)
        self.serve(old, redis.url)
        self.assertNotIn('schedule "', self.server.log())  # the same file: nothing to do
        self.tarry("schedule", "pause", "a")
        self.serve(new, redis.url)
        declared = {"a": ("every 1h", True), "c": ("every 15m", False)}
        self.assertEqual(self.listed("when", "paused"), declared)
        self.server = first
        self.reload()
        self.assertIn("schedules.revision is 1, and the store has schedules of revision 2",
                      first.log())
        self.serve(old, redis.url)
        self.serve(none, redis.url)
        self.assertIn("2 schedules in the store came from a configuration file", self.server.log())
        self.assertEqual(self.listed("when", "paused"), declared)
        self.write(revision=3, name="none.toml")
        self.reload()
        self.assertEqual(self.listed(), {})
        self.serve(old, redis.url, "--schedules-revision", "4")
        self.assertEqual(self.listed("when"), {"a": ("every 15m",), "b": ("every 15m",)})

    def test_a_server_that_died_while_it_held_the_lock(self):
        """Another server waits until its lease ends, or is told why it does not begin."""
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        self.tarry("push", "tarry.config", "--key", "lock", store=redis.url)
        self.asked("claim", "tarry.config", "--lease", "1s", store=redis.url)
        self.serve(self.write(section("a")), redis.url)
        self.assertEqual(self.listed(), {"a": ()})


if __name__ == "__main__":
    unittest.main()
