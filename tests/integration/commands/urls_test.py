#!/usr/bin/env python3
"""docs/reference/urls.md: the limits of options are those of the program, and the defaults those of
the code.
"""

import re
import subprocess
import unittest

from program import DONE, PROGRAM, SOURCE, UNREACHABLE, USAGE, ProgramTest, environment

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "ms": 1, "s": 1000,
         "h": 3_600_000}
# Other options that an option needs, and values of options.
BESIDE = {"zset": "layout=plain&", "unit": "layout=plain&", "decode": "layout=redisson&",
          "entry": "layout=redisson&", "claim": "layout=redisson&"}
BESIDE_VALUE = {("layout", "hash"): "&hash={queue}:h"}
# Limits that are neither a list nor a range: any value that is not empty is accepted.
FREE = {"", "a path", "a file"}

NUMBER = r"([\d' <ul]+);"
# Where the code has a default. The unit is the code's.
DEFAULTS = {
    ("memory:", "shards"): ("src/engines/embedded/embedded_engine.cpp",
                            r"identity_\.shards = options_\.shards == 0 \? (\d) :"),
    ("memory:", "segment"): ("src/engines/embedded/store/store_files.cpp",
                             "kDefaultSegmentBytes = " + NUMBER),
    ("memory:", "max_payload"): ("src/core/limits.h", "kDefaultMaxPayload = " + NUMBER),
    ("memory:", "capacity"): ("src/engines/embedded/embedded_engine.h",
                              r"memory_bytes = (UINT64_MAX);"),
    ("file:", "sync"): ("src/engines/embedded/embedded_engine.h", r"sync = SyncPolicy::(\w+);"),
    ("redis:", "partitions"): ("src/engines/redis/node/start_up.h",
                               "kDefaultPartitions = " + NUMBER),
    ("redis:", "shards"): ("src/engines/redis/redis_engine.h", "uint32_t shards = " + NUMBER),
    ("redis:", "layout"): ("src/open/urls/redis_url.h", r"bool (native) = true;"),
    ("redis:", "max_payload"): ("src/core/limits.h", "kDefaultMaxPayload = " + NUMBER),
    ("redis:", "allow_eviction"): ("src/open/urls/redis_url.h", r"allow_eviction = (false);"),
    ("redis:", "wait"): ("src/open/urls/redis_url.h", "wait_replicas = " + NUMBER),
    ("redis:", "unit"): ("src/engines/redis/records/layout_spec.h", r"seconds = (false);"),
    ("redis:", "decode"): ("src/engines/redis/records/layout_spec.h", r"= Decode::(\w+);"),
    ("redis:", "entry"): ("src/engines/redis/records/layout_spec.h", r"= EntryForm::(\w+);"),
    ("redis:", "claim"): ("src/engines/redis/records/layout_spec.h", r"through_list = (false);"),
    ("amqp:", "rung"): ("src/engines/rabbitmq/ladder/ladder.h", "kDefaultBaseMs = " + NUMBER),
    ("amqp:", "queues"): ("src/open/rabbit_url.cpp", r"queues = rabbitmq::Queues::(\w+);"),
    ("amqp:", "max_payload"): ("src/core/limits.h", "kDefaultMaxPayload = " + NUMBER),
    ("amqp:", "heartbeat"): ("src/net/rabbit/address.h", "heartbeat_s = " + NUMBER),
    ("redis:", "db"): ("src/open/urls/redis_url.h", "database = " + NUMBER),
}
# The page's word for the code's value.
MEANS = {("memory:", "capacity"): "none", ("redis:", "wait"): "none",
         ("redis:", "allow_eviction"): "no", ("redis:", "unit"): "ms",
         ("redis:", "decode"): "auto", ("redis:", "entry"): "auto", ("redis:", "claim"): "direct",
         ("amqp:", "queues"): "auto", ("amqp:", "heartbeat"): "10s"}
# `file:` uses the same code, and the page says what depends on the store or the disk.
SAME = {("file:", name): ("memory:", name) for name in ("shards", "segment", "max_payload")}
# Defaults that are not values.
WORDS = {"the machine's", "none", "", "the server's default one", "the system's", "HOST",
         "must be given", "the sentinels' default one", "the name of the ZSET or list",
         "`{queue}`",
         "the environment's `TARRY_TOKEN`, else the file that `TARRY_TOKEN_FILE` names"}


def source(path):
    return (SOURCE / path).read_text(encoding="utf-8")


PAGE = source("docs/reference/urls.md")


def rows():
    """(head, option) -> (default, limits, description)."""
    found = {}
    for head, body in re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE):
        for name, *cells in re.findall(r"^\| `(\w+)` \|(.*?)\|(.*?)\|(.*)\|$", body, re.MULTILINE):
            found[head, name] = tuple(cell.strip() for cell in cells)
    return found


def amount(text):
    """(number, unit) of "64KiB"."""
    number, unit = re.fullmatch(r"(\d+)([A-Za-z]*)", text).groups()
    return int(number), unit


def in_code(text):
    """A number in C++ notation."""
    text = re.sub(r"(?<=\d)u?ll?\b|'", "", text).strip()
    return eval(text, {"__builtins__": {}}) if re.fullmatch(r"[\d <]+", text) else text


