#!/usr/bin/env python3
"""For every bad input, every route over HTTP answers an error that names the value and the limit.
"""

import json
import os
import tempfile
import unittest
from pathlib import Path

from authority import Authority
from openapi import Client, Document
from program import FAILED, ProgramTest, Server, eventually

LONG_KEY = "k" * 513
TOO_MANY = 10_001
CENTURY = 36_525 * 24 * 3_600_000
OVER_A_CENTURY = {"delay_ms": CENTURY + 1}
SEEN = {"key": "k", "id": "1", "due_ms": 18 * 10**11, "priority": 1, "tallies": {}}

# (operation, a bad value for it, status, words of the detail)
BODIES = (
    # Types: no value is accepted in place of another type.
    ("pushMessage", {"key": 7}, 400, ('"key"', "string", "7")),
    ("pushMessage", {"payload": None}, 400, ('"payload"', "null")),
    ("pushMessage", {"priority": "1"}, 400, ('"priority"', '"1"', "4294967295")),
    ("pushMessage", {"priority": 1.5}, 400, ('"priority"', "1.5")),
    ("pushMessage", {"priority": -1}, 400, ('"priority"', "-1", "0")),
    ("pushMessage", {"priority": 1 << 32}, 400, ("4294967296", "4294967295")),
    ("pushMessage", {"max_attempts": "3"}, 400, ('"max_attempts"', '"3"')),
    ("pushMessage", {"max_attempts": 65_536}, 400, ("65536", "65535")),
    ("pushMessage", {"if_exists": "maybe"}, 400,
     ('"maybe"', "reject, keep, replace, earlier, later")),
    ("pushMessage", {"headers": "n"}, 400, ('"headers"', '"n"')),
    ("pushMessage", {"headers": [["n"]]}, 400, ("[name, value]",)),
    ("pushMessage", {"headers": {"n": 1}}, 400, ('"n"', "1")),
    ("pushMessage", {"header_list": {}}, 400, ('"header_list"', "array")),
    ("pushMessage", {"header_list": [{"name": "n"}]}, 400, ('"header_list"', '"value"')),
    ("pushMessage", {"header_list": [{"name": "n", "value": "1"}], "headers": {"m": "1"}}, 400,
     ('"m"', '"header_list"')),
    ("pushMessage", {"messages": {}}, 400, ('"messages"', "array")),
    ("pushMessage", {"key": "k", "messages": []}, 400, ('"key"', "messages")),
    ("pushMessage", {"key": "k", "paylod": "x"}, 400, ('"paylod"', "payload")),
    ("claimMessages", {"queues": "q"}, 400, ('"queues"', '"q"')),
    ("claimMessages", {"queues": [1]}, 400, ('"queues"', "1")),
    ("claimMessages", {"queues": ["q"], "max": "5"}, 400, ('"max"', '"5"')),
    ("claimMessages", {"queues": ["q"], "wait": True}, 400, ('"wait"', "true")),
    ("claimMessages", {"queues": ["q"], "any_state": 1}, 400, ('"any_state"', "1")),
    ("configureQueue", {"max_attempts": "5"}, 400, ('"max_attempts"', '"5"')),
    ("configureQueue", {"if_exists": 1}, 400, ('"if_exists"', "1")),
    ("configureQueue", {"lease_ms": "30000"}, 400, ('"lease_ms"', '"30000"', "milliseconds")),
    ("configureQueue", {"backoff_min_ms": "1000"}, 400,
     ('"backoff_min_ms"', '"1000"', "milliseconds")),
    ("configureQueue", {"backoff_max_ms": "1000"}, 400,
     ('"backoff_max_ms"', '"1000"', "milliseconds")),
    ("configureQueue", {"remember_ms": "1000"}, 400, ('"remember_ms"', '"1000"', "milliseconds")),
    ("configureQueue", {"dead_keep_ms": "1000"}, 400, ('"dead_keep_ms"', '"1000"', "milliseconds")),
    ("claimMessages", {"queues": ["q"], "max_bytes": "5"}, 400, ('"max_bytes"', '"5"', "number")),
    ("claimMessages", {"queues": ["q"], "lease_ms": "5"}, 400,
     ('"lease_ms"', '"5"', "milliseconds")),
    ("claimMessages", {"queues": ["q"], "wait_ms": "5"}, 400, ('"wait_ms"', '"5"', "milliseconds")),
    ("getMessages", {"keys": ["k"], "payload": 0}, 400, ('"payload"', "0")),
    ("reviveMessages", {"all": "yes"}, 400, ('"all"', '"yes"')),
    # Times and durations.
    ("pushMessage", {"due": "2030-01-31T09:00:00"}, 400,
     ('"due"', "2030-01-31T09:00:00", "offset")),
    ("pushMessage", {"due": "tomorrow"}, 400, ('"due"', "tomorrow")),
    ("pushMessage", {"due": "1893456000000"}, 400, ('"due"', "1893456000000", "in quotes")),
    ("pushMessage", {"due": 1_700_000_000}, 400, ("1700000000", "seconds", "milliseconds")),
    ("pushMessage", {"due_ms": 1 << 53}, 400, (str(1 << 53), "2200")),
    ("pushMessage", {"due_ms": "5"}, 400, ('"due_ms"', '"5"')),
    ("pushMessage", {"delay_ms": "5"}, 400, ('"delay_ms"', '"5"', "milliseconds")),
    ("pauseQueue", {"until_ms": "5"}, 400, ('"until_ms"', '"5"', "milliseconds")),
    ("advanceClock", {"by_ms": "5"}, 400, ('"by_ms"', '"5"', "milliseconds")),
    ("suspendClock", {"by_ms": "5"}, 400, ('"by_ms"', '"5"', "milliseconds")),
    ("stepClock", {"by_ms": "-5"}, 400, ('"by_ms"', '"-5"', "milliseconds")),
    ("pushMessage", {"delay": "1x"}, 400, ('"delay"', "1x")),
    ("pushMessage", {"delay": 1.5}, 400, ('"delay"', "1.5")),
    ("pushMessage", {"delay": -1}, 400, ("delay", "-1", "36525d")),
    ("pushMessage", OVER_A_CENTURY, 400, ("delay", "36525d")),
    ("pushMessage", {"delay": "1s", "delay_ms": 1}, 400, ('"delay"', '"delay_ms"')),
    ("pushMessage", {"delay": "1s", "due_ms": 18 * 10**11}, 400, ("delay", "due")),
    ("pauseQueue", {"until": "2030-01-31 09:00"}, 400, ('"until"', "2030-01-31 09:00")),
    ("pauseQueue", {"until_ms": 1 << 53}, 400, ("until", "2200")),
    ("advanceClock", {"by": "-1s"}, 400, ('"by"', "-1s")),
    ("advanceClock", {"by_ms": CENTURY + 1}, 400, (str(CENTURY + 1), str(CENTURY))),
    ("suspendClock", {"by": 1, "by_ms": 1}, 400, ('"by"', '"by_ms"')),
    ("stepClock", {"by_ms": -CENTURY - 1}, 400, (str(CENTURY),)),
    # Bytes.
    ("pushMessage", {"key": ""}, 400, ('"key"', "empty")),
    ("pushMessage", {"key": LONG_KEY}, 413, ("key", "512")),
    ("pushMessage", {"payload": "a", "payload_base64": "YQ=="}, 400,
     ('"payload"', '"payload_base64"')),
    ("pushMessage", {"payload_base64": "a?=="}, 400, ('"payload_base64"', "?")),
    ("pushMessage", {"payload": "x" * ((1 << 20) + 1)}, 413, ("payload", "1048577", "1048576")),
    ("pushMessage", {"headers": {"n": "v" * 16_384}}, 413, ("headers", "16385", "16384")),
    ("pushMessage", {"headers": [["n", ""]] * 4_097}, 413, ("4097", "4096")),
    # Numbers of items.
    ("pushMessage", {"messages": [{}] * TOO_MANY}, 413, ("10001", "10000")),
    ("cancelMessages", {"keys": ["k"] * TOO_MANY}, 413, ("10001", "10000")),
    ("getMessages", {"keys": ["k"] * TOO_MANY}, 413, ("10001", "10000")),
    ("rescheduleMessages", {"items": [{"key": "k", "delay": 0}] * TOO_MANY}, 413,
     ("10001", "10000")),
    ("settleClaims", {"items": [{"receipt": "r", "action": "ack"}] * TOO_MANY}, 413,
     ("10001", "10000")),
    ("extendLeases", {"items": [{"receipt": "r"}] * TOO_MANY}, 413, ("10001", "10000")),
    ("reviveMessages", {"keys": ["k"] * TOO_MANY}, 413, ("10001", "10000")),
    ("reviveMessages", {"keys": ["k", "k" * 513]}, 413, ("key", "512")),
    ("claimMessages", {"queues": ["q"], "keys": ["k"] * TOO_MANY}, 413, ("10001", "10000")),
    ("claimMessages", {"queues": [f"q{i}" for i in range(1_001)]}, 413, ("1001", "1000")),
    # Claims.
    ("claimMessages", {}, 400, ('"queues"',)),
    ("claimMessages", {"queues": []}, 400, ("0 queues", "1 to 1000")),
    ("claimMessages", {"queues": ["q", "q"]}, 400, ('"q"', "twice")),
    ("claimMessages", {"queues": ["a b"]}, 400, ('"a b"', "127")),
    ("claimMessages", {"queues": ["q"], "keys": ["k"], "keys_base64": ["aw=="]}, 400,
     ('"keys"', '"keys_base64"')),
    ("claimMessages", {"queues": ["q"], "keys_base64": ["?"]}, 400, ('"keys_base64"', "?")),
    ("claimMessages", {"queues": ["q", "r"], "keys": ["k"]}, 400, ("2 queues", "1")),
    ("claimMessages", {"queues": ["q"], "any_state": True}, 400, ("0 keys",)),
    ("claimMessages", {"queues": ["q"], "max": 0}, 400, ("max 0", "1 to 10000")),
    ("claimMessages", {"queues": ["q"], "max": TOO_MANY}, 400, ("max 10001", "1 to 10000")),
    ("claimMessages", {"queues": ["q"], "max_bytes": 0}, 400, ("max_bytes 0", "134217728")),
    ("claimMessages", {"queues": ["q"], "max_bytes": 1 << 28}, 400, ("268435456", "134217728")),
    ("claimMessages", {"queues": ["q"], "lease": 0}, 400, ("lease", "1ms", "7d")),
    ("claimMessages", {"queues": ["q"], "lease": "8d"}, 400, ("lease 8d", "7d")),
    ("claimMessages", {"queues": ["q"], "wait": "2h"}, 400, ("wait 2h", "1h")),
    # Settings.
    ("configureQueue", {"lease": 0}, 400, ("lease", "7d")),
    ("configureQueue", {"lease": "8d"}, 400, ("lease 8d", "7d")),
    ("configureQueue", {"max_attempts": 0}, 400, ("max_attempts 0", "65535")),
    ("configureQueue", {"backoff_max": "366d"}, 400, ("backoff_max 366d", "365d")),
    ("configureQueue", {"backoff_min": "2h"}, 400, ("backoff_min 2h", "backoff_max")),
    ("configureQueue", {"remember": "366d"}, 400, ("remember 366d", "365d")),
    ("configureQueue", {"dead_keep": "500ms"}, 400, ("dead_keep 500ms", "1s", "3650d")),
    ("configureQueue", {"leese": "1s"}, 400, ('"leese"', "lease")),
    ("reviveMessages", {}, 400, ('"keys"', '"all"')),
    ("reviveMessages", {"all": True, "keys": ["k"]}, 400, ('"keys"', '"all"')),
    ("pushMessages", {"key": "k"}, 400, ('"key"', "messages")),
    ("reviveMessages", {"keys": [7]}, 400, ("7",)),
    ("reviveMessages", {"keys": ["k", ""]}, 400, ("key", "512")),
    # Import and move-away.
    ("importMessages", {}, 400, ('"messages"', "lacks")),
    ("importMessages", {"messages": {}}, 400, ('"messages"', "array", "object")),
    ("importMessages", {"messages": [], "mesages": []}, 400, ('"mesages"', "known: messages")),
    ("importMessages", {"messages": [{}] * TOO_MANY}, 413, ("10001", "10000")),
    ("moveMessagesAway", {}, 400, ('"messages"', "lacks")),
    ("moveMessagesAway", {"messages": "k"}, 400, ('"messages"', "array", '"k"')),
    ("moveMessagesAway", {"keys": ["k"]}, 400, ('"keys"', "known: messages")),
    ("moveMessagesAway", {"messages": [SEEN] * TOO_MANY}, 413, ("10001", "10000")),
    ("reshardQueue", {}, 400, ('"shards"', "lacks")),
    ("reshardQueue", {"shards": 0}, 400, ("shards 0", "1 to 256")),
    ("reshardQueue", {"shards": 257}, 400, ("shards 257", "1 to 256")),
    ("reshardQueue", {"shards": "4"}, 400, ('"shards"', '"4"', "number")),
    ("reshardQueue", {"shards": -1}, 400, ('"shards"', "-1")),
    ("reshardQueue", {"shards": 4, "turn": 5}, 400, ('"turn"', "string", "5")),
    ("reshardQueue", {"shards": 4, "turn": "x"}, 400, ('"turn"', "x")),
    ("reshardQueue", {"shards": 4, "turns": "5"}, 400, ('"turns"', "known: shards, turn")),
)

