#!/usr/bin/env python3
"""Server and OpenAPI document agree: the test uses every route, and checks requests and answers
against the document. Every field, parameter and status of the document must have occurred.
"""

import base64
import json
import threading
import unittest

from openapi import JSON_TYPE, Client, Document
from own_redis import Redis
from program import ProgramTest, Server, eventually

NOT_UTF8 = "/w=="  # the byte 0xff
# Tested elsewhere: 503 by Away, 429 by server_test.cpp, the causes of 500 by the engines' tests.
# `default` belongs to no single operation.
STATUSES_UNMET = {"429", "500", "503", "default"}
# Answers that only a server over Redis gives; Away tests them.
REDIS_ALONE = {("getStats", "404"), ("reshardQueue", "200"), ("reshardQueue", "404"),
               ("reshardQueue", "409")}
REDIS_SCHEMAS = {"Reshard", "ReshardStep"}
UNREADABLE = {"UnreadableQueue"}  # a broken store; Away tests it
# The fields of Message, and counts of outcomes, which bulk_verbs_test.py tests.
ELSEWHERE = {"GetResult", "BulkOutcomes"}
# A server that stops gives it; settle_and_claim_test.py tests it.
AT_A_STOP = {("Claimed", "error")}


class Agreement(ProgramTest):
    """One story that uses everything."""

    def test_server_and_document_agree(self):
        token = self.directory / "token"
        token.write_text("s3cret-s3cret-s3cret\n")
        with Server(self.store, "--test-clock") as server, \
                Server("memory:", "--token-file", str(token), "--audit-log",
                       str(self.directory / "audit.jsonl")) as other:
            document = Document(Client(server, Document({"paths": {}})).raw(
                "GET", "/v1/openapi.json").json)
            self.assertEqual(document.root["openapi"], "3.1.0")
            self.client = Client(server, document)
            self.ask = self.client.ask
            self.messages()
            self.claims()
            self.by_receipt()
            self.remembered_and_dead()
            self.bytes()
            self.moves()
            self.queues()
            self.bulk()
            self.schedules()
            self.service(server)
            self.refusals()
            plain = Client(other, document)
            for name in ("advanceClock", "suspendClock", "stepClock"):
                plain.ask(name, 404, body={"by": "1s"},
                          headers={"Authorization": "Bearer s3cret-s3cret-s3cret"})
            for _, _, operation in document.operations():
                if operation.get("security") != []:
                    plain.ask(operation["operationId"], 401)
            self.people(plain)
            self.client.answered |= plain.answered
            self.client.asked |= plain.asked
            self.everything_was_met(document)

    def test_the_document_holds_together(self):
        """Every reference has a target, every part is used, every example is valid."""
        with Server("memory:") as server:
            root = Client(server, Document({"paths": {}})).raw("GET", "/v1/openapi.json").json
        document = Document(root)
        used, examples = set(), []

        def walk(node):
            if isinstance(node, list):
                for inner in node:
                    walk(inner)
            if not isinstance(node, dict):
                return
            if "$ref" in node and isinstance(node["$ref"], str):
                document.resolve(node)
                used.add(node["$ref"])
            if "schema" in node:
                given = [e["value"] for e in node.get("examples", {}).values()]
                given += [node["example"]] if "example" in node else []
                examples.extend((node["schema"], value) for value in given)
            for inner in node.values():
                walk(inner)

        walk(root)
        self.assertGreater(len(examples), 30)
        for schema, value in examples:
            self.assertEqual(document.errors(schema, value), [], value)
        parts = {f"#/components/{kind}/{name}" for kind, named in root["components"].items()
                 if kind != "securitySchemes" for name in named}
        self.assertEqual(parts - used, set())
        operations = [operation for _, _, operation in document.operations()]
        self.assertEqual(len({o["operationId"] for o in operations}), len(operations))
        self.assertEqual({tag for o in operations for tag in o["tags"]},
                         {tag["name"] for tag in root["tags"]})

    def messages(self):
        pushed = self.ask("pushMessage", body={
            "key": "a", "payload": "p", "delay": "1h", "headers": {"n": "v"}, "priority": 7,
            "if_exists": "reject", "max_attempts": 2}).json
        self.assertEqual(pushed["outcome"], "pushed")
        self.ask("pushMessage", 409, body={"key": "a"})
        results = self.ask("pushMessages", body={"messages": [
            {"key": "b", "delay_ms": 60_000}, {"key": "c", "due": "2100-01-01T00:00:00Z"},
            {"key": "d", "due_ms": 4_000_000_000_000, "spread_ms": 0},
            {"payload_base64": NOT_UTF8, "spread": "0s"},
            {"key": "e", "header_list": [{"name": "n", "value": "1"},
                                         {"name": "n", "value_base64": NOT_UTF8}]},
            {"key": "f", "delay": "99999d"}]}).json["results"]
        self.assertEqual([r.get("outcome") for r in results], ["pushed"] * 5 + [None])
        page = self.ask("listMessages", query={"state": "scheduled", "limit": 1, "prefix": ""}).json
        self.assertTrue(page["next"])
        self.ask("listMessages", query={"after": page["next"], "prefix_base64": "YQ=="})
        self.ask("listMessages", query={"whole": "true"})
        for filters, keys in (
                ({"header": "n=v"}, ["a"]), ({"header": "n=w"}, []),
                ({"due_from": "2090-01-01T00:00:00Z", "due_to": "2099-12-31T00:00:00Z"}, ["d"]),
                ({"due_from_ms": 4_000_000_000_000, "due_to_ms": 4_000_000_000_001}, ["d"]),
                ({"reason": "x*"}, []), ({"reason_base64": "Kg=="}, [])):
            shown = self.ask("listMessages", query=filters).json["messages"]
            self.assertEqual([one["key"] for one in shown], keys, filters)
        self.ask("listMessages", 400, query={"header": "n"})
        self.ask("listActs", 404)
        self.ask("getMessage", query={"key": "a"})
        self.ask("whyMessage", query={"key": "a"})
        self.ask("whyMessage", query={"key_base64": "YQ=="})
        self.ask("whyMessage", 404, query={"key": "nobody"})
        self.ask("getMessage", query={"key_base64": "YQ=="})
        self.ask("getMessage", 404, query={"key": "none"})
        self.ask("getMessages", body={"keys": ["a", "none"], "payload": False})
        self.ask("getMessages", body={"keys": [], "keys_base64": ["Yg=="]})
        self.ask("rescheduleMessages", body={"items": [
            {"key": "b", "delay": "0s", "priority": 1}, {"key_base64": "Yw==", "delay_ms": 1},
            {"key": "d", "due": "2096-10-02T07:06:40.001Z"},
            {"key": "none", "due_ms": 7_000_000_000_000}, {"key": "a", "delay": "99999d"}]})
        self.ask("cancelMessages", body={"keys": ["d", "none"]})
        self.ask("cancelMessages", body={"keys": [], "keys_base64": [NOT_UTF8, "", "a" * 1024]})
        self.ask("forecastQueue", query={"width": "1h", "buckets": 3})
        self.ask("forecastQueue", query={"width_ms": 5})
        self.ask("forecastQueue", query={"from": "2030-01-31T00:00:00Z"})
        self.ask("forecastQueue", query={"from_ms": 1_896_048_000_000})
        self.ask("forecastQueue", 400, query={"from_ms": -1})
        self.ask("forecastQueue", 400, query={"from_ms": 1, "rate": 1})
        self.ask("forecastQueue", query={"rate": 0.5, "arrivals": "none"})
        self.ask("forecastQueue", query={"rate": 1, "arrivals": 120})

    def claims(self):
        """c and the message without a key are due; so are b and e."""
        self.ask("advanceClock", body={"by": "1s"})
        claimed = self.ask("claimMessages", body={
            "queues": ["orders"], "max": 10, "max_bytes": 1000, "lease": "30s",
            "wait": "0s"}).json["messages"]
        self.assertEqual(len(claimed), 4)
        self.receipts = [m["receipt"] for m in claimed]
        self.keys = [m["key"] for m in claimed]
        self.ask("listMessages", query={"after_base64": ""})
        waited = []
        waits = threading.Thread(target=lambda: waited.append(self.ask("claimMessages", body={
            "queues": ["orders", "others"], "lease_ms": 1000, "wait_ms": 3_600_000}).json))
        waits.start()
        eventually(lambda: self.ask("getQueue").json["waiting_claims"] == 1, "a claim waits")
        self.ask("advanceClock", body={"by_ms": 3_599_000})
        waits.join()
        self.assertEqual(len(waited[0]["messages"]), 1)
        self.ask("claimMessages", body={"queues": ["orders"], "keys": ["none"], "any_state": True})
        self.ask("claimMessages", body={"queues": ["orders"], "keys": [],
                                        "keys_base64": ["bm9uZQ=="]})

    def by_receipt(self):
        """The four leases have run out, so the messages are claimed again."""
        claimed = self.ask("claimMessages", body={"queues": ["orders"], "max": 10}).json["messages"]
        self.assertGreaterEqual(len(claimed), 4)
        first, second, third, fourth = [m["receipt"] for m in claimed][:4]
        self.ask("cancelMessages", body={"keys": [claimed[0]["key"]]})
        self.ask("getMessage", query={"key": claimed[0]["key"]})
        self.ask("rescheduleMessages", body={"items": [{"key": claimed[0]["key"], "delay": "1s"}]})
        self.ask("pushMessage", 409, body={"key": claimed[0]["key"]})
        self.ask("extendLeases", body={"items": [{"receipt": first, "lease": "1m"},
                                           {"receipt": second, "lease_ms": 60_000},
                                           {"receipt": self.receipts[0]},
                                           {"receipt_base64": NOT_UTF8}]})
        results = self.ask("settleClaims", body={"items": [
            {"receipt": first, "action": "ack"},
            {"receipt": second, "action": "retry", "delay": "1s", "priority": 3},
            {"receipt": third, "action": "release"},
            {"receipt": fourth, "action": "bury", "reason": "broken"},
            {"receipt": fourth, "action": "bury", "reason_base64": "eA=="},
            {"receipt_base64": "eA==", "action": "retry", "delay_ms": 5}]}).json["results"]
        self.assertEqual([r.get("outcome") for r in results],
                         ["done", "done", "done", "done", "stale", None])
        settled, = self.ask("claimMessages", body={
            "queues": ["others"], "settle": [{"receipt": fourth, "action": "ack"}]}).json["settled"]
        self.assertEqual(settled, {"outcome": "stale"})
        self.dead = claimed[3]["key"]

    def history(self):
        self.ask("configureQueue", queue="kept", body={"history": 3, "remember": "1h"})
        self.ask("pushMessage", queue="kept", body={"key": "k"})
        claimed, = self.ask("claimMessages", body={"queues": ["kept"]}).json["messages"]
        retry = {"receipt": claimed["receipt"], "action": "retry", "delay_ms": 0,
                 "reason": "no route"}
        self.ask("settleClaims", body={"items": [retry]})
        history = self.ask("historyOfMessage", queue="kept", query={"key": "k"}).json
        self.assertEqual([one["event"] for one in history["events"]],
                         ["pushed", "claimed", "retried"])
        self.assertEqual(history["events"][2]["reason"], "no route")
        self.ask("getMessages", queue="kept", body={"keys": ["k"], "history": True})
        self.ask("historyOfMessage", queue="kept", query={"key_base64": "aw=="})
        self.ask("historyOfMessage", 404, queue="kept", query={"key": "none"})

    def remembered_and_dead(self):
        self.ask("getMessage", query={"key": self.dead})
        self.ask("configureQueue", queue="brief", body={
            "lease": "1m", "max_attempts": 1, "backoff_min": "1s", "backoff_max": "2s",
            "remember": "1h", "dead_keep": "1d", "if_exists": "reject",
            "objective": "99.9% within 1s", "expire": "2h", "on_expiry": "dead",
            "max_leased": 5, "rate": "100/1s burst 20",
            "group": "header:tenant", "group_max_leased": 5, "history": 20,
            "group_order": "push"})
        self.ask("getQueue", queue="brief")
        self.ask("configureQueue", queue="brief", body={
            "lease_ms": 60_000, "backoff_min_ms": 1, "backoff_max_ms": 2, "remember_ms": 3_600_000,
            "dead_keep_ms": 1000, "expire_ms": 0, "on_expiry": "end", "max_leased": 0,
            "rate": "none", "group": "none", "group_max_leased": 0, "history": 0,
            "group_order": "due"})
        self.history()
        self.ask("configureQueue", queue="line", body={"group": "key", "group_order": "push"})
        for key in ("{a}1", "{a}2"):
            self.ask("pushMessage", queue="line", body={"key": key})
        self.ask("claimMessages", body={"queues": ["line"]})
        message = self.ask("getMessage", queue="line", query={"key": "{a}2"}).json
        self.assertEqual((message["group_leased"], message["group_waits"]), (1, True))
        self.ask("configureQueue", queue="line", body={"group_order": "due"}, status=409)
        self.ask("configureQueue", queue="fair", body={"group": "key", "group_max_leased": 1})
        for key in ("{a}1", "{a}2"):
            self.ask("pushMessage", queue="fair", body={"key": key})
        self.ask("claimMessages", body={"queues": ["fair"]})
        self.ask("claimMessages", body={"queues": ["fair"]})
        stats = self.ask("getQueue", queue="fair").json
        self.assertEqual((stats["groups_ready"], stats["groups_held"]), (1, 1))
        message = self.ask("getMessage", queue="fair", query={"key": "{a}2"}).json
        self.assertEqual((message["group"], message["group_leased"]), ("a", 1))
        self.ask("configureQueue", queue="slow", body={"rate": "1/1h"})
        self.ask("pushMessage", queue="slow", body={"key": "first"})
        self.ask("claimMessages", body={"queues": ["slow"]})
        self.assertIn("rate_next_ms", self.ask("getQueue", queue="slow").json)
        self.ask("pushMessage", queue="brief", body={"key": "k"})
        claimed, = self.ask("claimMessages", body={"queues": ["brief"]}).json["messages"]
        self.ask("settleClaims", body={"items": [{"receipt": claimed["receipt"], "action": "ack"}]})
        self.ask("getMessage", queue="brief", query={"key": "k"})
        self.ask("cancelMessages", queue="brief", body={"keys": ["k"]})
        self.ask("pushMessage", 409, queue="brief", body={"key": "k"})
        self.ask("pushMessages", queue="brief", body={"messages": [
            {"key": "after", "expire": "1h"}, {"key": "soon", "expire_ms": 1},
            {"key": "at", "expire_at": "2100-01-01T00:00:00Z"},
            {"key": "at_ms", "expire_at_ms": 4_000_000_000_000}]})
        self.ask("advanceClock", body={"by_ms": 1})
        told = self.ask("getMessage", queue="brief", query={"key": "after"}).json
        self.assertEqual((told["expire_ms"], told["expire_at_ms"]),
                         (3_600_000, told["due_ms"] + 3_600_000))
        told = self.ask("getMessage", queue="brief", query={"key": "soon"}).json
        self.assertEqual(told["settlement"]["how"], "expired")
        self.ask("reviveMessages", body={"keys": [self.dead]})
        self.ask("reviveMessages", body={"keys": [], "all": True})
        self.ask("reviveMessages", body={"keys_base64": ["eA=="]})

    def bytes(self):
        """Values that are not UTF-8, in every possible place."""
        pushed = self.ask("pushMessage", queue="raw", body={"key_base64": NOT_UTF8}).json
        self.assertEqual(pushed["key_base64"], NOT_UTF8)
        self.ask("pushMessage", 409, queue="raw", body={"key_base64": NOT_UTF8})
        self.ask("pushMessage", queue="raw", body={"key": "p", "payload_base64": NOT_UTF8})
        self.ask("getMessage", queue="raw", query={"key": "p"})
        self.ask("listMessages", queue="raw", query={"limit": 1})
        self.ask("rescheduleMessages", queue="raw", body={"items": [
            {"key_base64": NOT_UTF8, "delay": "99999d"}, {"key_base64": NOT_UTF8, "delay": "0s"}]})
        self.ask("claimMessages", body={"queues": ["raw"], "max": 10})
        self.lenient()

    def lenient(self):
        """Forms that people write by hand, and that the schemas omit for the sake of typed
        clients."""
        many = self.client.raw("POST", "/v1/queues/lenient/messages", json.dumps({"messages": [
            {"key": "a", "delay": 0}, {"key": "b", "due": 4_000_000_000_000},
            {"key": "c", "headers": [["n", "1"], ["n", {"base64": NOT_UTF8}]]},
            {"key": "d", "headers": {"n": {"base64": NOT_UTF8}}}]}),
            {"Content-Type": JSON_TYPE}).json["results"]
        self.assertEqual([r["outcome"] for r in many], ["pushed"] * 4)
        told = self.ask("getMessages", queue="lenient", body={"keys": ["c", "d"]}).json["results"]
        self.assertEqual([m["header_list"] for m in told], [
            [{"name": "n", "value": "1"}, {"name": "n", "value_base64": NOT_UTF8}],
            [{"name": "n", "value_base64": NOT_UTF8}]])
        self.assertEqual([m["headers"] for m in told], [{"n": "1"}, {}])
        gone = self.ask("cancelMessages", queue="lenient",
                        text=json.dumps({"keys": ["b", {"base64": "Yw=="}]})).json["results"]
        self.assertEqual([r["outcome"] for r in gone], ["cancelled"] * 2)

    def moves(self):
        """Imports messages of another store, and moves them on to the next."""
        results = self.ask("importMessages", queue="moved", body={"messages": [
            {"key": "a", "payload": "p", "due": "2100-01-01T00:00:00Z", "headers": {"n": "v"},
             "priority": 7, "if_exists": "reject", "max_attempts": 9, "attempt": 2,
             "expire": "1h", "expire_at": "2100-01-01T00:00:01Z",
             "pushed": "2026-11-20T10:00:00Z",
             "tallies": {"claims": 3, "run_outs": 1, "releases": 1, "buries": 1, "revives": 1}},
            {"key_base64": NOT_UTF8, "payload_base64": NOT_UTF8, "delay": "1h", "state": "dead",
             "reason": "broken"},
            {"key": "b", "delay_ms": 5, "state": "scheduled",
             "header_list": [{"name": "n", "value": "v"}], "pushed_ms": 1767225600000,
             "expire_ms": 5},
            {"key": "c", "due_ms": 4_000_000_000_000, "state": "dead", "reason_base64": "eA==",
             "expire_at_ms": 4_000_000_000_001},
            {"key": "d", "reason": "none is dead"}]}).json["results"]
        self.assertEqual([r.get("outcome") for r in results], ["pushed"] * 4 + [None])
        told = self.ask("getMessage", queue="moved", query={"key": "a"}).json
        self.assertEqual((told["attempt"], told["tallies"]["claims"]), (2, 3))
        self.assertEqual((told["expire_ms"], told["expire_at"]),
                         (3_600_000, "2100-01-01T00:00:01.000Z"))
        self.assertEqual(told["pushed"], "2026-11-20T10:00:00.000Z")
        away = self.ask("moveMessagesAway", queue="moved", body={"messages": [
            {"key": "a", "id": told["id"], "due": told["due"], "priority": told["priority"],
             "tallies": told["tallies"]},
            {"key_base64": NOT_UTF8, "id": results[1]["id"], "due_ms": 18 * 10**11,
             "priority": 1024, "tallies": {}, "state": "dead"}]}).json["results"]
        self.assertEqual([r["outcome"] for r in away], ["done", "kept"])
        self.ask("moveMessagesAway", queue="moved", body={"messages": [
            {"key": "a", "id": "1", "due_ms": 18 * 10**11, "priority": 1,
             "tallies": {"claims": 4_294_967_295}, "due": "2030-01-31T09:00:00Z"}]})
        away = self.ask("moveMessagesAway", queue="brief", body={"messages": [
            {"key": "k", "id": "1", "due_ms": 18 * 10**11, "priority": 0,
             "tallies": {}}]}).json["results"]
        self.assertEqual(away[0]["outcome"], "settled")
        problem = self.ask("reshardQueue", 501, queue="moved", body={"shards": 2, "turn": "1"}).json
        self.assertEqual(problem["code"], "unsupported")

    def queues(self):
        self.ask("pushMessage", body={"key": "now"})
        self.ask("pauseQueue", body={"until": "2200-01-01T00:00:00Z"})
        self.assertIs(self.ask("getMessage", query={"key": "now"}).json["paused"], True)
        self.ask("getQueue")
        self.ask("pauseQueue", body={"until_ms": 4_000_000_000_000})
        self.ask("pauseQueue")
        self.ask("listQueues")
        self.ask("resumeQueue")
        self.ask("resumeQueue", body={})
        self.ask("purgeQueue")
        self.ask("pushMessage", queue="going", body={"key": "k", "delay": "0s"})
        self.ask("claimMessages", body={"queues": ["going"], "wait": "60s"})
        self.ask("removeQueue", 409, queue="going")
        self.ask("removeQueue", queue="going", query={"force": "true"})
        self.ask("removeQueue", 404, queue="going")
        self.ask("getQueue", 404, queue="none")

    def bulk(self):
        """On a queue of its own: pages, and each action."""
        day, start = 86_400_000, 1_900_000_000_000
        self.ask("pushMessages", queue="bulk", body={"messages": [
            {"key": f"k{i}", "due_ms": start + i * day, "headers": {"n": str(i)}}
            for i in range(4)]})

        def bulk(**body):
            return self.ask("bulkMessages", queue="bulk", body=body).json

        page = bulk(action="cancel", dry_run=True, limit=1)
        self.assertEqual((page["looked"], page["matched"], page["outcomes"]), (1, 1, {}))
        bulk(action="cancel", dry_run=True, limit=1, after=page["next"])
        after = base64.b64encode(page["next"].encode()).decode()
        bulk(action="cancel", dry_run=True, limit=1, after_base64=after)
        between = {"due_from_ms": start, "due_to_ms": start + day}
        self.assertEqual(bulk(action="reschedule", by="5d", **between)["outcomes"],
                         {"rescheduled": 1})
        between = {"due_from": "2030-03-18T17:46:40Z", "due_to": "2030-03-19T17:46:40Z"}
        bulk(action="reschedule", by_ms=6 * day, **between)
        bulk(action="reschedule", prefix="k2", due="2031-01-31T09:00:00Z")
        bulk(action="reschedule", prefix_base64="azI=", due_ms=start)
        bulk(action="cancel", headers={"n": "3"}, state="scheduled")
        bulk(action="cancel", header_list=[{"name": "n", "value": "9"}])
        far = bulk(action="reschedule", due_ms=7_000_000_000_000)  # more than a century away
        self.assertEqual((far["matched"], far["failed"]), (3, 3))
        self.assertEqual(far["error"]["code"], "invalid_argument")
        self.assertEqual(bulk(action="revive", reason="*")["matched"], 0)
        bulk(action="remove", reason_base64="Kg==")

    def schedules(self):
        """A schedule from beginning to end. The clock does not reach its first occurrence."""
        definition = {"when": "0 9 * * *", "zone": "Europe/Berlin", "start": "2099-01-01T00:00:00Z",
                      "end": "2099-12-31T00:00:00Z", "jitter": "5m", "queue": "reports",
                      "payload": "p", "headers": {"n": "v"}, "priority": 7, "missed": "all",
                      "paused": False}
        self.ask("getSchedule", 404)
        self.assertEqual(self.ask("putSchedule", body=definition).json["outcome"], "added")
        self.assertEqual(self.ask("putSchedule", body=definition).json["outcome"], "replaced")
        told = self.ask("getSchedule").json
        self.assertEqual(told | definition, told | {"jitter": "5m", "start": definition["start"],
                                                    "end": definition["end"]})
        self.assertEqual((told["next"], told["jitter_ms"]), ("2099-01-01T08:00:00.000Z", 300_000))
        self.ask("putSchedule", schedule="raw", body={
            "when": "every 1h", "start_ms": 4_000_000_000_000, "end_ms": 5_000_000_000_000,
            "jitter_ms": 5, "queue": "reports", "payload_base64": NOT_UTF8,
            "header_list": [{"name": "n", "value_base64": NOT_UTF8}]})
        self.ask("getSchedule", schedule="raw")
        page = self.ask("listSchedules", query={"limit": 1, "prefix": ""}).json
        more = self.ask("listSchedules", query={"after": page["next"]}).json
        self.assertEqual({each["name"] for each in page["schedules"] + more["schedules"]},
                         {"report", "raw"})
        self.assertEqual(self.ask("pauseSchedule").json["outcome"], "paused")
        self.assertNotIn("next", self.ask("getSchedule").json)
        self.ask("resumeSchedule", body={})
        key = self.ask("runSchedule").json["key"]
        pushed = self.ask("getMessage", queue="reports", query={"key": key}).json
        self.assertEqual(pushed["payload"], "p")
        for name in ("removeSchedule", "pauseSchedule", "resumeSchedule", "runSchedule"):
            self.ask(name, 404, schedule="none")
        self.ask("claimMessages", body={"queues": ["tarry.schedules"], "keys": ["report"],
                                        "any_state": True})
        for name, body in (("putSchedule", definition), ("pauseSchedule", None)):
            self.ask(name, 409, body=body)
        self.ask("putSchedule", schedule="raw", body={"when": "@daily", "queue": "reports",
                                                      "paused": True})
        self.ask("claimMessages", body={"queues": ["tarry.schedules"], "keys": ["raw"],
                                        "any_state": True})
        self.ask("resumeSchedule", 409, schedule="raw")
        self.assertEqual(self.ask("removeSchedule", schedule="raw").json["outcome"], "removed")
        found = self.ask("listOccurrences", body={
            "when": "30 2 * * *", "zone": "Europe/Berlin", "start": "2030-01-01T00:00:00Z",
            "end": "2030-12-31T00:00:00Z", "jitter": "1m", "name": "report",
            "from": "2030-03-30T12:00:00Z", "count": 2}).json["occurrences"]
        self.assertEqual([each["local"] for each in found],
                         ["2030-03-31T03:00:00+02:00", "2030-04-01T02:30:00+02:00"])
        self.ask("listOccurrences", body={
            "when": "every 1h", "start_ms": 4_000_000_000_000, "end_ms": 5_000_000_000_000,
            "jitter_ms": 1, "from_ms": 4_000_000_000_000})

    def service(self, server):
        self.ask("getStats")
        self.ask("getStats", query={"queue": "orders"})
        self.ask("getStats", query={"names_only": "true"})
        self.ask("getAbout")
        self.ask("getHealth")
        self.ask("getReadiness")
        self.ask("getMetrics")
        self.ask("getOpenapi")
        self.ask("suspendClock", body={"by": "1s"})
        self.ask("stepClock", body={"by": "-1s"})
        self.ask("stepClock", body={"by_ms": -5})
        mine = self.client.raw("GET", "/healthz", headers={"X-Request-ID": "mine:1"})
        self.assertEqual(mine.headers["X-Request-ID"], "mine:1")

    def people(self, client):
        """Clients, sessions of the console and acts, of a server with a token and an audit log."""
        secret = "s3cret-s3cret-s3cret"
        bearer = {"Authorization": f"Bearer {secret}"}
        login = client.raw("POST", "/console/login", json.dumps({"token": secret}),
                           {"Content-Type": JSON_TYPE, "X-Tarry-Console": "1"})
        cookie = {"Cookie": login.headers["Set-Cookie"].split(";")[0]}
        client.ask("cancelMessages", body={"keys": ["k", "l"]}, headers=bearer)
        page = client.ask("listActs", query={"limit": 1}, headers=bearer).json
        self.assertEqual(page["acts"][0]["key"], "l")
        page = client.ask("listActs", query={"after": page["next"]}, headers=bearer).json
        self.assertEqual(page["acts"][0]["key"], "k")
        found = client.ask("listClients", query={"limit": 1}, headers=bearer).json
        self.assertEqual((found["clients"][0]["front"], found["all_clients"]), ("http", 1))
        session, = client.ask("listSessions", headers=cookie).json["sessions"]
        self.assertTrue(session["own"])
        self.assertFalse(client.ask("listSessions", headers=bearer).json["sessions"][0]["own"])
        client.ask("endSession", session=session["id"], headers=bearer)
        client.ask("listSessions", 401, headers=cookie)
        client.ask("endSession", 404, session=session["id"], headers=bearer)
        acts = client.ask("listActs", query={"limit": 2}, headers=bearer).json["acts"]
        self.assertEqual([(one["act"], one["session"], one["outcome"]) for one in acts],
                         [("end_session", session["id"], "refused"),
                          ("end_session", session["id"], "done")])
        self.assertEqual(acts[1]["session_of"], "token_file")

    def refusals(self):
        """Errors that every operation answers in the same way."""
        document = self.client.document
        for _, _, operation in document.operations():
            name = operation["operationId"]
            has_body = document.body_schema(operation) is not None
            with self.subTest(name):
                if has_body:
                    self.ask(name, 400, body={"wrong": 1})
                    self.ask(name, 415, text="{}", headers={"Content-Type": "text/plain"})
                else:
                    self.ask(name, 400, query={"wrong": 1})
                self.ask(name, 413, headers={"Content-Length": str(1 << 30)})
                self.ask(name, 403, headers={"Origin": "http://evil.example"})

        self.values(document)

    def values(self, document):
        """The server uses the same rules for the form of values as the document."""
        for good, body in (
                (True, {"due_ms": 1_000_000_000_000}), (False, {"due_ms": 999_999_999_999}),
                (False, {"due_ms": 1}), (False, {"delay": 0.5}), (True, {"priority": 1e3}),
                (False, {"priority": 1e10}),
                (False, {"key": "k", "key_base64": "aw=="}),
                (False, {"payload": "p", "payload_base64": "cA=="}),
                (False, {"delay": "1s", "delay_ms": 1}),
                (False, {"delay_ms": 1, "due_ms": 4_000_000_000_000}),
                (False, {"delay": "1s", "due": "2030-01-31T09:00:00Z"}),
                (True, {"headers": {"!#$%&'*+-.^_`|~aZ9": "x"}}), (False, {"headers": {"": "x"}}),
                (False, {"headers": {"a b": "x"}}), (True, {"headers": {"n" * 255: "x"}}),
                (False, {"headers": {"n" * 256: "x"}}), (True, {"headers": {}, "header_list": []}),
                (False, {"header_list": [{"name": "a:", "value": "x"}]})):
            with self.subTest(body):
                schema = document.root["components"]["schemas"]["Push"]
                self.assertEqual(not document.errors(schema, body), good)
                self.ask("pushMessage", 200 if good else 400, queue="values", body=body)
        for good, name in ((True, "a-b"), (True, ";.$_():@/+"), (False, "-a"), (False, "a b")):
            with self.subTest(name):
                schema = document.root["components"]["schemas"]["QueueName"]
                self.assertEqual(not document.errors(schema, name), good)
                self.ask("pushMessage", 200 if good else 400, queue=name, body={})

    def everything_was_met(self, document):
        unmet = sorted(field for field in document.fields() - document.met - AT_A_STOP
                       if field[0] not in REDIS_SCHEMAS | UNREADABLE | ELSEWHERE
                       and field[1] not in ("unreadable", "served"))
        self.assertEqual(unmet, [], "fields of the document that no request or answer had")
        for _, path, operation in document.operations():
            name = operation["operationId"]
            for parameter, said in document.parameters(path, operation).items():
                if said["in"] == "query":
                    self.assertIn((name, parameter), self.client.asked)
            for status in set(operation["responses"]) - STATUSES_UNMET:
                if (name, status) not in REDIS_ALONE:
                    self.assertIn((name, status), self.client.answered)