class Urls(ProgramTest):
    """For each option, accepted and refused values."""

    def url(self, head, name, value):
        option = f"{BESIDE.get(name, '')}{name}={value}{BESIDE_VALUE.get((name, value), '')}"
        if head == "amqp:":
            return f"amqp{'s' if name in ('ca', 'cert', 'key') else ''}://127.0.0.1:1?{option}"
        if head != "redis:":
            return f"{head}{'' if head == 'memory:' else self.directory / 'none'}?{option}"
        where = {"db": "redis+unix:///no/such.sock?", "master": "redis+sentinel://127.0.0.1:1?"}
        return where.get(name, "redis+unix:///no/such.sock?") + option

    def said_of(self, head, name, value):
        """The error for this value. None if there is none, whether a store exists or not."""
        asked = subprocess.run([PROGRAM, "--store", self.url(head, name, value), "stats"],
                               capture_output=True, text=True, timeout=60, env=environment(),
                               check=False)
        self.assertIn(asked.returncode, (DONE, USAGE, UNREACHABLE), asked)
        return asked.stderr if asked.returncode == USAGE else None

    def check_range(self, head, name, least, most, before="", also=""):
        number, unit = amount(least)
        edges = [(least, number * UNITS[unit] - 1)]
        if most:
            number, unit = amount(most)
            edges.append((most, number * UNITS[unit] + 1))
        small = {"KiB": "B", "MiB": "B", "B": "B", "s": "ms", "ms": "ms", "h": "ms", "": ""}
        for edge, beyond in edges:
            with self.subTest(f"{head} {name}", edge=edge):
                self.assertIsNone(self.said_of(head, name, before + edge))
                if beyond < 0:
                    continue
                said = self.said_of(head, name, f"{before}{beyond}{small[amount(edge)[1]]}")
                self.assertIsNotNone(said, beyond)
                for word in (least, most, also):
                    self.assertIn(word or "", said)

    def test_limits(self):
        for (head, name), (_, limits, _) in rows().items():
            span = re.fullmatch(r"(\w+) to (\w+)|from (\w+)", limits)
            choices = re.fullmatch(r"`\w+`(, `\w+`)*", limits)
            if span:
                self.check_range(head, name, span[1] or span[3], span[2])
            elif choices:
                words = re.findall(r"\w+", limits)
                for word in words:
                    self.assertIsNone(self.said_of(head, name, word), word)
                said = self.said_of(head, name, "nothing")
                listed = re.search(r"must be (.*)", said)[1]
                self.assertEqual(re.split(r", | or ", listed), words, said)
            elif name == "wait":
                replicas, span = re.fullmatch(r"(\d+ to \d+), then `,` and (\w+ to \w+)",
                                              limits).groups()
                self.check_range(head, name, *replicas.split(" to "))
                self.check_range(head, name, *span.split(" to "), before="1,")
            else:
                self.assertIn(limits, FREE, (head, name))

    def test_defaults(self):
        with_value = set()
        for row, (default, _, note) in rows().items():
            if default in WORDS and row not in DEFAULTS:
                continue
            with_value.add(row)
            path, pattern = DEFAULTS[SAME.get(row, row)]
            held = in_code(re.search(pattern, source(path))[1])
            told = re.sub(r"^as the store was made; | for a new one$|, less on .*|`", "", default)
            if row in MEANS:
                self.assertEqual(told, MEANS[row], row)
            elif isinstance(held, int):
                number, unit = amount(told)
                self.assertEqual(number * UNITS[unit], held, row)
            else:
                self.assertEqual(told, held, row)
            if row == ("redis:", "wait"):
                waited = re.search(r"wait_timeout_ms = ([\d']+);",
                                   source("src/open/urls/redis_url.h"))
                number, unit = amount(re.search(r"wait for them \((\w+)\)", note)[1])
                self.assertEqual(number * UNITS[unit], in_code(waited[1]))
        self.assertEqual(with_value, DEFAULTS.keys() | SAME.keys())

    def test_forms(self):
        for path, pattern, said in (
                ("src/open/urls/store_url.h", r"port = (\d+);", r"a server; port (\d+)"),
                ("src/open/urls/store_url.cpp", r"kMaxSocketPath = (\d+);",
                 r"PATH has (\d+) bytes"),
                ("src/open/urls/redis_url.cpp", r"kRedisPort = (\d+);", r"Valkey; port (\d+)"),
                ("src/open/urls/redis_url.cpp", r"kSentinelPort = (\d+);", r"watch; port (\d+)"),
                ("src/open/urls/redis_url.cpp", r"kMostHosts = (\d+);",
                 r"up to (\d+) of its nodes"),
                ("src/open/urls/redis_url.cpp", r"kMostHosts = (\d+);", r"up to (\d+) sentinels"),
                ("src/open/urls/redis_url.cpp", r"kMostDatabase = ([\d']+);",
                 r"database 0 \(up to ([\d,]+)\)")):
            held, told = re.search(pattern, source(path))[1], re.search(said, PAGE)[1]
            self.assertEqual(told.replace(",", ""), held.replace("'", ""), said)


if __name__ == "__main__":
    unittest.main()