QUERIES = (
    ("listMessages", {"limit": "0"}, 400, ("limit 0", "1 to 10000")),
    ("listMessages", {"limit": "10001"}, 400, ("limit 10001", "10000")),
    ("listMessages", {"limit": "many"}, 400, ("limit", "many")),
    ("listMessages", {"state": "gone"}, 400,
     ('"gone"', "scheduled, ready, leased, dead, remembered")),
    ("listMessages", {"prefix": LONG_KEY}, 413, ("prefix", "512")),
    ("listMessages", {"prefix": "a", "prefix_base64": "YQ=="}, 400,
     ('"prefix"', '"prefix_base64"')),
    ("listMessages", {"after": "nowhere"}, 400, ("after", '"nowhere"')),
    ("getMessage", {}, 400, ('"key"', "missing")),
    ("getMessage", {"key": LONG_KEY}, 413, ("key", "512")),
    ("getMessage", {"key_base64": "?"}, 400, ('"key_base64"', "?")),
    ("whyMessage", {}, 400, ('"key"', "missing")),
    ("whyMessage", {"key": LONG_KEY}, 413, ("key", "512")),
    ("historyOfMessage", {}, 400, ('"key"', "missing")),
    ("historyOfMessage", {"key": LONG_KEY}, 413, ("key", "512")),
    ("getStats", {"names_only": "1"}, 400, ('names_only "1"', "true", "false")),
    ("forecastQueue", {"width": "0s"}, 400, ("width", "1ms")),
    ("forecastQueue", {"width": "5"}, 400, ("width", "5")),
    ("forecastQueue", {"width_ms": CENTURY + 1}, 400, ("width", "36525d")),
    ("forecastQueue", {"width": "1s", "width_ms": 1}, 400, ("width", "width_ms")),
    ("forecastQueue", {"buckets": 0}, 400, ("buckets 0", "10000")),
    ("forecastQueue", {"buckets": TOO_MANY}, 400, ("buckets 10001", "10000")),
    ("forecastQueue", {"rate": 0}, 400, ('rate "0"', "0.001 to 10000000")),
    ("forecastQueue", {"rate": "fast"}, 400, ('rate "fast"', "0.001 to 10000000")),
    ("forecastQueue", {"rate": -1}, 400, ('rate "-1"', "0.001 to 10000000")),
    ("forecastQueue", {"rate": 10_000_001}, 400, ('rate "10000001"', "0.001 to 10000000")),
    ("forecastQueue", {"rate": 1, "arrivals": 0}, 400, ('arrivals "0"', '"none"')),
    ("forecastQueue", {"arrivals": 1}, 400, ("arrivals", "rate")),
    ("getStats", {"queue": "a b"}, 400, ('"a b"', "127")),
)

