#!/usr/bin/env python3
"""tarry relay obeys its numbers, times and rates, whether a flag or a key of a [[relay]] section
sets them.
"""

import json
import os
import select
import signal
import subprocess
import time
import unittest

from program import DONE, PROGRAM, ProgramTest, Server, environment, eventually

WAITS = ("sh", "-c",
         'echo "$TARRY_KEY" > begun; read status < "go-$TARRY_KEY"; exit "$status"')


class Gated(ProgramTest):
    """The sink is a command that waits at its message's own pipe until the test lets it through."""

    def setUp(self):
        super().setUp()
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        os.mkfifo(self.directory / "begun")
        # Opened for reading and writing, so that opening never waits, and readers never see the end
        # of the pipe.
        self.announced = open(self.directory / "begun", "r+b", buffering=0)
        self.addCleanup(self.announced.close)
        self.begun = b""
        self.gates = {}

    def remote(self, *words):
        return self.asked(*words, store=self.server.url)

    def push(self, queue, *keys):
        for key in keys:
            os.mkfifo(self.directory / f"go-{key}")
            self.gates[key] = open(self.directory / f"go-{key}", "r+b", buffering=0)
            self.remote("push", queue, "x", "--key", key)

    def has_begun(self, seconds=0):
        """The keys of messages for which a command was started."""
        while select.select([self.announced], [], [], seconds)[0]:
            self.begun += self.announced.read(4096)
            seconds = 0
        return self.begun.decode().split()

    def all_begin(self, *keys):
        eventually(lambda: set(keys) <= set(self.has_begun(1)), f"{keys} have begun")

    def let(self, key, status=0):
        """Lets the command of that key end."""
        self.gates[key].write(b"%d\n" % status)

    def counters(self, queue):
        return self.remote("queue", "info", queue)["counters"]

    def acked(self, queue, count):
        eventually(lambda: self.counters(queue)["acked"] == count, f"{count} acked")

    def end(self, relay):
        """Ends the relay, whatever happened in the test, and its commands, which would wait for
        ever."""
        if relay.poll() is None:
            relay.kill()
        while self.gates:
            key, gate = self.gates.popitem()
            (self.directory / f"go-{key}").unlink()
            gate.close()
        relay.communicate()

    def run_relay(self, *words):
        relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "-o", "json", "relay", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory, env=environment())
        self.addCleanup(self.end, relay)
        return relay

    def ended(self, relay):
        out, err = relay.communicate(timeout=60)
        self.assertEqual(relay.returncode, DONE, err)
        return json.loads(out)


class Flags(Gated):
    def start(self, queue, *words):
        return self.run_relay(queue, "--to", "command", *words, "--", *WAITS)

    def test_so_many_commands_run_at_once(self):
        self.push("q", "k0", "k1", "k2", "k3")
        relay = self.start("q", "--concurrency", "3")
        self.all_begin("k0", "k1", "k2")
        self.assertNotIn("k3", self.has_begun())
        self.let("k0")
        self.all_begin("k3")
        for key in ("k1", "k2", "k3"):
            self.let(key)
        self.acked("q", 4)
        relay.terminate()
        self.ended(relay)

    def test_so_many_are_in_flight(self):
        self.push("q", *(f"k{i}" for i in range(6)))
        # Without the flag there would be commands for all six, now or soon.
        self.start("q", "--concurrency", "3", "--in-flight", "2")
        self.all_begin("k0", "k1")
        self.assertEqual(self.counters("q")["claims"], 2)
        self.let("k0")
        self.all_begin("k2")
        self.assertEqual(self.counters("q")["claims"], 3)

    def test_the_lease_is_the_relay_s_own(self):
        self.remote("queue", "set", "q", "--lease", "30s")
        self.push("q", "k0")
        self.start("q", "--lease", "1h")
        self.all_begin("k0")
        self.assertGreater(self.remote("get", "q", "k0")["lease_left_ms"], 30_000)

    def test_a_stop_waits_so_long_for_the_sink(self):
        self.push("slow", "k0")
        self.push("never", "k1")
        patient = self.start("slow", "--drain", "1h")
        self.all_begin("k0")
        patient.send_signal(signal.SIGTERM)
        # This relay is asked to stop later, but waits less long: it ends by itself, and before the
        # other.
        hasty = self.start("never", "--drain", "1ms")
        self.all_begin("k1")
        hasty.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(hasty)["acked"], 0)
        self.assertIsNone(patient.poll())
        self.let("k0")
        self.assertEqual(self.ended(patient)["acked"], 1)


class Keys(Gated):
    """The same in a [[relay]] section."""

    def start(self, *sections):
        text = f"[store]\nurl = {json.dumps(self.server.url)}\n"
        for section in sections:
            text += "[[relay]]\n" + "".join(f"{key} = {json.dumps(value)}\n"
                                            for key, value in section.items())
        (self.directory / "tarry.toml").write_text(text)
        return self.run_relay("--config", "tarry.toml")

    def test_each_says_what_its_flag_says(self):
        self.remote("queue", "set", "q", "--lease", "30s")
        self.push("q", *(f"k{i}" for i in range(6)))
        self.push("never", "k6")
        waits = {"to": "command", "command": WAITS}
        relay = self.start(
            dict(waits, queue="q", concurrency=2, in_flight=3, batch=2, max_attempts=1,
                 lease="1h", drain="1h"),
            dict(waits, queue="never", drain="1ms"))
        self.all_begin("k0", "k1", "k6")
        eventually(lambda: self.counters("q")["claims"] == 3, "as many as may be in flight")
        eventually(lambda: self.server.answered("/v1/claim") >= 3,
                   "two claims for them, one for the other queue")
        self.assertGreater(self.remote("get", "q", "k0")["lease_left_ms"], 30_000)
        self.let("k0", status=1)
        eventually(lambda: self.remote("get", "q", "k0")["state"] != "leased", "it has failed")
        found = self.remote("get", "q", "k0")
        self.assertEqual((found["state"], found["attempt"]), ("dead", 1))
        eventually(lambda: self.counters("q")["claims"] == 4, "one for that which has ended")
        relay.send_signal(signal.SIGTERM)
        eventually(lambda: self.remote("get", "never", "k6")["state"] != "leased",
                   "the one that is not waited for is given back")
        for key in ("k1", "k2", "k3"):
            self.let(key)
        acked = {one["name"]: one["acked"] for one in self.ended(relay)["relays"]}
        self.assertEqual(acked, {"q": 3, "never": 0})

    def test_no_more_than_the_rate(self):
        for i in range(6):
            self.remote("push", "q", str(i))
        begun = time.monotonic()
        relay = self.start({"queue": "q", "to": "stdout", "rate": 4})
        for _ in range(1 + 6):  # the first one is empty
            self.assertTrue(relay.stdout.readline())
        # The first message goes at once, each further one a quarter of a second later.
        self.assertGreaterEqual(time.monotonic() - begun, 1.25)


if __name__ == "__main__":
    unittest.main()
