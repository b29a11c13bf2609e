#!/usr/bin/env python3
"""/metrics: the names are those of the reference, and the figures show what was done."""

import http.client
import json
import re
import time
import unittest
import urllib.request
from pathlib import Path

from program import SOURCE, ProgramTest, Server, eventually
from redis_server import RedisServer
from scrape import scrape


def reference(but):
    """The table of docs/reference/metrics.md, without names that begin with `but`."""
    rows = {}
    for line in Path(SOURCE, "docs/reference/metrics.md").read_text().splitlines():
        found = re.match(r"^\| `(tarry_\w+)` \| (\w+) \|([\w, ]*)\| (.*) \|$", line)
        if found and not found[1].startswith(but):
            labels = {label.strip() for label in found[3].split(",") if label.strip()}
            rows[found[1]] = (found[2], labels, found[4])
    return rows


class Metrics(ProgramTest):

    def test_the_reference_lists_all_and_the_figures_are_right(self):
        with Server(self.store) as server:
            remote = {"store": server.url}
            self.asked("queue", "set", "orders", "--objective", "99% within 1s",
                       "--max-leased", "100", **remote)
            self.asked("queue", "set", "tenants", "--group", "key", **remote)
            self.asked("push", "tenants", "x", "--key", "{acme}1", **remote)
            for key in "abcd":
                self.asked("push", "orders", "x", "--key", key, **remote)
            self.asked("push", "orders", "x", "--key", "later", "--in", "1h", **remote)
            self.asked("cancel", "orders", "a", **remote)
            claimed = self.asked("claim", "orders", "--max", "2", **remote)["messages"]
            self.assertEqual(len(claimed), 2)
            self.asked("ack", "orders", claimed[0]["receipt"], **remote)
            self.asked("bury", "orders", claimed[1]["receipt"], **remote)
            page = scrape(server)

            self.assertEqual(page.families, reference(
                but=("tarry_redis_", "tarry_relay_", "tarry_token_")))
            self.assertEqual(page.value("tarry_pushes_total", queue="orders"), 5)
            self.assertEqual(page.value("tarry_cancels_total", queue="orders"), 1)
            self.assertEqual(page.value("tarry_claims_total", queue="orders"), 2)
            for outcome, count in (("ack", 1), ("bury", 1), ("retry", 0), ("release", 0)):
                self.assertEqual(
                    page.value("tarry_settles_total", queue="orders", outcome=outcome), count)
            for state, count in (("scheduled", 1), ("ready", 1), ("leased", 0), ("dead", 1)):
                self.assertEqual(page.value("tarry_messages", queue="orders", state=state), count)
            self.assertEqual(page.value("tarry_lateness_seconds_count", queue="orders"), 2)
            self.assertEqual(
                page.value("tarry_http_requests_total", route="/v1/claim", code="200"), 1)
            self.assertGreater(page.value("tarry_oldest_due_age_seconds", queue="orders"), 0)
            self.assertEqual(page.value("tarry_max_leased", queue="orders"), 100)
            self.assertEqual(page.value("tarry_groups_ready", queue="tenants"), 1)
            self.assertGreater(page.value("tarry_journal_syncs_total"), 0)
            # Five pushes, a cancel, a claim and two settlements were made durable and answered.
            for step in ("sync", "answer"):
                self.assertGreater(page.value("tarry_commit_seconds_count", step=step), 6)

    def test_syncs_are_those_of_the_policy(self):
        def serve(policy):
            server = Server(f"{self.store}-{policy}?sync={policy}")
            self.addCleanup(server.stop)
            # The first write is synced with every policy: it is the mark of skipped ids.
            self.asked("push", "orders", "x", store=server.url)
            return server, syncs(server)

        def syncs(server):
            return scrape(server).value("tarry_journal_syncs_total")

        def push(server, count):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            self.addCleanup(connection.close)
            for _ in range(count):
                connection.request("POST", "/v1/queues/orders/messages", '{"payload":"x"}',
                                   {"Content-Type": "application/json"})
                with connection.getresponse() as answer:
                    self.assertEqual(answer.status, 200, answer.read())
                    answer.read()

        server, before = serve("os")
        begun = time.monotonic()
        while time.monotonic() < begun + 0.3:  # longer than the interval of 100ms
            push(server, 1)
        self.assertEqual(syncs(server), before)

        server, before = serve("always")
        for pushed in (1, 2, 3):
            push(server, 1)
            self.assertEqual(syncs(server), before + pushed)

        server, before = serve("100ms")
        begun = time.monotonic()
        push(server, 1)
        eventually(lambda: syncs(server) > before, "a sync after the push")
        push(server, 300)
        synced = syncs(server) - before
        self.assertLessEqual(synced, 11 * (time.monotonic() - begun) + 2, "one in 100 ms at most")

    def test_on_redis_the_reference_lists_all_too(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        with Server(redis.url) as server:
            self.asked("queue", "set", "orders", "--objective", "99% within 1s",
                       "--max-leased", "100", store=server.url)
            self.asked("push", "orders", "x", store=server.url)
            self.asked("claim", "orders", store=server.url)
            before = scrape(server)
            self.assertEqual(before.value("tarry_max_leased", queue="orders"), 100)
            before.families.pop("tarry_groups_ready")  # Redis has no groups, so no sample
            self.assertEqual(before.families, reference(
                but=("tarry_journal_", "tarry_commit_", "tarry_groups_ready", "tarry_relay_",
                     "tarry_token_")))
            self.assertGreater(before.value("tarry_redis_connections_total"), 0)
            self.asked("push", "orders", "x", store=server.url)
            self.assertGreater(scrape(server).value("tarry_redis_round_trips_total"),
                               before.value("tarry_redis_round_trips_total"))

    def test_with_relays_the_reference_lists_theirs(self):
        file = self.directory / "tarry.toml"
        file.write_text('[[relay]]\nqueue = "orders"\nto = "command"\ncommand = ["cat"]\n')
        with Server(self.store, "--config", str(file)) as server:
            self.asked("queue", "set", "mails", "--objective", "99% within 1s",
                       "--max-leased", "100", store=server.url)
            self.asked("queue", "set", "tenants", "--group", "key", store=server.url)
            self.asked("push", "mails", "x", store=server.url)
            self.asked("claim", "mails", store=server.url)
            page = scrape(server)
            self.assertEqual(page.families, reference(but=("tarry_redis_", "tarry_token_")))
            self.assertEqual(page.value("tarry_relay_queues", relay="orders"), 1)
            # Claims of a relay are measured like those of clients.
            self.asked("push", "orders", "x", store=server.url)
            while not self.asked("queue", "info", "orders", store=server.url)["counters"]["acked"]:
                pass
            self.assertEqual(scrape(server).value("tarry_lateness_seconds_count", queue="orders"),
                             1)

    def test_ages_go_by_the_store_s_clock(self):
        with Server("memory:", "--test-clock") as server:
            self.asked("push", "orders", "x", store=server.url)
            request = urllib.request.Request(
                server.url + "/v1/clock/advance", data=b'{"by":"90s"}',
                headers={"Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=30).close()
            page = scrape(server)
            self.assertEqual(page.value("tarry_oldest_due_age_seconds", queue="orders"), 90)
            self.asked("claim", "orders", store=server.url)
            self.assertEqual(
                scrape(server).value("tarry_lateness_seconds_sum", queue="orders"), 90)

    def test_the_dashboard_asks_for_all_there_is(self):
        dashboard = json.loads(Path(SOURCE, "packaging/grafana/tarry.json").read_text())
        panels = dashboard["panels"]
        asked = [target["expr"] for panel in panels for target in panel["targets"]]
        known = reference(but="none")
        names = {name: re.sub("_(bucket|sum|count)$", "", name)
                 for expression in asked for name in re.findall(r"\btarry_\w+", expression)}
        # The metric that only shows the version is for other dashboards.
        self.assertEqual(set(names.values()), set(known) - {"tarry_build_info"})
        for expression in asked:
            found = re.findall(r"\btarry_\w+", expression)
            for name, chosen in re.findall(r"\b(tarry_\w+)\{([^}]*)\}", expression):
                self.assertLessEqual(set(re.findall(r"(\w+)=", chosen)), known[names[name]][1])
            for labels in re.findall(r" by \(([^)]*)\)", expression):
                self.assertLessEqual(set(labels.split(", ")) - {"le"}, known[names[found[0]]][1])
            # Panels that show queues or relays use those chosen above the panels.
            for label in ("queue", "relay"):
                for name in found:
                    if label in known[names[name]][1]:
                        self.assertIn(f'{name}{{{label}=~"${label}"', expression)
        variables = {variable["name"] for variable in dashboard["templating"]["list"]}
        used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(dashboard))) - {"__all"}
        self.assertEqual(used, variables)
        for each in ([panel["id"] for panel in panels], [panel["title"] for panel in panels],
                     [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]):
            self.assertEqual(len(each), len(set(each)))


if __name__ == "__main__":
    unittest.main()