# An error of one item is in that item's place, and the others are carried out.
ITEMS = (
    ("cancelMessages", {"keys": [7]}, "invalid_argument", ("a key", "7")),
    ("cancelMessages", {"keys": [""]}, "invalid_argument", ("key", "1 to 512")),
    ("cancelMessages", {"keys": [LONG_KEY]}, "too_large", ("key", "512")),
    ("cancelMessages", {"keys": [{"base64": "?"}]}, "invalid_argument", ("?",)),
    ("rescheduleMessages", {"items": [{"delay": 0}]}, "invalid_argument", ('"key"', "lacks")),
    ("rescheduleMessages", {"items": [{"key": "k"}]}, "invalid_argument", ("neither", "delay")),
    ("rescheduleMessages", {"items": [{"key": "k", **OVER_A_CENTURY}]}, "invalid_argument",
     ("36525d",)),
    ("rescheduleMessages", {"items": [{"key": "k", "due": "2030-01-31T09:00:00"}]},
     "invalid_argument",
     ("offset",)),
    ("rescheduleMessages", {"items": [{"key": "k", "delay": 0, "priority": "1"}]},
     "invalid_argument",
     ('"priority"', '"1"', "number")),
    ("rescheduleMessages", {"items": [{"key": "k", "delay_ms": "5"}]}, "invalid_argument",
     ('"delay_ms"', '"5"', "milliseconds")),
    ("rescheduleMessages", {"items": [{"key": "k", "due_ms": "5"}]}, "invalid_argument",
     ('"due_ms"', '"5"', "milliseconds")),
    ("importMessages", {"messages": [7]}, "invalid_argument", ("the message", "object", "7")),
    ("importMessages", {"messages": [{"key": 7}]}, "invalid_argument", ('"key"', "7")),
    ("importMessages", {"messages": [{"key": ""}]}, "invalid_argument", ('"key"', "empty")),
    ("importMessages", {"messages": [{"key": LONG_KEY}]}, "too_large", ("key", "512")),
    ("importMessages", {"messages": [{"atempt": 1}]}, "invalid_argument", ('"atempt"', "attempt")),
    ("importMessages", {"messages": [{"attempt": "1"}]}, "invalid_argument",
     ('"attempt"', '"1"', "number")),
    ("importMessages", {"messages": [{"attempt": 65_536}]}, "invalid_argument",
     ("attempt 65536", "65535")),
    ("importMessages", {"messages": [{"tallies": 3}]}, "invalid_argument",
     ('"tallies"', "object", "3")),
    ("importMessages", {"messages": [{"tallies": {"claims": -1}}]}, "invalid_argument",
     ('"claims"', "-1")),
    ("importMessages", {"messages": [{"tallies": {"claim": 1}}]}, "invalid_argument",
     ('"claim"', "known: claims")),
    ("importMessages", {"messages": [{"state": "leased"}]}, "invalid_argument",
     ('"state"', '"leased"', "scheduled, ready, dead")),
    ("importMessages", {"messages": [{"state": True}]}, "invalid_argument", ('"state"', "true")),
    ("importMessages", {"messages": [{"reason": "x"}]}, "invalid_argument",
     ('reason "x"', "dead message only")),
    ("importMessages", {"messages": [{"state": "dead", "reason": "x" * 256}]}, "too_large",
     ("reason", "256", "255")),
    ("importMessages", {"messages": [{"state": "dead", "reason_base64": "/w=="}]},
     "invalid_argument", ("reason", "UTF-8")),
    ("importMessages", {"messages": [{"state": "dead", "reason": "a", "reason_base64": "YQ=="}]},
     "invalid_argument", ('"reason"', '"reason_base64"')),
    ("importMessages", {"messages": [{"delay": "1s", "due_ms": 18 * 10**11}]}, "invalid_argument",
     ("delay", "due")),
    ("importMessages", {"messages": [{"payload": "x" * ((1 << 20) + 1)}]}, "too_large",
     ("payload", "1048577", "1048576")),
    ("importMessages", {"messages": [{"priority": 1 << 32}]}, "invalid_argument",
     ('"priority"', "4294967295")),
    ("importMessages", {"messages": [{"max_attempts": 65_536}]}, "invalid_argument",
     ("65536", "65535")),
    ("importMessages", {"messages": [{"if_exists": "no"}]}, "invalid_argument",
     ('"no"', "reject")),
    ("importMessages", {"messages": [{"if_exists": "replace"}]}, "invalid_argument",
     ('"replace"', "import", "reject", "keep")),
    ("importMessages", {"messages": [{"headers": 1}]}, "invalid_argument", ('"headers"', "1")),
    ("moveMessagesAway", {"messages": [7]}, "invalid_argument", ("the message", "object", "7")),
    ("moveMessagesAway", {"messages": [{}]}, "invalid_argument", ('"key"', "lacks")),
    ("moveMessagesAway", {"messages": [SEEN | {"key": ""}]}, "invalid_argument",
     ("key", "1 to 512")),
    ("moveMessagesAway", {"messages": [SEEN | {"key": LONG_KEY}]}, "too_large", ("key", "512")),
    ("moveMessagesAway", {"messages": [SEEN | {"id": 1}]}, "invalid_argument",
     ('"id"', "string", "1")),
    ("moveMessagesAway", {"messages": [SEEN | {"id": "-1"}]}, "invalid_argument", ('"id"', "-1")),
    ("moveMessagesAway", {"messages": [SEEN | {"due": 17 * 10**11}]}, "invalid_argument",
     ('"due"', '"due_ms"')),
    ("moveMessagesAway", {"messages": [SEEN | {"due_ms": "5"}]}, "invalid_argument",
     ('"due_ms"', '"5"', "milliseconds")),
    ("moveMessagesAway", {"messages": [SEEN | {"priority": "1"}]}, "invalid_argument",
     ('"priority"', '"1"')),
    ("moveMessagesAway", {"messages": [SEEN | {"tallies": {"claims": "1"}}]}, "invalid_argument",
     ('"claims"', '"1"')),
    ("moveMessagesAway", {"messages": [SEEN | {"state": "gone"}]}, "invalid_argument",
     ('"gone"', "scheduled, ready, dead")),
    ("moveMessagesAway", {"messages": [SEEN | {"dead": True}]}, "invalid_argument",
     ('"dead"', "known: key, ")),
    ("settleClaims", {"items": [{"receipt": "r", "action": "retry", "priority": "1"}]},
     "invalid_argument", ('"priority"', '"1"', "number")),
    ("settleClaims", {"items": [{"receipt": "r", "action": "retry", "delay_ms": "5"}]},
     "invalid_argument", ('"delay_ms"', '"5"', "milliseconds")),
    ("extendLeases", {"items": [{"receipt": "r", "lease_ms": "5"}]}, "invalid_argument",
     ('"lease_ms"', '"5"', "milliseconds")),
    ("pushMessages", {"messages": [{"priority": "1"}]}, "invalid_argument",
     ('"priority"', '"1"', "number")),
    ("pushMessages", {"messages": [{"key": LONG_KEY}]}, "too_large", ("key", "512")),
    ("pushMessages", {"messages": [7]}, "invalid_argument", ("the message", "7")),
    ("settleClaims", {"items": [{"receipt": "1.2", "action": "eat"}]}, "invalid_argument",
     ('"eat"', "ack, retry, release, bury")),
    ("settleClaims", {"items": [{"action": "ack"}]}, "invalid_argument", ('"receipt"', "lacks")),
    ("settleClaims", {"items": [{"receipt": "nonsense", "action": "ack"}]}, "invalid_argument",
     ('"nonsense"',)),
    ("settleClaims", {"items": [{"receipt": "r" * 1_025, "action": "ack"}]}, "too_large",
     ("receipt", "1024")),
    ("settleClaims", {"items": [{"receipt": "r", "action": "ack", "delay": "1s"}]},
     "invalid_argument",
     ("delay 1s", "retry", "ack")),
    ("settleClaims", {"items": [{"receipt": "r", "action": "ack", "reason": "x"}]},
     "invalid_argument",
     ('"x"', "bury", "ack")),
    ("settleClaims", {"items": [{"receipt": "r", "action": "ack", "priority": 1}]},
     "invalid_argument",
     ("priority 1", "ack")),
    ("settleClaims", {"items": [{"receipt": "r", "action": "bury", "reason": "x" * 256}]},
     "too_large",
     ("reason", "255")),
    ("settleClaims", {"items": [{"receipt": "r", "action": "retry", **OVER_A_CENTURY}]},
     "invalid_argument", ("delay", "36525d")),
    ("extendLeases", {"items": [{"receipt": "r", "lease": 0}]}, "invalid_argument",
     ("lease", "7d")),
    ("extendLeases", {"items": [{"receipt": "r", "lease": "8d"}]}, "invalid_argument",
     ("lease 8d",)),
    ("getMessages", {"keys": [LONG_KEY]}, "too_large", ("key", "512")),
)

