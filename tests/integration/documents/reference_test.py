#!/usr/bin/env python3
"""docs/reference/errors.md, limits.md, log.md and urls.md agree with the code."""

import re
import unittest

import yaml

from program import SOURCE

UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ms": 1, "second": 1000,
         "minute": 60_000, "hour": 3_600_000, "day": 86_400_000, "": 1}


def text(path):
    """The text of a source file."""
    return (SOURCE / path).read_text(encoding="utf-8")


def cases(source, function):
    """The values that a function's switch returns for each error code."""
    body = re.search(rf" {function}\(ErrorCode code\) noexcept {{\n(.*?)^}}", source,
                     re.DOTALL | re.MULTILINE)[1]
    returned, waiting = {}, []
    for code, value in re.findall(r"case ErrorCode::(\w+):|return ([\w:]+);", body):
        if code:
            waiting.append(code)
        else:
            returned |= {name: value for name in waiting}
            waiting = []
    return returned


def constants():
    """(name, value) of the limits: bytes, milliseconds or a number."""
    known = {"std::chrono::seconds": 1000, "std::chrono::minutes": 60_000}
    values = {}
    for path, kind, names in (("src/core/limits.h", r"constexpr [\w:]+", r"k\w+"),
                              ("src/core/engine_parts/carried.h", r"constexpr [\w:]+", "kMaxTally"),
                              ("src/base/text/text.h", r"constexpr [\w:]+", "kMaxDurationMs"),
                              ("src/base/secrets/token.h", "constexpr std::size_t",
                               "kMaxToken|kMinServerToken"),
                              ("src/base/secrets/secret_file.h", "constexpr std::size_t",
                               "kMaxSecretLine"),
                              ("src/server/session_parts/token_failures.h", "constexpr std::size_t",
                               r"kMost\w+"),
                              ("src/server/limits/accounts.h", "constexpr std::size_t",
                               "kMostResting"),
                              ("src/server/identity/tokens_file.h", "constexpr std::size_t",
                               r"kMaxToken\w+"),
                              ("src/wire/bulk.cpp", r"constexpr [\w:]+", "kMaxBulkLimit"),
                              ("src/wire/json/json_reader.h", r"constexpr [\w:]+",
                               "kMaxDepth|kMaxValues"),
                              ("src/wire/parts/query.cpp", r"constexpr [\w:]+", "kMaxParameters"),
                              ("src/schedule/declared.h", "constexpr std::size_t", "kMaxDeclared"),
                              ("src/schedule/occurrences.h", "constexpr std::uint32_t",
                               "kMostOccurrences"),
                              ("src/schedule/names.h", "constexpr std::size_t",
                               "kMaxSchedules"),
                              ("src/schedule/definition.h", "constexpr std::size_t",
                               "kMaxName"),
                              ("src/schedule/turn.h", "constexpr std::size_t",
                               "kMaxOccurrences"),
                              ("src/app/config/relay_section.cpp", "constexpr std::size_t",
                               "kMaxRelays"),
                              ("src/server/session_parts/options.h", r"(?:std::\w+|Millis)",
                               r"max_\w+|\w+_deadline"),
                              ("src/server/http_session/options.h", r"(?:std::\w+|Millis)",
                               r"max_\w+|\w+_deadline"),
                              ("src/server/session_parts/held_bytes.h", "constexpr std::uint64_t",
                               "kSettleReserve")):
        found = re.findall(rf"{kind} ({names})\s*=\s*([^;]+);", text(path))
        assert found, path
        for name, value in found:
            value = re.sub(r"(?<=\d)(ll|ull)\b|'|\bcore::", "", " ".join(value.split()))
            for spelled, factor in known.items():
                value = value.replace(spelled, f"{factor} * ")
            # The texts are our own sources.
            values[name] = eval(value, {"__builtins__": {}}, values)
    del values["kDayMs"]
    return values


