#!/usr/bin/env python3
"""Schedules over HTTP: which token may do what with whose schedule, what the audit log tells, and
what is refused; the figures of schedules in /metrics.
"""

import json
import unittest

from audit_log_test import Audited
from program import Server, eventually
from scrape import scrape
from token_files import line_of, secret

DAILY = {"when": "@daily", "queue": "shop.reports", "payload": "p"}


class Rights(Audited):
    """Schedules of two tenants, whose tokens have different scopes."""

    def setUp(self):
        super().setUp()
        self.secrets = {}
        lines = [self.all_rights()]
        for name, scopes, queues in (("admin", "read,admin", "shop.*"),
                                     ("reader", "read", "shop.*"),
                                     ("pusher", "read,push", "shop.*"),
                                     ("blind", "push", "shop.*"),
                                     ("other", "read,push,admin", "other.*")):
            self.secrets[name] = secret()
            lines.append(line_of(name, scopes, queues, self.secrets[name]))
        self.write(*lines)
        _, self.ask_it = self.serve()

    def ask(self, method, path, token, body=None):
        """The status, and the answer."""
        return self.ask_it(method, path, self.secrets.get(token, self.everything), body)

    def status(self, *words):
        return self.ask(*words)[0]

    def test_a_schedule_belongs_to_the_queue_that_gets_its_messages(self):
        report = "/v1/schedules/report"
        for token, status in (("reader", 403), ("pusher", 403), ("other", 403), ("admin", 200)):
            self.assertEqual(self.status("PUT", report, token, DAILY), status, token)
        self.assertEqual(self.status("PUT", "/v1/schedules/theirs", "other",
                                     {"when": "@daily", "queue": "other.q"}), 200)
        for token, names in (("admin", ["report"]), ("reader", ["report"]), ("other", ["theirs"]),
                             ("everything", ["report", "theirs"])):
            listed = self.ask_it.json("GET", "/v1/schedules",
                                      self.secrets.get(token, self.everything))
            self.assertEqual(sorted(each["name"] for each in listed["schedules"]), names)
        self.assertEqual(self.status("GET", "/v1/schedules", "blind"), 403)
        # (token, status of get, pause, resume, run): others cannot see it.
        for token, *statuses in (("reader", 200, 403, 403, 403), ("pusher", 200, 403, 403, 200),
                                 ("admin", 200, 200, 200, 403), ("other", 404, 404, 404, 404),
                                 ("blind", 403, 403, 403, 200)):
            got = [self.status("GET", report, token)] + [
                self.status("POST", f"{report}/{verb}", token) for verb in
                ("pause", "resume", "run")]
            self.assertEqual(got, statuses, token)
        # Neither takes over the schedule of the other.
        self.assertEqual(self.status("PUT", report, "other",
                                     {"when": "@daily", "queue": "other.q"}), 403)
        self.assertEqual(self.status("PUT", report, "admin",
                                     {"when": "@daily", "queue": "other.q"}), 403)
        self.assertEqual(self.status("DELETE", report, "other"), 404)
        self.assertEqual(self.status("DELETE", report, "reader"), 403)
        self.assertEqual(self.status("DELETE", report, "admin"), 200)
        self.assertEqual(self.status("DELETE", report, "admin"), 404)
        self.assertEqual(self.status("POST", "/v1/occurrences", "blind", {"when": "@daily"}), 200)

    def test_every_change_is_in_the_audit_log(self):
        report = "/v1/schedules/report"
        self.assertEqual(self.lines(), [])
        for method, path, token, body, line in (
                ("PUT", "", "admin", DAILY, {"act": "put_schedule", "queue": "shop.reports",
                                             "outcome": "done"}),
                ("PUT", "", "other", {"when": "@daily", "queue": "other.q"},
                 {"act": "put_schedule", "queue": "other.q", "outcome": "refused", "status": 403}),
                ("POST", "/pause", "admin", None, {"act": "pause_schedule", "outcome": "done"}),
                ("POST", "/pause", "reader", None,
                 {"act": "pause_schedule", "outcome": "refused", "status": 403}),
                ("POST", "/resume", "admin", None, {"act": "resume_schedule", "outcome": "done"}),
                ("POST", "/run", "pusher", None, {"act": "run_schedule", "outcome": "done"}),
                ("DELETE", "", "admin", None, {"act": "remove_schedule", "outcome": "done"}),
                ("DELETE", "", "admin", None,
                 {"act": "remove_schedule", "outcome": "refused", "status": 404})):
            before = len(self.lines())
            self.ask(method, report + path, token, body)
            told, = self.new_lines(before)
            for field in ("code", "reason"):
                told.pop(field, None)
            self.assertEqual(told, line | {"identity": token, "schedule": "report"})
        before = len(self.lines())
        self.ask("GET", "/v1/schedules", "admin")
        self.ask("GET", report, "admin")
        self.assertEqual(self.lines()[before:], [])
        table = self.tarry("audit-log", str(self.audit), "--act", "run_schedule", store="").out
        self.assertIn("report", table)