# Bytes that are no request, or a request that the server does not read to its end.
POST = "POST /v1/claim HTTP/1.1\r\nHost: localhost\r\n"
GET = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
FRAMING = (
    (GET + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "invalid_argument",
     ("not well-formed HTTP", 'Transfer-Encoding "chunked" stands beside Content-Length "3"',
      "one of the two")),
    (GET + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", 400, "invalid_argument",
     ('Content-Length "4" stands beside Content-Length "3"', "one of the two")),
    (GET + "Transfer-Encoding: gzip\r\n\r\n", 501, "unsupported",
     ('transfer coding "gzip" is not chunked', "the only one")),
    ("POST /v1/claim HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", 501,
     "unsupported", ('transfer coding "chunked"', "in HTTP/1.1")),
    ("NONSENSE\r\n\r\n", 400, "invalid_argument", ("not well-formed HTTP", "bad method")),
    (GET + "X: " + "x" * 20_000 + "\r\n\r\n", 431, "too_large",
     ("the request's head", "limit of 16384 bytes")),
    (POST + "Content-Length: 99999999999\r\n\r\n", 413, "too_large",
     ("the body", "limit of 201326592 bytes")),
    (POST + "Content-Length: x\r\n\r\n", 400, "invalid_argument",
     ('Content-Length "x" is no number of bytes',)),
    (POST + "Content-Length: 9\r\nExpect: x\r\n\r\n", 417, "invalid_argument",
     ('the field Expect "x"', "100-continue")),
    ("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, "permission_denied",
     ('"evil.example"', "not this server's")),
    ("GET /healthz HTTP/1.1\r\n\r\n", 400, "invalid_argument", ("the Host field is missing",)),
    (GET + "Host: localhost\r\n\r\n", 400, "invalid_argument", ("the Host field occurs twice",)),
    (POST + "Transfer-Encoding: chunked\r\n\r\n" + "1" * 40_000, 400, "invalid_argument",
     ("not well-formed HTTP", "chunk")),
)


