#!/usr/bin/env python3
"""tarry why, and GET .../why: each cause, planted, is the one that is named."""

import json
import subprocess
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request

from program import (CONFLICT, PROGRAM, UNKNOWN, USAGE, ProgramTest, Server, environment,
                     eventually)


class Why(ProgramTest):
    """One server with a moved clock, and a queue for each cause."""

    def setUp(self):
        super().setUp()
        config = self.directory / "tarry.toml"
        config.write_text('[[relay]]\nname = "shop"\nqueues = ["mails"]\n'
                          'to = "http://127.0.0.1:1/nobody#allow=127.0.0.1"\n', encoding="utf-8")
        self.server = Server("memory:", "--test-clock", "--config", str(config))
        self.addCleanup(lambda: self.assertEqual(self.server.stop(), 0))
        self.store = self.server.url

    def why(self, queue, key, cause, **more):
        """The answer of the command; that of HTTP is the same."""
        told = self.asked("why", queue, key, **more)
        self.assertEqual(told["cause"], cause, told)
        over_http = self.get(queue, key=key)
        self.assertEqual((over_http["cause"], over_http["message"]["id"]),
                         (cause, told["message"]["id"]))
        self.assertEqual(told["queue"]["queue"], queue)
        self.assertNotIn("payload", told["message"])
        self.assertNotIn("payload", over_http["message"])
        return over_http["text"]

    def get(self, queue, **query):
        query = urllib.parse.urlencode(query)
        with urllib.request.urlopen(f"{self.server.url}/v1/queues/{queue}/why?{query}",
                                    timeout=60) as answer:
            return json.load(answer)

    def test_time_pause_and_consumers(self):
        self.asked("push", "q", "x", "--key", "k", "--in", "1h")
        due = self.asked("get", "q", "k")["due"]
        self.assertEqual(self.why("q", "k", "not_due"), f"It is not due before {due}.")
        self.asked("queue", "pause", "q")
        self.assertIn("The queue is paused until `tarry queue resume q`.",
                      self.why("q", "k", "not_due"))
        self.asked("clock", "advance", "1h")
        self.assertIn(f"due since {due}, but the queue is paused", self.why("q", "k", "paused"))
        self.asked("queue", "resume", "q")
        self.assertIn("no consumer is at work", self.why("q", "k", "no_consumer"))
        self.asked("push", "q", "y", "--key", "other", "--priority", "1")
        self.asked("claim", "q", "--lease", "30s")
        self.assertIn("consumers have 1 other message", self.why("q", "k", "consumers_busy"))
        self.assertIn("unless the lease is extended, it ends in 30s",
                      self.why("q", "other", "leased"))
        self.asked("cancel", "q", "other", code=CONFLICT)
        self.assertIn("was cancelled meanwhile", self.why("q", "other", "stopping"))

    def test_attempts_death_and_end(self):
        self.asked("queue", "set", "q", "--max-attempts", "2", "--remember", "1d",
                   "--backoff-min", "1m", "--backoff-max", "1m")
        self.asked("push", "q", "x", "--key", "k")
        for reason in ("timed out", "connection refused"):
            receipt = self.asked("claim", "q")["messages"][0]["receipt"]
            self.asked("retry", "q", receipt, "--reason", reason)
            if reason == "timed out":
                self.assertIn("1 of 2 attempts made; the next one is due at",
                              self.why("q", "k", "retry_not_due"))
                self.asked("clock", "advance", "2m")
        self.assertIn("It is dead, 2 of 2 attempts made: connection refused.",
                      self.why("q", "k", "dead"))
        self.asked("dead", "revive", "q", "k")
        self.asked("cancel", "q", "k")
        self.assertIn("It was cancelled at", self.why("q", "k", "ended"))

    def test_a_relay_whose_sink_is_away(self):
        self.asked("push", "mails", "x", "--key", "k")
        told = {}

        def is_down():  # now and then the relay tries again: then the message is leased
            told.update(self.get("mails", key="k"))
            return told["cause"] == "relay_down"

        eventually(is_down, "the relay's breaker opens")
        self.assertIn('the relay "shop" has opened its breaker', told["text"])

    def test_watch_follows_a_message_to_its_end(self):
        self.asked("queue", "set", "q", "--remember", "1d")
        self.asked("push", "q", "x", "--key", "k", "--in", "1h")
        watch = subprocess.Popen([PROGRAM, "why", "q", "k", "--watch", "-o", "json"],
                                 stdout=subprocess.PIPE, env=environment(TARRY_STORE=self.store))
        self.addCleanup(watch.wait)
        limit = threading.Timer(60, watch.kill)
        limit.start()
        self.addCleanup(limit.cancel)
        with watch.stdout:
            self.assertEqual(json.loads(watch.stdout.readline())["cause"], "not_due")
            self.asked("clock", "advance", "1h")
            self.assertEqual(json.loads(watch.stdout.readline())["cause"], "no_consumer")
            receipt = self.asked("claim", "q")["messages"][0]["receipt"]
            self.assertEqual(json.loads(watch.stdout.readline())["cause"], "leased")
            self.asked("ack", "q", receipt)
            self.assertEqual(json.loads(watch.stdout.readline())["cause"], "ended")
            self.assertEqual(watch.stdout.read(), b"")
        self.assertEqual(watch.wait(timeout=60), 0)

    def test_what_is_not_there(self):
        answer = self.tarry("why", "nowhere", "k", code=UNKNOWN)
        self.assertIn('no queue nowhere', answer.err)
        self.asked("queue", "set", "q", "--remember", "0s")
        answer = self.tarry("why", "q", "k", code=UNKNOWN)
        self.assertIn('knows no message "k"', answer.err)
        self.assertIn("remembers no ended messages", answer.err)
        for path in ("nowhere/why?key=k", "q/why?key=k"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{self.server.url}/v1/queues/{path}", timeout=60)
            with refused.exception as error:
                self.assertEqual(error.code, 404)
        self.tarry("why", "q", code=USAGE)
        self.tarry("why", "q", "", code=USAGE)


if __name__ == "__main__":
    unittest.main()