class Values(Audited):
    def test_refuses_in_one_line(self):
        _, ask = self.serve()
        for body, detail in (
                ({"queue": "q"}, 'lacks "when"'),
                ({"when": "0 0 30 2 *", "queue": "q"}, "such a day never comes"),
                ({"when": "every 15m", "jitter": "16m", "queue": "q"}, "is longer than"),
                ({"when": "@daily", "zone": "Mars/Base", "queue": "q"}, "Mars/Base"),
                ({"when": "@daily", "queue": "a b"}, '"a b"'),
                ({"when": "@daily", "queue": "q", "missed": "none"}, "skip"),
                ({"when": "@daily", "queue": "q", "wen": 1}, '"wen"')):
            status, answer = ask("PUT", "/v1/schedules/r", self.everything, body)
            self.assertEqual(status, 400, answer)
            self.assertIn(detail, json.loads(answer)["detail"])
        for name in ("a%40b", ".a", "%2e%2e", "x" * 129):
            status, _ = ask("PUT", f"/v1/schedules/{name}", self.everything, DAILY)
            self.assertEqual(status, 400, name)
        for query in ("limit=0", "limit=1001", "none=1"):
            self.assertEqual(ask("GET", f"/v1/schedules?{query}", self.everything)[0], 400)
        status, answer = ask("POST", "/v1/occurrences", self.everything,
                             {"when": "@daily", "count": 1001})
        self.assertEqual(status, 400)
        self.assertIn("1000", answer)

    def test_the_command_line_and_http_see_the_same(self):
        with Server("memory:", "--test-clock") as server:
            self.asked("schedule", "add", "saved", "0 9 * * *", "q", "--zone", "Europe/Berlin",
                       "--jitter", "5m", store=server.url)
            shown = self.asked("schedule", "next", "saved", "--from", "2020-01-01T12:00:00Z",
                               "--count", "2", store=server.url)["occurrences"]
            self.assertEqual([each["local"] for each in shown],
                             ["2020-01-02T09:00:00+01:00", "2020-01-03T09:00:00+01:00"])
            self.assertGreater(shown[0]["due_ms"], shown[0]["time_ms"])
            self.refused("schedule", "next", "saved", "--zone", "UTC", store=server.url,
                         says='need an expression, and "saved" is a schedule\'s name')
            self.refused("schedule", "next", "none", store=server.url, code=3,
                         says='no schedule "none"')
            self.tarry("clock", "advance", "1d", store=server.url)

            def pushed():
                return scrape(server).samples.get(("tarry_schedule_pushed_total", ()), 0) >= 1
            eventually(pushed, "an occurrence is counted")
            page = scrape(server).samples
            self.assertEqual(page["tarry_schedule_up", ()], 1)
            self.assertEqual(page["tarry_schedule_failed_total", ()], 0)


if __name__ == "__main__":
    unittest.main()
