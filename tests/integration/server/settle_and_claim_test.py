#!/usr/bin/env python3
"""Settling and claiming in one request: one sync for both; the settlements are durable while the
claim still waits, and stay done when the client hangs up or the server is killed."""

import http.client
import json
import signal
import subprocess
import unittest

from program import PROGRAM, ProgramTest, Server, environment, eventually


class SettleAndClaim(ProgramTest):
    def setUp(self):
        super().setUp()
        self.store = f"file:{self.directory}/store?sync=always&shards=1"

    def connect(self, server):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.addCleanup(connection.close)
        return connection

    def send(self, connection, method, path, body=None):
        connection.request(method, path, body and json.dumps(body),
                           {"content-type": "application/json"})

    def ask(self, server, method, path, body=None):
        connection = self.connect(server)
        self.send(connection, method, path, body)
        answer = connection.getresponse()
        said = json.load(answer)
        self.assertEqual(answer.status, 200, said)
        return said

    def claimed(self, server, key):
        """The receipt of a message of that key."""
        self.ask(server, "POST", "/v1/queues/q/messages", {"messages": [{"key": key}]})
        message, = self.ask(server, "POST", "/v1/claim", {"queues": ["q"]})["messages"]
        self.assertEqual(message["key"], key)
        return message["receipt"]

    def syncs(self, server):
        return self.ask(server, "GET", "/v1/stats")["syncs"]

    def counts(self, server):
        queue = self.ask(server, "GET", "/v1/queues/q")
        return queue | queue["counters"]

    def begin_to_wait(self, server, receipt):
        """A claim that settles, and then waits."""
        connection = self.connect(server)
        self.send(connection, "POST", "/v1/claim", {
            "queues": ["q"], "wait": "1h", "settle": [{"receipt": receipt, "action": "ack"}]})
        eventually(lambda: self.counts(server)["waiting_claims"] == 1, "the claim waits")
        return connection

    def test_one_sync_for_both(self):
        with Server(self.store) as server:
            receipt = self.claimed(server, "first")
            for number in range(5):
                key = f"next {number}"
                self.ask(server, "POST", "/v1/queues/q/messages", {"messages": [{"key": key}]})
                before = self.syncs(server)
                answer = self.ask(server, "POST", "/v1/claim", {
                    "queues": ["q"], "settle": [{"receipt": receipt, "action": "ack"}]})
                self.assertEqual(answer["settled"], [{"outcome": "done"}])
                self.assertEqual([message["key"] for message in answer["messages"]], [key])
                self.assertEqual(self.syncs(server) - before, 1)
                receipt = answer["messages"][0]["receipt"]

    def test_a_hang_up_undoes_nothing(self):
        with Server(self.store) as server:
            waiting = self.begin_to_wait(server, self.claimed(server, "k"))
            self.assertEqual(self.counts(server)["leased"], 0)
            waiting.close()
            eventually(lambda: self.counts(server)["waiting_claims"] == 0, "the claim has gone")
            self.assertEqual(self.counts(server)["acked"], 1)

    def test_a_killed_server_has_settled(self):
        server = Server(self.store)
        self.begin_to_wait(server, self.claimed(server, "k"))
        self.assertEqual(server.stop(signal.SIGKILL), -signal.SIGKILL)
        with Server(self.store) as server:
            counts = self.counts(server)
            self.assertEqual((counts["leased"], counts["ready"], counts["acked"]), (0, 0, 1))

    def test_a_server_that_stops_tells_what_it_has_settled(self):
        with Server(self.store) as server:
            waiting = self.begin_to_wait(server, self.claimed(server, "k"))
            server.process.send_signal(signal.SIGTERM)
            answer = waiting.getresponse()
            said = json.load(answer)
            self.assertEqual(answer.status, 200, said)
            self.assertEqual((said["messages"], said["settled"]), ([], [{"outcome": "done"}]))
            self.assertEqual(said["error"]["code"], "unavailable")

    def test_a_bad_claim_settles_nothing(self):
        with Server(self.store) as server:
            receipt = self.claimed(server, "k")
            item = {"receipt": receipt, "action": "ack"}
            for wrong, says in (({"max": 0}, "max 0"), ({"settle": [item] * 10_001}, "10000")):
                connection = self.connect(server)
                self.send(connection, "POST", "/v1/claim",
                          {"queues": ["q"], "settle": [item]} | wrong)
                answer = connection.getresponse()
                self.assertIn(answer.status, (400, 413))
                self.assertIn(says, json.load(answer)["detail"])
            self.assertEqual(self.counts(server)["leased"], 1)

    def test_a_worker_settles_in_its_next_claim(self):
        with Server(self.store) as server:
            for key in range(20):
                self.ask(server, "POST", "/v1/queues/q/messages", {"messages": [{"key": str(key)}]})
            worker = subprocess.Popen([PROGRAM, "--store", server.url, "work", "q", "--", "true"],
                                      env=environment(), stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            eventually(lambda: self.counts(server)["acked"] == 20, "all are acked")
            self.assertEqual(server.answered("/v1/settle"), 0)
            worker.send_signal(signal.SIGTERM)
            self.assertEqual(worker.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