class BadInput(ProgramTest):
    """One server with a test clock, so that every route is there."""

    authority = None

    def setUp(self):
        super().setUp()
        self.server = Server("memory:", "--test-clock", authority=self.authority)
        self.addCleanup(self.server.stop)
        nothing = Client(self.server, Document({"paths": {}}))
        self.document = Document(nothing.raw("GET", "/v1/openapi.json").json)
        self.client = Client(self.server, self.document)
        self.ask = self.client.ask

    def says(self, text, words):
        for word in words:
            self.assertIn(word, text)

    def with_body(self):
        for _, _, operation in self.document.operations():
            if self.document.body_schema(operation) is not None:
                yield operation["operationId"]

    def test_values(self):
        for kind, table in (("body", BODIES), ("query", QUERIES)):
            for name, given, status, words in table:
                with self.subTest(f"{name} {str(given)[:80]}"):
                    problem = self.ask(name, status, **{kind: given}).json
                    self.assertEqual(problem["code"],
                                     "too_large" if status == 413 else "invalid_argument")
                    self.says(problem["detail"], words)
                    self.assertLess(len(problem["detail"]), 400)
        # Nothing of the request was done, and no queue was made.
        self.assertEqual(self.ask("listQueues").json["queues"], [])

    def test_items(self):
        for name, body, code, words in ITEMS:
            with self.subTest(f"{name} {str(body)[:80]}"):
                method, path, _ = self.client._by_id[name]
                reply = self.ask_as_it_is(method, path, body)
                error = reply.json["results"][0]["error"]
                self.assertEqual(error["code"], code, error)
                self.says(error["message"], words)

    def ask_as_it_is(self, method, path, body):
        """Sends the request without checking it against its schema, because it is not valid."""
        operation = self.document.root["paths"][path][method.lower()]
        reply = self.client.raw(method, path.replace("{queue}", "orders"), json.dumps(body),
                                {"Content-Type": "application/json"})
        self.assertEqual(reply.status, 200, reply.text)
        self.client.check(operation["operationId"], operation, reply)
        return reply

    def test_names_of_queues(self):
        for queue, status, words in (("a b", 400, ('"a b"', "127")), ("-q", 400, ('"-q"', "-")),
                                     ("q" * 128, 413, ("128", "127")), ("ü", 400, ("127",))):
            for _, path, operation in self.document.operations():
                name = operation["operationId"]
                if "{queue}" not in path:
                    continue
                query = {"key": "k"} if name in (
                    "getMessage", "whyMessage", "historyOfMessage") else None
                body = {"pushMessage": {}, "pushMessages": {"messages": [{}]},
                        "cancelMessages": {"keys": ["k"]},
                        "getMessages": {"keys": ["k"]},
                        "rescheduleMessages": {"items": [{"key": "k", "delay": 0}]},
                        "bulkMessages": {"action": "cancel"},
                          "importMessages": {"messages": [{}]},
                        "moveMessagesAway": {"messages": [SEEN]},
                        "reshardQueue": {"shards": 1}, "reviveMessages": {"all": True}}.get(name)
                with self.subTest(f"{name} {queue[:10]}"):
                    reply = self.ask(name, status, queue=queue, query=query, body=body)
                    self.says(reply.json["detail"], words)

    def test_json(self):
        deep = "[" * 40 + "]" * 40
        for name in self.with_body():
            for text, words in (("{", ("byte",)), ("[]", ("object", "array")),
                                ("7", ("object", "7")),
                                ('{"x":1,"x":2}', ('"x"', "twice")), ('{"x":1,}', ("byte",)),
                                ('{"x":NaN}', ("byte",)), ('{"x":' + deep + "}", ("16",)),
                                ('{"x":"\ud800"}'.encode("utf-8", "surrogatepass"), ("byte",)),
                                ('{"x":1} {}', ("byte",))):
                with self.subTest(f"{name} {text[:20]}"):
                    problem = self.ask(name, 400, text=text).json
                    self.assertEqual(problem["code"], "invalid_argument")
                    self.says(problem["detail"], words)

    def test_content_types(self):
        for name in self.with_body():
            for given in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
                with self.subTest(f"{name} {given}"):
                    detail = self.ask(name, 415, text="{}",
                                      headers={"Content-Type": given}).json["detail"]
                    self.says(detail, (f'"{given}"', "application/json"))

    def test_queries(self):
        for method, path, operation in self.document.operations():
            name = operation["operationId"]
            target = path.replace("{queue}", "q")
            with self.subTest(name):
                self.says(self.ask(name, 400, query={"wrong": 1}).json["detail"],
                          ('"wrong"', "known: "))
                for bad, words in (("?a=1&a=2", ('"a"', "twice")), ("?a=%zz", ('"%zz"',)),
                                   ("?" + "&".join(f"a{i}=" for i in range(33)), ("32",))):
                    reply = self.client.raw(method, target + bad)
                    self.assertEqual(reply.status, 400, reply.text)
                    self.says(reply.json["detail"], words)
                if method == "GET":
                    detail = self.ask(name, 400, text="{}").json["detail"]
                    self.says(detail, ("GET", "body"))

    def test_paths_and_methods(self):
        for path in ("/v1", "/v2/claim", "/v1/queues/q/nothing", "/v1/queues//messages",
                     "/v1/claim/", "/healthz/x", "//healthz"):
            for method in ("GET", "POST", "DELETE", "BREW"):
                reply = self.client.raw(method, path)
                self.assertEqual(reply.status, 404, reply.text)
                self.says(reply.json["detail"], (f'"{path}"',))
        for path, item in self.document.root["paths"].items():
            known = {m.upper() for m in item if m != "parameters"}
            known |= {"HEAD"} if "GET" in known else set()
            for method in {"GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "BREW"} - known:
                reply = self.client.raw(method, path.replace("{queue}", "q"))
                self.assertEqual(reply.status, 405, reply.text)
                self.assertEqual(set(reply.headers["Allow"].split(", ")), known)
                self.says(reply.json["detail"], (f'"{method}"', *known))

    def test_an_answer_to_head_ends_with_its_head(self):
        connection = self.server.connection()
        length = None
        for method, path, status in (
                ("GET", "/healthz", 200), ("HEAD", "/healthz", 200), ("HEAD", "/v1/claim", 405),
                ("HEAD", "/v1/queues/none", 404), ("TRACE", "/healthz", 405)):
            connection.request(method, path)
            answer = connection.getresponse()
            self.assertEqual(answer.status, status)
            self.assertEqual(answer.read() == b"", method == "HEAD")
            if path == "/healthz" and status == 200:
                length = length or answer.headers["Content-Length"]
                self.assertEqual(answer.headers["Content-Length"], length)
        connection.close()

    def test_request_ids(self):
        for method, path, _ in self.document.operations():
            target = path.replace("{queue}", "q")
            with self.subTest(f"{method} {path}"):
                for mine in ("mine-1", "a/b:c=d+e_f.g", "x" * 128):
                    reply = self.client.raw(method, target + "?wrong=1",
                                            headers={"X-Request-ID": mine})
                    self.assertEqual(reply.headers["X-Request-ID"], mine)
                for bad in ("a b", "x" * 129, "q\u00e4"):
                    reply = self.client.raw(method, target + "?wrong=1",
                                            headers={"X-Request-ID": bad.encode("latin-1")})
                    self.assertNotEqual(reply.headers["X-Request-ID"], bad)
                    self.assertTrue(reply.headers["X-Request-ID"])

    def test_other_hosts_and_origins(self):
        for method, path, operation in self.document.operations():
            name = operation["operationId"]
            with self.subTest(name):
                self.says(self.ask(name, 403, headers={"Origin": "http://evil.example"})
                          .json["detail"], ('"http://evil.example"',))
                self.says(self.ask(name, 421, headers={"Host": "evil.example"}).json["detail"],
                          ('"evil.example"',))


def read_by_server(connection):
    """Whether the server at the other end, on this machine, has read all bytes that were sent."""
    server, ours = connection.getpeername()[1], connection.getsockname()[1]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, queues, *_ = line.split()
        if (int(local[-4:], 16), int(remote[-4:], 16)) == (server, ours):
            return int(queues.partition(":")[2], 16) == 0
    return False


class Framing(ProgramTest):
    """Errors below the routes, over a socket: the server says what is wrong, and closes the
    connection."""

    authority = None

    def answer(self, connection):
        """The only answer before the server closes: status, fields and body."""
        received = b""
        while piece := connection.recv(65_536):
            received += piece
        head, _, body = received.partition(b"\r\n\r\n")
        status, *fields = head.decode().split("\r\n")
        return (int(status.split()[1]), dict(field.split(": ", 1) for field in fields),
                json.loads(body))

    def refusal(self, connection, status, code, words):
        given, fields, problem = self.answer(connection)
        self.assertEqual((given, problem["status"], problem["code"]), (status, status, code))
        self.assertEqual(fields["Content-Type"], "application/problem+json")
        self.assertEqual(fields["Connection"], "close")
        self.assertTrue(fields["X-Request-ID"])
        self.assertLess(len(problem["detail"]), 400)
        self.assertNotIn("\n", problem["detail"])
        for word in words:
            self.assertIn(word, problem["detail"])
        return fields

    def connect(self, server):
        connection = server.socket()
        self.addCleanup(connection.close)
        return connection

    def test_faults_in_the_framing(self):
        with Server(self.store, authority=self.authority) as server:
            for sent, status, code, words in FRAMING:
                with self.subTest(sent[:80]):
                    connection = self.connect(server)
                    # The following bytes must not be taken for a second request.
                    connection.sendall((sent + POST + "\r\n").encode())
                    self.refusal(connection, status, code, words)

    def test_more_connections_than_the_limit(self):
        with Server(self.store, "--max-connections", "2", authority=self.authority) as server:
            body = '{"queues":["q"],"wait":"10m"}'
            held = [self.connect(server) for _ in range(2)]
            for connection in held:
                connection.sendall((POST + "Content-Type: application/json\r\n"
                                    f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
            # A connection without a request would make room for another one.
            eventually(lambda: all(read_by_server(one) for one in held), "the claims are read")
            another = self.connect(server)
            another.sendall(b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n")
            fields = self.refusal(another, 503, "unavailable",
                                  ("2 connections already", "limit", "try again"))
            self.assertRegex(fields["Retry-After"], r"^[1-9]\d*$")


class OverTls:
    """The tests of a class once more, through TLS."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="tarry-bad-input-")
        cls.authority = Authority(cls.place.name)
        cls.authority.issue("server")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()


class BadInputOverTls(OverTls, BadInput):
    pass


class FramingOverTls(OverTls, Framing):
    pass


class Token(ProgramTest):
    """A server that demands a token on every route except the two probes."""

    def setUp(self):
        super().setUp()
        self.file = self.directory / "token"
        self.file.write_text("s3cret-s3cret-s3cret\n")
        self.server = Server(self.store, "--test-clock", "--token-file", str(self.file))
        self.addCleanup(self.server.stop)

    def test_every_route_asks_for_it(self):
        server = self.server
        right = {"Authorization": "Bearer s3cret-s3cret-s3cret"}
        nothing = Client(server, Document({"paths": {}}))
        document = Document(nothing.raw("GET", "/v1/openapi.json", headers=right).json)
        client = Client(server, document)
        for method, path, operation in document.operations():
            name = operation["operationId"]
            target = path.replace("{queue}", "q")
            is_open = operation.get("security") == []
            self.assertEqual(is_open, path in ("/", "/healthz", "/readyz"))
            with self.subTest(name):
                if is_open:
                    client.ask(name)
                    continue
                # After 200 refusals of an address the server answers 429.
                forms = (None, "Bearer wrong", "Basic s3cret-s3cret-s3cret")
                if name == "getStats":
                    forms += ("s3cret-s3cret-s3cret", "Bearer")
                for given in forms:
                    headers = {} if given is None else {"Authorization": given}
                    # This also holds for a body that the server never reads.
                    reply = client.ask(name, 401, text="{", headers=headers)
                    self.assertEqual(reply.headers["WWW-Authenticate"], "Bearer")
                    self.assertEqual(reply.json["code"], "permission_denied")
                    self.assertNotIn("wrong", reply.text)
                    self.assertNotIn("s3cret-s3cret-s3cret", reply.text)
                evil = right | {"Origin": "http://evil.example"}
                self.assertEqual(client.raw(method, target, headers=evil).status, 403)
                reply = client.raw(method, target + "?wrong=1", headers=right)
                self.assertEqual(reply.status, 400, reply.text)
        for path in ("/healthz", "/readyz"):
            # The probes are open, but not for a request with a body.
            self.assertEqual(nothing.raw("HEAD", path).status, 200)
            self.assertEqual(nothing.raw("GET", path, b"{}").status, 401)
            self.assertEqual(nothing.raw("POST", path, b"{}").status, 401)
            self.assertEqual(nothing.raw("POST", path, b"{}", headers=right).status, 405)
        reply = nothing.raw("GET", "/no/such/page")
        self.assertEqual(reply.status, 401, reply.text)
        self.assertEqual(nothing.raw("GET", "/no/such/page", headers=right).status, 404)
        self.assertNotIn("s3cret-s3cret-s3cret", server.log())

    def test_the_command_line_gives_it(self):
        url = self.server.url
        self.asked("push", "q", "x", "--key", "a", store=url, TARRY_TOKEN="s3cret-s3cret-s3cret")
        self.asked("push", "q", "x", "--key", "b", store=f"{url}?token_file={self.file}",
                   TARRY_TOKEN="wrong")
        self.asked("push", "q", "x", "--key", "c", store=url, TARRY_TOKEN_FILE=str(self.file))
        self.asked("push", "q", "x", "--key", "d", store=url, TARRY_TOKEN_FILE=str(self.file),
                   TARRY_TOKEN="")
        for given in ({}, {"TARRY_TOKEN": "wrong"}, {"TARRY_TOKEN": ""}):
            refused = self.refused("get", "q", "a", store=url, code=FAILED,
                                   says="the Authorization field", **given)
            self.assertNotIn("wrong", refused.err)
            self.assertIn("TARRY_TOKEN", refused.err)
        self.refused("get", "q", "a", store=url, TARRY_TOKEN="a b", says="a token is 1 to 1024")
        self.refused("get", "q", "a", store=f"{url}?token_file=/no/such/file",
                     says="/no/such/file")

    def test_a_file_that_holds_none(self):
        bad = self.directory / "bad"
        for text in ("", "\n", "a b\n", "x" * 1_025):
            bad.write_text(text)
            with self.subTest(text[:10]):
                self.refused("serve", "--store", "memory:", "--listen", "127.0.0.1:0",
                             "--token-file", str(bad), store="", says=str(bad))
                self.refused("ls", "q", store=self.server.url, TARRY_TOKEN_FILE=str(bad),
                             says=str(bad) if len(text) < 2 else "a token is 1 to 1024")
                self.refused("ls", "q", store=f"{self.server.url}?token_file={bad}",
                             says=str(bad) if len(text) < 2 else "a token is 1 to 1024")

    def test_a_file_that_others_may_write_or_that_is_none(self):
        serve = ("serve", "--store", "memory:", "--listen", "127.0.0.1:0", "--token-file")
        path = str(self.file)
        self.file.write_text("x\n")
        self.refused(*serve, path, store="", says=(path, "1 character", "16"))
        self.file.write_text("s3cret-s3cret-s3cret\n")
        self.file.chmod(0o666)
        fifo = self.directory / "fifo"
        os.mkfifo(fifo)
        for name, says in ((path, f"chmod go-w {path}"), (str(fifo), "not a regular file"),
                           ("/dev/zero", "not a regular file"), ("/no/such", "No such file")):
            with self.subTest(name):
                self.refused(*serve, name, store="", says=(name, says))
                self.refused("ls", "q", store=self.server.url, TARRY_TOKEN_FILE=name,
                             says=(name, says))
                self.refused("ls", "q", store=f"redis://127.0.0.1:1?password_file={name}",
                             says=(name, says))

    def test_a_file_that_all_may_read_is_told_of(self):
        self.file.chmod(0o644)
        with Server("memory:", "--token-file", str(self.file)) as server:
            self.assertIn(f"every user of this machine can read it: chmod o-r {self.file}",
                          server.log())
        self.file.chmod(0o640)
        with Server("memory:", "--token-file", str(self.file)) as server:
            self.assertNotIn("chmod", server.log())


if __name__ == "__main__":
    unittest.main()