class Away(Redis):
    """A server whose store has become unreachable, completely or in part."""

    def test_a_queue_that_cannot_be_read_is_told_as_the_document_says(self):
        with Server(self.store) as server:
            document = Document(Client(server, Document({"paths": {}})).raw(
                "GET", "/v1/openapi.json").json)
            client = Client(server, document)
            client.ask("pushMessage", queue="whole", body={"key": "k"})
            client.ask("pushMessage", queue="broken", body={"key": "k"})
            number = self.redis.ask("HGET", "tarry:{0}:queues", "broken").split()[0]
            self.redis.ask("DEL", f"tarry:{{{number}}}:broken/0:due")
            self.redis.ask("SET", f"tarry:{{{number}}}:broken/0:due", "not ours")
            for operation in ("getStats", "listQueues"):
                answer = client.ask(operation, queue="").json
                self.assertEqual([q["queue"] for q in answer["queues"]], ["whole"])
                self.assertEqual([q["queue"] for q in answer["unreadable"]], ["broken"])
                self.assertEqual(answer["unreadable"][0]["error"]["code"], "damaged")

    def test_every_route_that_asks_it_says_503(self):
        with Server(self.store) as server:
            document = Document(Client(server, Document({"paths": {}})).raw(
                "GET", "/v1/openapi.json").json)
            client = Client(server, document)
            client.ask("pushMessage", body={"key": "k"})
            client.ask("getStats", 404, queue="", query={"queue": "none"})
            message, = client.ask("claimMessages", body={"queues": ["orders"]}).json["messages"]
            client.ask("reshardQueue", 404, queue="none", body={"shards": 1})
            self.assertTrue(client.ask("reshardQueue", body={"shards": 1}).json["done"])
            client.ask("reshardQueue", 409, body={"shards": 2, "turn": "1048577"})
            # It waits for the claim to end.
            step = client.ask("reshardQueue", body={"shards": 2}).json
            self.assertEqual((step["done"], step["leased"]), (False, 1))
            client.ask("reshardQueue", body={"shards": 2, "turn": step["turn"]})
            self.assertEqual(REDIS_ALONE - client.answered, set())
            self.assertEqual({field for field in document.fields() - document.met
                              if field[0] in REDIS_SCHEMAS}, set())
            self.redis.close(keep=True)
            receipt = {"receipt": message["receipt"]}
            bodies = {"pushMessage": {}, "pushMessages": {"messages": [{}]},
                      "cancelMessages": {"keys": ["k"]}, "getMessages": {"keys": ["k"]},
                      "rescheduleMessages": {"items": [{"key": "k", "delay": 0}]},
                      "bulkMessages": {"action": "cancel"},
                      "reviveMessages": {"all": True}, "claimMessages": {"queues": ["orders"]},
                      "settleClaims": {"items": [receipt | {"action": "ack"}]},
                      "extendLeases": {"items": [receipt]},
                      "importMessages": {"messages": [{"key": "k"}]},
                      "moveMessagesAway": {"messages": [{
                          "key": "k", "id": "1", "due_ms": 18 * 10**11, "priority": 1,
                          "tallies": {}}]},
                      "reshardQueue": {"shards": 2},
                      "putSchedule": {"when": "@daily", "queue": "orders"}}
            asked = 0
            for _, _, operation in document.operations():
                name = operation["operationId"]
                # The server itself works: restarting it would not help.
                if "503" in operation["responses"] and name not in ("getHealth", "getAbout"):
                    query = {"key": "k"} if name in (
                        "getMessage", "whyMessage", "historyOfMessage") else None
                    with self.subTest(name):
                        problem = client.ask(name, 503, body=bodies.get(name), query=query).json
                        self.assertEqual(problem["code"], "unavailable")
                        self.assertIn(self.store.split("/")[2], problem["detail"])
                    asked += 1
            self.assertGreater(asked, 22)
            client.ask("getOpenapi")
            client.ask("getHealth")


if __name__ == "__main__":
    unittest.main()