class Reference(unittest.TestCase):
    """One test for each page."""

    def test_errors(self):
        codes = re.findall(r"case ErrorCode::(\w+): return", text("include/tarry/result.h"))
        status = cases(text("src/wire/parts/problem.cpp"), "status_of")
        exits = cases(text("src/app/output/exit_codes.cpp"), "exit_code")
        numbers = dict(re.findall(r"(\w+) = (\d)", text("src/app/output/exit_codes.h")))
        in_code = [(code, status[code], numbers[exits[code].split("::")[1]]) for code in codes]
        page = text("docs/reference/errors.md")
        said = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d) \|", page, re.MULTILINE)
        self.assertEqual(said, in_code)

    def test_statuses_before_any_verb(self):
        page = text("docs/reference/errors.md")
        said = set(re.findall(r"^\| (\d{3}) \| `(\w+)` \|", page, re.MULTILINE))
        made = set()
        for path in (SOURCE / "src/server/http").rglob("*.cpp"):
            if not path.name.endswith("_test.cpp"):
                made |= {(status, code.lower()) for status, code in
                         re.findall(r"problem\(\s*(\d{3}),\s*(?:ErrorCode::|wire::k)(\w+)",
                                    path.read_text())}
        made |= {(status, code) for status, code in
                 re.findall(r"SenderFault\{(\d{3}), ErrorCode::(\w+)",
                            text("src/server/http_session/hosts.cpp"))}
        # 400 and 409 belong to verbs; 500 means a broken contract.
        made = {(status, code) for status, code in made if status not in ("400", "500")}
        self.assertEqual(said - {("501", "unsupported")}, made - {("501", "unsupported")})

    def test_log(self):
        page = text("docs/reference/log.md")
        said = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", page, re.MULTILINE)
        self.assertEqual(len(said), len(dict(said)))
        # These lines come from log.cpp.
        told = {("request", "debug, warning"), ("lines_left_out", "warning")}
        for path in (SOURCE / "src").rglob("*"):
            if path.suffix not in (".cpp", ".h") or path.name.endswith("_test.cpp"):
                continue
            source = path.read_text()
            pairs = re.findall(r'LogLevel::(\w+),\s*"(\w+)"', source)
            pairs += re.findall(r'\blog_?\.(info|warning|error)\(\s*"(\w+)"', source)
            pairs += [("warning", code)
                      for code in re.findall(r'\bwarn\(\s*"(\w+)"', source)]
            if path.name == "relays.cpp":
                pairs += [("warning", code)
                          for code in re.findall(r'return "(\w+)";', source)]
            told |= {(code, level) for level, code in pairs}
        self.assertEqual(set(said), told)

    def test_limits(self):
        page = text("docs/reference/limits.md")
        said = {}
        for number, unit, name in re.findall(
                r"^\|[^|]*\| ([\d,]+) ?([A-Za-z]*) \|[^|]*<!-- (\w+) --> \|$", page, re.MULTILINE):
            self.assertNotIn(name, said)
            unit = unit if unit in UNITS else unit.removesuffix("s")
            said[name] = int(number.replace(",", "")) * UNITS[unit]
        self.assertEqual(said, constants())

    def test_settings_of_queues(self):
        table = text("src/core/settings/settings_table.h")
        rows = re.findall(r'(\w+)Setting{+\s*{"(\w+)"', table)
        self.assertGreaterEqual(len(rows), 7)
        names = [name for _, name in rows]
        durations = {name for kind, name in rows if kind in ("Duration", "Expire")}
        answered = [name + "_ms" if name in durations else name for name in names]
        page = text("docs/reference/config.md").split("## Settings of queues")[1]
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", page.split("\n**")[0], re.MULTILINE), names)
        flags = text("docs/reference/command-line.md").split("## tarry queue set")[1]
        flags = re.findall(r"^\| `--([\w-]+)", flags.split("\n## ")[0], re.MULTILINE)
        self.assertEqual(flags, [name.replace("_", "-") for name in names])
        schemas = yaml.safe_load(text("docs/reference/openapi.yaml"))["components"]["schemas"]
        # These are left out where they say nothing.
        self.assertEqual(schemas["Settings"]["required"],
                         [name for name in answered
                          if name not in ("objective", "expire_ms", "on_expiry", "max_leased",
                                           "rate", "group", "group_max_leased", "history",
                                           "group_order")])
        self.assertEqual(list(schemas["Settings"]["properties"]), answered)
        patch = schemas["SettingsPatch"]
        self.assertEqual(set(patch["properties"]), set(names) | set(answered))
        refused = {tuple(pair["required"]) for pair in patch["not"]["anyOf"]}
        self.assertEqual(refused, {(name, name + "_ms") for name in durations})

    def test_store_urls(self):
        store, redis = text("src/open/urls/store_url.cpp"), text("src/open/urls/redis_url.cpp")
        rabbit, tls = text("src/open/rabbit_url.cpp"), text("src/open/urls/tls_option.h")
        names = dict(re.findall(r"RedisOption (k\w+) = \{\s*\"(\w+)\"", redis))

        def array(source, name):
            body = re.search(rf"constexpr std::array {name} = {{(.*?)}};", source, re.DOTALL)[1]
            named = re.findall(r'{"(\w+)"', body)
            return named or [names[word] for word in re.findall(r"k\w+", body)]

        page = text("docs/reference/urls.md")
        said = {head: re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE) for head, body in
                re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)}
        self.assertEqual(said.pop("redis:"),
                         array(redis, "kAnyOptions") + array(redis, "kLayoutOptions")
                         + [names["kDatabase"]] + array(tls, "kTlsOptions")
                         + array(redis, "kSentinelOptions"))
        self.assertEqual(said, {"memory:": array(store, "kMemoryOptions"),
                                "file:": array(store, "kFileOptions"),
                                "http:": array(store, "kHttpOptions")
                                         + array(tls, "kTlsOptions"),
                                "amqp:": array(rabbit, "kRabbitOptions")})
        schemes = re.findall(r'scheme == "([\w+]+)"\) return parse', store)
        schemes += re.findall(r'{"([\w+]+)", RedisUrl::Topology', redis)
        self.assertEqual(set(re.findall(r"^\| `([\w+]+):", page, re.MULTILINE)), set(schemes))


if __name__ == "__main__":
    unittest.main()
