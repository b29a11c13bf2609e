#!/usr/bin/env python3
"""tarry bench: its answer, and that it leaves nothing behind. Its speed is not tested here."""

import json
import signal
import subprocess
import unittest
import xml.etree.ElementTree

from program import (CONFLICT, FAILED, PROGRAM, USAGE, ProgramTest, Server, environment,
                     eventually)
from scrape import scrape

QUICK = ("bench", "--messages", "1000", "--clients", "2", "--each", "100ms")


class Bench(ProgramTest):
    def setUp(self):
        super().setUp()
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        self.store = self.server.url

    def counts(self):
        return json.loads(self.tarry("-o", "json", "stats", "tarry-bench").out)

    def test_the_figures(self):
        answer = json.loads(self.tarry("-o", "json", *QUICK).out)
        for verb in ("push", "claim", "settle", "lifecycles"):
            self.assertGreater(answer[f"{verb}_per_second"], 0)
        self.assertEqual(len(answer["lateness"]), 6)
        for load in answer["lateness"]:
            self.assertLessEqual(load["messages"], load["per_second"] * 0.1)
            self.assertLessEqual(load["p50_ms"], load["p99_ms"])
            self.assertLessEqual(load["p99_ms"], load["p99_9_ms"])
            self.assertLessEqual(load["p99_9_ms"], load["max_ms"])
        # Every message that it pushed was claimed and acked, and none is left.
        queue = self.counts()
        claimed = 1000 + sum(load["messages"] for load in answer["lateness"])
        self.assertEqual(queue["counters"]["acked"], claimed)
        self.assertEqual(queue["counters"]["accepted"],
                         claimed + queue["counters"]["purged"])
        self.assertEqual(queue["scheduled"] + queue["ready"] + queue["leased"], 0)

    def test_tables_and_pictures(self):
        out = self.tarry(*QUICK, "--batch", "50", "--plot", "lateness.svg").out
        for word in ("push", "claim", "settle", "P99.9", "lateness: | p50", "10ms"):
            self.assertIn(word, out)
        self.assertEqual(sum(line.endswith("/s") for line in out.splitlines()), 4, out)
        root = xml.etree.ElementTree.parse(self.directory / "lateness.svg").getroot()
        lines = root.findall("{http://www.w3.org/2000/svg}polyline")
        self.assertEqual([len(line.get("points").split()) for line in lines], [6, 6, 6])

    def test_a_plan_says_how_many_servers_without_a_store(self):
        load = ("bench", "--plan", "--rate", "50000", "--pending", "200M", "--payload", "300")
        nowhere = "file:/no/such/store"
        plan = json.loads(self.tarry("-o", "json", *load, store=nowhere).out)
        self.assertEqual((plan["engine"], plan["limit"]), ("redis-cluster", "memory"))
        self.assertGreater(plan["masters"], 1)
        self.assertLessEqual(plan["memory_busiest_bytes"], 16 << 30)
        self.assertLessEqual(plan["busy_cores"], 0.5)
        twice = json.loads(self.tarry("-o", "json", "bench", "--memory", "64GiB", *load[1:],
                                      store=nowhere).out)
        self.assertLess(twice["masters"], plan["masters"])
        sheet = self.tarry(*load, store=nowhere).out
        for words in (f"{plan['masters']}: their memory decides", "redis+cluster://HOST?shards=",
                      "times the mean", "bench/sizing.py"):
            self.assertIn(words, sheet)
        self.assertIn("file:DIRECTORY",
                      self.tarry("bench", "--engine", "file", *load[1:], store=nowhere).out)

    def test_a_plan_that_cannot_be_made_says_why(self):
        for words, says in (
                (("--plan", "--pending", "1"), "--plan needs --rate"),
                (("--plan", "--rate", "1"), "--plan needs --pending"),
                (("--plan", "--rate", "1e5", "--pending", "1"),
                 '--rate "1e5": takes a number such as 50000, 1.5k, 200M or 10G'),
                (("--plan", "--rate", "0", "--pending", "1"), "is not from 1 to 1,000,000,000"),
                (("--plan", "--rate", "1", "--pending", "2000G"),
                 '--pending "2000G": is not from 1 to 1,000,000,000,000'),
                (("--plan", "--rate", "1", "--pending", "1", "--engine", "oak"),
                 '--engine "oak": must be file, redis or redis-cluster'),
                (("--plan", "--rate", "1", "--pending", "1", "--batch", "1"),
                 "--batch 1: with --plan it is from 10 to 1000"),
                (("--plan", "--rate", "1", "--pending", "1", "--memory", "1MiB"),
                 '--memory "1MiB": is not from 1GiB to 4TiB'),
                (("--plan", "--rate", "1", "--pending", "1", "--queue", "q"),
                 "--plan measures nothing: leave out --queue"),
                (("--rate", "1"), "--rate, --pending, --engine and --memory need --plan")):
            with self.subTest(words):
                self.assertIn(says, self.tarry("bench", *words, code=USAGE).err)
        too_much = self.tarry("bench", "--plan", "--rate", "1M", "--pending", "1", "--engine",
                              "redis", code=USAGE).err
        self.assertIn("on more than 1 server; the limit is its processor", too_much)

    def test_a_queue_that_is_used_is_left_alone(self):
        self.tarry("push", "orders", "mine", "--in", "1h")
        err = self.tarry(*QUICK, "--queue", "orders", code=CONFLICT).err
        self.assertIn("holds 1 messages", err)
        self.assertEqual(self.tarry("ls", "orders").out.count("scheduled"), 1)

    def test_batches_have_the_size_that_is_asked_for(self):
        def pushes(*flags):
            """The number of push requests, and of messages in them."""
            with Server("memory:") as server:
                self.tarry("bench", "--messages", "1000", "--each", "100ms", *flags,
                           store=server.url)
                page = scrape(server)
                return (page.value("tarry_http_requests_total", route="/v1/queues/*/messages",
                                   code="200"),
                        page.value("tarry_pushes_total", queue="tarry-bench"))

        requests, messages = pushes("--batch", "1")
        self.assertEqual(requests, messages)
        requests, messages = pushes()
        self.assertLess(requests, messages)

    def test_so_many_clients_as_are_asked_for(self):
        with subprocess.Popen([PROGRAM, "--store", self.store, "bench", "--messages", "1000",
                               "--each", "1h", "--clients", "7"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment()) as process:
            def all_wait():
                page = scrape(self.server)
                name = ("tarry_waiting_claims", (("queue", "tarry-bench"),))
                waiting = page.samples.get(name, 0)
                self.assertLessEqual(waiting, 7)
                return waiting == 7

            try:
                eventually(all_wait, "each of them waits for messages of the first load")
            finally:
                process.send_signal(signal.SIGINT)

    def test_payloads_have_the_size_that_is_asked_for(self):
        with Server("memory:?max_payload=100B") as server:
            self.tarry(*QUICK, "--payload", "100", store=server.url)
            over = self.tarry(*QUICK, "--payload", "101", store=server.url, code=USAGE).err
            self.assertIn("101 bytes", over)

    def test_values(self):
        for flag, value in (("--clients", "0"), ("--batch", "10001"), ("--each", "1ms"),
                            ("--messages", "999"), ("--payload", "1048577")):
            self.assertIn(flag, self.tarry("bench", flag, value, code=USAGE).err)
        self.assertIn("cannot write no/such/file.svg",
                      self.tarry(*QUICK, "--plot", "no/such/file.svg", code=FAILED).err)

    def test_it_can_be_stopped(self):
        with subprocess.Popen([PROGRAM, "--store", self.store, "bench", "--each", "1h"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment()) as process:
            # The first load, which takes an hour, is running.
            eventually(lambda: "tarry-bench" in self.tarry("queue", "ls").out
                       and self.counts()["counters"]["acked"] > 100_000, "the first load runs")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, FAILED)
        self.assertIn(b"stopped", err)
        self.assertEqual(self.counts()["scheduled"], 0)


if __name__ == "__main__":
    unittest.main()
