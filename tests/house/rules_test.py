#!/usr/bin/env python3
"""Each rule of the house can fail, and accepts what it should accept."""

import tempfile
import unittest
from contextlib import contextmanager
from pathlib import Path

import arrows
import fuzzers
import source
import tidy


@contextmanager
def tree(files):
    """A folder that has `files`, given as {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            file = Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        yield root


def broken(check, files):
    """The rules that `check` finds broken in a tree of `files`."""
    with tree(files) as root:
        return sorted({finding.rule for finding in check(root)})


def including(*folders):
    return "\n".join(f'#include "{folder}/b.h"' for folder in folders)


class Arrows(unittest.TestCase):
    def refused(self, path, line, rule="arrow"):
        self.assertEqual(broken(arrows.check, {path: line + "\n"}), [rule], (path, line))

    def allowed(self, path, line):
        self.assertEqual(broken(arrows.check, {path: line + "\n"}), [], (path, line))

    def test_arrow_up(self):
        self.refused("src/base/a.h", '#include "core/engine.h"')
        self.refused("src/core/a.cpp", '#include "engines/embedded/shard/shard.h"')
        self.refused("src/timing/a.cpp", '#include "core/engine.h"')
        self.refused("src/server/http/a.cpp", '#include "app/main.h"')
        self.refused("src/worker/a.cpp", '  #  include "open/open.h"')

    def test_sibling(self):
        self.refused("src/engines/embedded/a.cpp", '#include "engines/remote/client.h"')
        self.refused("src/engines/remote/a.cpp", '#include "engines/embedded/shard/shard.h"')
        self.refused("src/server/a.cpp", '#include "worker/pool.h"')
        self.refused("src/timing/a.cpp", '#include "storage/storage.h"')

    def test_a_test_obeys_too(self):
        self.refused("src/core/a_test.cpp", '#include "engines/embedded/shard/shard.h"')

    def test_every_allowed_arrow(self):
        for folder in arrows.ALLOWED:
            self.allowed(f"src/{folder}/a.cpp", including(*arrows.allowed(folder)))

    def test_every_other_arrow(self):
        for folder in arrows.ALLOWED:
            others = sorted(set(arrows.ALLOWED) - arrows.allowed(folder))
            with tree({f"src/{folder}/a.cpp": including(*others)}) as root:
                found = sorted((finding.line, finding.rule) for finding in arrows.check(root))
            self.assertEqual(found, [(line, "arrow") for line in range(1, len(others) + 1)], folder)

    def test_within_core_and_base(self):
        self.refused("src/core/a.cpp", '#include "core/settings/b.h"')
        self.refused("src/core/settings/a.cpp", '#include "core/rules/b.h"')
        self.refused("src/base/text/a.cpp", '#include "base/secrets/b.h"')
        self.allowed("src/core/settings/a.cpp", '#include "base/text/b.h"')
        self.allowed("src/worker/a.cpp", '#include "core/engine_parts/b.h"')

    def test_within_the_program(self):
        self.refused("src/app/output/a.cpp", '#include "app/session.h"')
        self.refused("src/app/output/a.cpp", '#include "app/command_line/invocation.h"')
        self.refused("src/app/commands/store/a.cpp", '#include "app/commands/queues/b.h"')
        self.allowed("src/app/commands/store/a.cpp", '#include "app/commands/commands.h"')

    def test_within_the_relay(self):
        self.refused("src/relay/sinks/kafka/a.cpp", '#include "relay/sinks/redis/b.h"')
        self.refused("src/relay/flow.cpp", '#include "relay/sinks/threaded_sink.h"')
        self.refused("src/relay/sinks/redis/a.cpp", "#include <curl/curl.h>", "outside")
        self.allowed("src/relay/sinks/kafka/a.cpp", '#include "relay/sinks/threaded_sink.h"')

    def test_within_the_embedded_engine(self):
        self.refused("src/engines/embedded/records/a.cpp", '#include "engines/embedded/state/b.h"')
        self.refused("src/engines/embedded/journal/a.h", '#include "engines/embedded/reading/b.h"')
        self.refused("src/engines/embedded/shard/a.cpp", '#include "engines/embedded/tools/b.h"')
        self.refused("src/engines/embedded/shard/a_test.cpp",
                     '#include "engines/embedded/front/b.h"')
        self.refused("src/engines/embedded/misc/a.cpp", "")
        self.allowed("src/engines/embedded/threads/a.h", '#include "engines/embedded/shard/b.h"')

    def test_no_cycle(self):
        for folder, targets in arrows.ALLOWED.items():
            for target in targets:
                self.assertNotIn(folder, arrows.ALLOWED[target])

    def test_relative_include(self):
        self.refused("src/core/a.cpp", '#include "engine.h"')
        self.refused("src/core/a.cpp", '#include "../base/error.h"')

    def test_unknown_folder(self):
        self.refused("src/misc/a.cpp", "")
        self.refused("src/app/misc/a.cpp", "")
        self.allowed("src/app/config/more/a.cpp", "")
        self.refused("src/engines/other/a.cpp", "")

    def test_public_header(self):
        self.refused("include/tarry/a.h", '#include "base/error.h"')
        self.refused("include/tarry/a.h", "#include <boost/asio.hpp>")
        self.refused("include/tarry/a.h", "#include <unistd.h>")
        self.refused("include/tarry/a.h", "#include <sys/types.h>")
        self.allowed("include/tarry/a.h", "#include <tarry/result.h>\n#include <string_view>")
        self.allowed("include/tarry/asio.h", "#include <boost/asio/post.hpp>")
        self.refused("include/tarry/asio.h", "#include <boost/json.hpp>")
        self.refused("include/tarry/a.h", "#include <tarry/asio.h>")

    def test_outside_library(self):
        self.refused("src/engines/embedded/a.cpp", "#include <boost/json.hpp>", "outside")
        self.refused("src/core/a.cpp", "#include <fmt/format.h>", "outside")
        self.refused("src/core/a.cpp", "#include <gtest/gtest.h>", "outside")
        self.refused("src/core/test.h", "#include <gtest/gtest.h>", "outside")
        self.allowed("src/core/a_test.cpp", "#include <gtest/gtest.h>")
        self.allowed("src/core/test_disk.h", "#include <gtest/gtest.h>")
        self.allowed("src/server/a.cpp", "#include <boost/json.hpp>\n#include <sys/socket.h>")
        self.refused("src/app/transfer/a.cpp", "#include <CLI/CLI.hpp>", "outside")
        self.allowed("src/app/commands/store/a.cpp", "#include <CLI/CLI.hpp>")
        self.refused("src/engines/redis/a.cpp", "#include <zookeeper/zookeeper.h>", "outside")

    def test_comment_is_no_include(self):
        self.allowed("src/base/a.h", '// #include "core/engine.h"\n/*\n#include "core/b.h"\n*/')

    def test_cmake_deps(self):
        self.refused("src/core/CMakeLists.txt", "tarry_module(core DEPS base\n embedded)")
        self.allowed("src/core/CMakeLists.txt", "tarry_module(core DEPS base PCH embedded.h)")


class Tidy(unittest.TestCase):
    def refused(self, path, text, rule):
        self.assertIn(rule, broken(tidy.check, {path: text}), (path, text))

    def allowed(self, path, text, rule):
        self.assertNotIn(rule, broken(tidy.check, {path: text}), (path, text))

    def test_text(self):
        self.refused("src/core/a.cpp", "\tint a;\n", "tab")
        self.refused("src/core/a.cpp", "int a; \n", "trailing-space")
        self.refused("src/core/a.cpp", "int a;\r\n", "line-end")
        self.refused("src/core/a.cpp", "int a;", "line-end")
        self.refused("scripts/run", "echo " + "x" * 100 + "\n", "columns")
        self.refused("tests/a.py", "x" * 101 + "\n", "columns")
        self.allowed("tests/a.py", "x" * 100 + "\n", "columns")
        self.allowed("tests/a.py", "\u00e4" * 100 + "\n", "columns")

    def test_length(self):
        self.refused("src/core/a.cpp", "\n" * 801, "length")
        self.allowed("src/core/a.cpp", "\n" * 800, "length")

    def test_clock(self):
        for read in ("auto t = std::chrono::system_clock::now();", "steady_clock::now()",
                     "clock_gettime(CLOCK_BOOTTIME, &t);", "time(nullptr)", "std::time( 0 )"):
            for folder in ("core", "timing", "engines/embedded"):
                self.refused(f"src/{folder}/a.cpp", read + "\n", "clock")
            self.allowed("src/timing/real_clock.cpp", read + "\n", "clock")
            self.allowed("src/app/a.cpp", read + "\n", "clock")
        self.allowed("src/core/a.cpp", "// never system_clock::now()\n", "clock")
        self.allowed("src/core/a.cpp", "wheel.next_time(0);\n", "clock")

    def test_random(self):
        self.refused("src/app/a.cpp", "int x = std::rand();\n", "random")
        self.refused("src/app/a.cpp", "srand(1);\n", "random")
        self.allowed("src/app/a.cpp", "operand(1);\n", "random")

    def test_sleep(self):
        for nap in ("std::this_thread::sleep_for(1s);", "sleep(1);", "usleep(10);",
                    "nanosleep(&t, 0);", "sleep_until(t);"):
            self.refused("src/core/a_test.cpp", nap + "\n", "sleep")
            self.refused("tests/contract/a.h", nap + "\n", "sleep")
            self.allowed("src/app/a.cpp", nap + "\n", "sleep")
        self.refused("tests/crash/a.py", "time.sleep(0.1)\n", "sleep")
        self.allowed("tests/crash/a.py", "# no time.sleep() here\n", "sleep")

    def test_language(self):
        self.refused("src/core/a.cpp", "auto s = std::format(x);\n", "format")
        self.refused("src/core/a.cpp", "#include <format>\n", "format")
        self.refused("src/core/a.cpp", "co_await x;\n", "coroutine")
        self.refused("src/core/a.cpp", "#include <coroutine>\n", "coroutine")
        self.allowed("src/core/a.cpp", 'auto s = "std::format(x)";\n', "format")

    def test_threads(self):
        for start in ("thread_ = std::thread([this] { run(); });", "std::jthread worker([] {});",
                      "std::thread{run}.detach();", "threads_.emplace_back([] {});",
                      "auto f = std::async(run);", "pthread_create(&id, nullptr, run, nullptr);"):
            self.refused("src/net/a.cpp", start + "\n", "thread")
            self.allowed("src/base/threads/thread.h", start + "\n", "thread")
            self.allowed("src/net/a_test.cpp", start + "\n", "thread")
        self.allowed("src/net/a.h", "std::thread thread_;\n", "thread")
        self.allowed("src/net/a.h", "std::vector<std::jthread> threads_;\n", "thread")
        self.allowed("src/net/a.cpp", "if (std::thread::id() == id) return;\n", "thread")

    def test_headers(self):
        self.refused("src/core/a.h", "int a;\n", "pragma-once")
        self.allowed("src/core/a.h", "#pragma once\n", "pragma-once")
        self.refused("src/core/a.h", "#pragma once\n", "dead")
        self.refused("src/core/a.cc", "\n", "dead")
        self.assertNotIn("dead", broken(tidy.check, {"src/core/a.h": "#pragma once\n",
                                                     "src/app/b.cpp": '#include "core/a.h"\n'}))


class Fuzzers(unittest.TestCase):
    RULES = {"fuzz/CMakeLists.txt": "tarry_fuzzer(a tarry_base)\n", "fuzz/a_fuzz.cpp": "",
             "fuzz/corpus/a/one": "1"}

    def changed(self, **changes):
        tree = {**self.RULES, **changes}
        return broken(fuzzers.check, {path: text for path, text in tree.items()
                                      if text is not None})

    def test_each_is_listed_and_has_a_corpus(self):
        self.assertEqual(self.changed(), [])
        for path in self.RULES:
            self.assertEqual(self.changed(**{path: None}), ["fuzzer"], path)
        self.assertEqual(self.changed(**{"fuzz/b_fuzz.cpp": ""}), ["fuzzer"])
        self.assertEqual(self.changed(**{"fuzz/corpus/b/one": "1"}), ["fuzzer"])
        self.assertEqual(self.changed(**{"fuzz/b.dict": ""}), ["fuzzer"])
        self.assertEqual(self.changed(**{"fuzz/a.dict": ""}), [])

    def test_corpora_stay_small(self):
        self.assertEqual(self.changed(**{"fuzz/corpus/a/two": "x" * 300 * 1024}), ["fuzzer"])


class Source(unittest.TestCase):
    def test_code_only(self):
        for text, code in (
            ("a // b\nc", "a     \nc"),
            ("a /* b\nc */ d", "a     \n     d"),
            ('a("//b") c', "a(     ) c"),
            ("a('\"') b", "a(   ) b"),
            ("1'000'000 b", "1'000'000 b"),
            ('R"(a\n")" b', "    \n    b"),
        ):
            self.assertEqual(source.code_only(text), code)


if __name__ == "__main__":
    unittest.main()
