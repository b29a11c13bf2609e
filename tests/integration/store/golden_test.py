#!/usr/bin/env python3
"""Stores that earlier programs wrote (tests/golden) have the same contents for this program."""

import json
import shutil
import sys
import unittest

from program import CONFLICT, SOURCE, UNREACHABLE, ProgramTest, Server

sys.path.insert(0, str(SOURCE / "tests" / "golden"))

import golden  # noqa: E402  (its path is set above)

START = 1577836800000  # 2020-01-01: where the test clock begins
SEVEN_DAYS = 7 * 24 * 3600 * 1000
STATES = ("scheduled", "ready", "leased", "dead", "remembered")


class GoldenStore:
    """The tests of each golden store; `self.store` is a copy of it."""

    folder = ""
    version = 0

    def setUp(self):
        super().setUp()
        source = SOURCE / "tests" / "golden" / self.folder
        shutil.copytree(source / "store", self.directory / "store")
        self.expected = json.loads((source / "expected.json").read_text(encoding="utf-8"))
        self.maxDiff = None

    def opened(self, ask):
        """Serves the store at the time at which it was closed, and calls `ask`."""
        with Server(self.store, "--test-clock") as server:
            api = golden.Api(server.port)
            api.advance(self.expected["now_ms"] - START)
            answer = ask(api)
            api.close()
            return answer

    def assert_same(self, found, expected):
        """Compares queue by queue and message by message, so that a failure names the message."""
        self.assertEqual(list(found), list(expected))
        for name, queue in expected.items():
            self.assertEqual(found[name]["info"], queue["info"])
            self.assertEqual(found[name]["messages"].keys(), queue["messages"].keys(), name)
            for number, message in queue["messages"].items():
                self.assert_told(found[name]["messages"][number], message)

    def assert_told(self, found, message):
        """Fields that earlier programs did not have may be added."""
        self.assertEqual({field: found[field] for field in found if field in message}, message)

    def files(self):
        return {path: path.read_bytes() for path in (self.directory / "store").rglob("*")
                if path.is_file() and path.name != "LOCK"}

    def messages(self):
        return [message for queue in self.expected["queues"].values()
                for message in queue["messages"].values()]

    def test_it_is_worth_testing(self):
        """The states and counters that a golden store must contain; a new one may not contain
        fewer."""
        self.assertEqual({m["state"] for m in self.messages()}, set(STATES))
        keys = {name for message in self.messages() for name in message}
        self.assertLessEqual({"key", "key_base64", "payload", "payload_base64", "stopping",
                              "reason", "settlement", "lease_left_ms"}, keys)
        infos = [queue["info"] for queue in self.expected["queues"].values()]
        self.assertTrue([i for i in infos if i["paused"] and "paused_until_ms" in i])
        self.assertTrue([i for i in infos if i["paused"] and "paused_until_ms" not in i])
        for counter in infos[0]["counters"]:
            if counter not in ("damaged", "moved_away"):  # no client can cause these
                self.assertTrue(any(i["counters"][counter] for i in infos), counter)

    def test_check_finds_it_sound_and_changes_nothing(self):
        before = self.files()
        for words in (["--deep"], []):
            answer = self.asked("store", "check", *words)
            self.assertEqual(answer["problems"], 0)
            self.assertEqual(answer["version"], self.version)
            for shard in answer["per_shard"]:
                self.assertEqual((shard["clean"], shard["torn_bytes"]), (True, 0))
                self.assertGreater(shard["segments"], 1)
            self.assertEqual(sum(shard["messages"] for shard in answer["per_shard"]),
                             sum(m["state"] != "remembered" for m in self.messages()))
        self.assertEqual(self.files(), before)

    def test_all_that_it_held_is_there(self):
        self.assert_same(self.opened(golden.state_of), self.expected["queues"])

    def test_and_again_once_this_program_has_written_to_it(self):
        def change(api):
            api.post("/v1/queues/new/messages", {"messages": [{"key": "k", "delay": "1h"}]})

        self.opened(change)
        found = self.opened(golden.state_of)
        self.assertEqual([m["key"] for m in found.pop("new")["messages"].values()], ["k"])
        self.assert_same(found, self.expected["queues"])
        self.assertEqual(self.asked("store", "check", "--deep")["problems"], 0)

    def test_receipts_of_then_end_their_claims(self):
        def settle(api):
            items = [{"receipt": receipt, "action": "ack"}
                     for receipt in self.expected["receipts"].values()]
            return [api.post("/v1/settle", {"items": items})["results"] for _ in range(2)]

        leased = {m["key"]: m["queue"] for m in self.messages() if m["state"] == "leased"}
        self.assertEqual(set(self.expected["receipts"]), set(leased))
        done, again = self.opened(settle)
        self.assertEqual({result["outcome"] for result in done}, {"done"})
        remembers = [self.expected["queues"][leased[key]]["info"]["settings"]["remember_ms"] > 0
                     for key in self.expected["receipts"]]
        self.assertEqual([result["outcome"] for result in again],
                         ["done" if remembered else "stale" for remembered in remembers])

    def test_at_the_date_of_today(self):
        """Years later, and after another boot: leases begin again, and messages that were kept for
        a time are gone."""
        with Server(self.store) as server:
            api = golden.Api(server.port)
            found = golden.state_of(api)
            api.close()
        self.assertEqual(list(found), list(self.expected["queues"]))
        for name, queue in self.expected["queues"].items():
            for figure in ("paused", "paused_until_ms", "lease_ms", "max_attempts", "if_exists",
                           "scheduled", "ready", "leased"):
                self.assertEqual(found[name]["info"].get(figure), queue["info"].get(figure),
                                 f"{name} {figure}")
            for number, message in queue["messages"].items():
                if message["state"] in ("dead", "remembered"):
                    continue
                now = found[name]["messages"][number]
                if message["state"] == "leased":
                    left = now.pop("lease_left_ms")
                    self.assertTrue(0 < left <= SEVEN_DAYS, left)
                    message = {k: v for k, v in message.items() if k != "lease_left_ms"}
                self.assert_told(now, message)
        self.assertTrue(self.asked("store", "audit")["balanced"])
        pushed = self.asked("push", "orders", "x", "--key", "old scheduled", code=CONFLICT)
        self.assertEqual(pushed["outcome"], "exists")


