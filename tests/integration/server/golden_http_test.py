#!/usr/bin/env python3
"""Requests that clients of earlier versions sent (tests/golden/http-*) get the same answers."""

import json
import sys
import unittest

from program import SOURCE, ProgramTest, Server

sys.path.insert(0, str(SOURCE / "tests" / "golden"))

import recording  # noqa: E402  (its path is set above)

RECORDED = SOURCE / "tests" / "golden" / "http-0.1" / "recorded.json"


class Recorded(ProgramTest):
    def setUp(self):
        super().setUp()
        self.exchanges = json.loads(RECORDED.read_text(encoding="utf-8"))

    def replayed(self, exchanges):
        """What is different now."""
        with Server("memory:?shards=1", "--test-clock") as server:
            connection = server.connection()
            replay = recording.Replay(connection)
            for exchange in exchanges:
                replay.run(exchange)
            connection.close()
        return replay.differences

    def test_the_answers_are_those_of_version_0_1(self):
        """Fields may be added; none may be missing or have another value."""
        self.assertEqual(self.replayed(self.exchanges), [])

    def test_a_difference_is_found(self):
        pushed, conflict = self.exchanges[1:3]
        self.assertEqual((pushed["answer"]["status"], conflict["answer"]["status"]), (200, 409))
        pushed["answer"]["body"] |= {"due_ms": 1, "shelf": "A"}
        conflict["answer"]["status"] = 200
        found = self.replayed(self.exchanges[:3])
        self.assertEqual([line.rpartition("messages.")[2].partition(":")[0] for line in found],
                         ["body.due_ms", "body.shelf is missing", "status"])

    def test_it_is_worth_testing(self):
        """Every route of that version, and every outcome of an item."""
        outline, = [e["answer"]["body"] for e in self.exchanges
                    if e["request"]["path"] == "/v1/openapi.json"]
        self.assertGreater(len(outline["routes"]), 25)
        self.assertEqual(recording.routes_not_asked(outline["routes"], self.exchanges), [])
        text = json.dumps(self.exchanges)
        for outcome in ("pushed", "exists", "kept", "replaced", "moved", "settled", "cancelled",
                        "stopping", "unknown", "rescheduled", "in_flight", "done", "stale"):
            self.assertIn(f'"outcome": "{outcome}"', text)
        self.assertEqual({200, 400, 404, 405, 409, 501} -
                         {e["answer"]["status"] for e in self.exchanges}, set())


if __name__ == "__main__":
    unittest.main()