class JournalV1(GoldenStore, ProgramTest):
    folder = "journal-v1"
    version = 1


    def test_it_stays_one_until_it_is_upgraded(self):
        def push(key):
            def ask(api):
                path = "/v1/queues/orders"
                api.post(f"{path}/messages", {"messages": [{"key": key, "delay": "1h"}]})
                return api.ask("GET", f"{path}/message?key={key}")
            return ask

        self.assertNotIn("pushed_ms", self.opened(push("before")))
        self.assertEqual(self.asked("store", "check", "--deep")["version"], 1)
        upgraded = self.asked("store", "upgrade")
        self.assertEqual(upgraded, {"version": 2, "newest": 2, "upgraded": True})
        after = self.opened(push("after"))
        self.assertEqual(after["pushed_ms"], self.expected["now_ms"])
        found = self.opened(golden.state_of)["orders"]["messages"].values()
        self.assertEqual([m["key"] for m in found if "pushed_ms" in m], ["after"])
        checked = self.asked("store", "check", "--deep")
        self.assertEqual((checked["version"], checked["problems"]), (2, 0))
        again = self.asked("store", "upgrade")
        self.assertEqual(again, {"version": 2, "newest": 2, "upgraded": False})

    def test_all_that_it_held_is_there_after_an_upgrade(self):
        self.assertTrue(self.asked("store", "upgrade")["upgraded"])
        self.assert_same(self.opened(golden.state_of), self.expected["queues"])

    def test_nobody_may_have_it_open_while_it_is_upgraded(self):
        with Server(self.store):
            self.refused("store", "upgrade", code=UNREACHABLE, says="held by")


class JournalV2(GoldenStore, ProgramTest):
    folder = "journal-v2"
    version = 2

    def test_push_times_are_in_it(self):
        """Messages that the store's own run wrote, and messages that cleaning has copied, have push
        times."""
        pushed = {m["key"]: m.get("pushed_ms") for m in self.messages() if "key" in m}
        self.assertTrue(pushed["old scheduled"] < pushed["new scheduled"])
        for message in self.messages():
            self.assertEqual("pushed_ms" in message, message["state"] != "remembered", message)


class EveryGoldenStore(unittest.TestCase):
    def test_none_is_forgotten(self):
        golden = SOURCE / "tests" / "golden"
        tested = {test.folder for test in GoldenStore.__subclasses__()}
        folders = {path.parent.name for path in golden.glob("journal-*/make.py")}
        self.assertEqual(folders, tested)


if __name__ == "__main__":
    unittest.main()
