#!/usr/bin/env python3
"""The README and the guide are true: their programs are compiled and run, their commands too."""

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

import flags_test
from program import PROGRAM, SOURCE, ProgramTest, Server, environment

# An item of a list has its blocks indented.
_BLOCK = re.compile(r"^(?:[ \t]*<!-- (?P<mark>[^>\n]*) -->\n)?"
                    r"(?P<indent>[ \t]*)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$",
                    re.DOTALL | re.MULTILINE)
PAGES = ("README.md", "README.zh-CN.md", "docs/guide/first-steps.md", "docs/semantics.md",
         "docs/guide/redis.md", "docs/guide/http.md", "docs/reference/command-line.md",
         "docs/reference/config.md", "docs/reference/errors.md", "docs/reference/limits.md",
         "docs/guide/relays.md", "docs/guide/cpp.md", "docs/guide/testing.md",
         "docs/guide/top.md", "docs/guide/operating.md", "docs/reference/urls.md",
         "docs/guide/command-line.md")

# Their links are looked at too; they are for who builds tarry or reads its files.
MORE = ("CONTRIBUTING.md", "docs/architecture.md", "docs/reliability.md", "docs/performance.md",
        "docs/reference/metrics.md",
        *(str(path.relative_to(SOURCE)) for folder in ("formats", "decisions")
          for path in sorted((SOURCE / "docs" / folder).glob("*.md"))))


def page(name):
    """The text of a page."""
    return (SOURCE / name).read_text(encoding="utf-8")


def blocks_in(text):
    """(mark, language, text) of its code blocks. The mark is the comment above the block."""
    return [(m["mark"] or "", m["language"], textwrap.dedent(m["text"]))
            for m in _BLOCK.finditer(text)]


def blocks(name):
    """Those of a page."""
    return blocks_in(page(name))


class Pages(unittest.TestCase):
    """What can be checked by reading."""

    def test_blocks_are_seen_wherever_they_stand(self):
        text = ("<!-- run -->\n```sh\ntrue\n```\n"
                "1. An item:\n\n   <!-- not run here: an item -->\n   ```sh\n   a\n     b\n   ```\n"
                "- Another:\n  ```cpp\n  int x;\n  ```\n")
        self.assertEqual(blocks_in(text), [("run", "sh", "true\n"),
                                           ("not run here: an item", "sh", "a\n  b\n"),
                                           ("", "cpp", "int x;\n")])
        for name in PAGES + MORE:  # none begins in another way, and none is left open
            self.assertEqual(page(name).count("```"), 2 * len(blocks(name)), name)

    def test_commands_that_are_only_shown_exist(self):
        known = flags_test.commands()
        shown = 0
        for name in PAGES + MORE:
            for line in re.findall(r"^ {4,}(?:\$ )?(?:[A-Z_]+=\S+ )*tarry +([^|>\n]*)$", page(name),
                                   re.MULTILINE):
                words = re.sub(r"(--store|-o) \S+", "", line.split(" -- ")[0]).split()
                with self.subTest(f"{name}: {line}"):
                    command = max((path for path in known if path
                                   and words[:path.count(" ") + 1] == path.split()), key=len)
                    given = {word.split("=")[0] for word in words if word.startswith("-")}
                    self.assertLessEqual(given, known[command])
                    shown += 1
        self.assertGreater(shown, 15)

    def test_programs_are_the_examples(self):
        for name in PAGES:
            for mark, language, text in blocks(name):
                if language == "cpp":
                    self.assertTrue(mark.startswith("examples/"), f"{name}: {text[:60]}")
                    self.assertEqual(text, page(mark), f"{name} differs from {mark}")

    def test_every_shell_block_is_marked(self):
        known = re.compile(r"run\b|serve$|served$|work$|clock$|relay\b|coordination$|plugin\b|"
                           r"scanner\b|webhook\b|not run here: \w")
        for name in PAGES + MORE:
            for mark, language, text in blocks(name):
                if language in ("sh", "bash", "shell", "console"):
                    self.assertRegex(mark, known, f"{name}: {text[:60]}")

    def test_the_chinese_page_is_in_step(self):
        english, chinese = page("README.md"), page("README.zh-CN.md")
        headings = [re.findall(r"^(#+) ", re.sub(r"```.*?```", "", text, flags=re.DOTALL),
                               re.MULTILINE) for text in (english, chinese)]
        self.assertEqual(headings[0], headings[1])

        def code(name):
            # Comments in shell blocks are translated.
            return [(mark, language, re.sub(r" +# .*", "", text) if language == "sh" else text)
                    for mark, language, text in blocks(name)]

        self.assertEqual(code("README.md"), code("README.zh-CN.md"))
        links = [re.findall(r"\]\(([^)]*)\)", text) for text in (english, chinese)]
        self.assertEqual([link for link in links[0] if "README" not in link],
                         [link for link in links[1] if "README" not in link])

    def test_links_lead_somewhere(self):
        for name in PAGES + MORE:
            text = re.sub(r"```.*?```", "", page(name), flags=re.DOTALL)
            for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
                if "://" not in link:
                    there = (SOURCE / name).parent.joinpath(link).exists()
                    self.assertTrue(there, f"{name}: {link}")

    def test_the_reference_names_every_flag(self):
        reference = page("docs/reference/command-line.md") + page("docs/reference/config.md")
        for command in ("serve", "push", "cancel", "get", "reschedule", "claim", "ack", "retry",
                        "release", "bury", "work", "ls", "queue ls", "queue info",
                        "queue reshard", "stats", "forecast", "relay", "queue set", "queue pause",
                        "queue resume", "queue purge",
                        "queue rm", "dead ls", "dead revive", "dead rm",
                        "extend", "top", "clock advance", "completion", "man",
                        "store info", "store check", "store audit", "store salvage",
                        "health", "store upgrade", "store migrate", "store backup",
                        "store export", "store import",
                        "store acl", "config check", "bench", "version",
                        "intake"):
            words = command.split()
            help_text = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True,
                                       env=environment(), check=True).stdout
            for flag in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", help_text, re.MULTILINE):
                self.assertIn(flag, reference, f"{command} {flag}")
            self.assertIn(words[-1], reference)


class Shell(ProgramTest):
    """Every shell block that is marked `run` runs, in the order of its page."""

    def shell(self, mark, text, **variables):
        expected = re.match(r"run(?:: (\d+))?", mark)[1]
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        finished = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True,
                                  text=True, timeout=100, cwd=self.directory,
                                  env=environment(PATH=path, **variables), check=False)
        self.assertEqual(finished.returncode, int(expected or 0),
                         f"{text}\n{finished.stdout}\n{finished.stderr}")
        return finished.stdout

    def test_readme(self):
        for name in ("README.md", "README.zh-CN.md"):
            marked = [block for block in blocks(name) if block[0].startswith("run")]
            self.assertEqual(len(marked), 1)
            out = self.shell(marked[0][0], marked[0][2])
            for word in ("pushed", "rescheduled", "a lamp", "cancelled", "a kettle"):
                self.assertIn(word, out)
            shutil.rmtree(self.directory / "shop")

    def test_readme_with_a_server(self):
        marked = {mark: text for mark, _, text in blocks("README.md")}
        with Server(self.store, cwd=self.directory) as server:
            out = self.shell("run", marked["served"].replace("http://127.0.0.1:7733", server.url))
            for word in ('"outcome":"pushed"', '"a lamp"', '"receipt"'):
                self.assertIn(word, out)
            make, work = marked["work"].splitlines()
            self.shell("run", make)
            self.work(work, server)
        with Server("memory:", "--test-clock") as server:
            out = self.shell("run", marked["clock"].replace("http://127.0.0.1:7733", server.url))
            self.assertIn(str(31 * 86_400_000), out)

    def test_the_configuration_of_operating(self):
        text, = [text for mark, _, text in blocks("docs/guide/operating.md") if mark == "config"]
        file = self.directory / "tarry.toml"
        file.write_text(text, encoding="utf-8")
        out = self.tarry("config", "check", "--config", str(file), store="").out
        for word in ("file:/var/lib/tarry", "json", "orders.*"):
            self.assertIn(word, out)

    def test_first_steps(self):
        marked = blocks("docs/guide/first-steps.md")
        serve, = [text for mark, _, text in marked if mark == "serve"]
        self.assertRegex(serve, r"^tarry serve --store file:\S+\n$")
        work, = [text for mark, _, text in marked if mark == "work"]
        with Server(serve.split()[-1], cwd=self.directory) as server:
            for mark, _, text in marked:
                if mark.startswith("run") and not ("needs jq" in mark and not shutil.which("jq")):
                    self.shell(mark, text, TARRY_STORE=server.url)
            self.work(work, server)

    def test_over_http(self):
        marked = blocks("docs/guide/http.md")
        serve, = [text for mark, _, text in marked if mark == "serve"]
        with Server(serve.split()[-1], cwd=self.directory) as server:
            for mark, language, text in marked:
                if not mark.startswith("run"):
                    continue
                text = text.replace("http://127.0.0.1:7733", server.url)
                words = [sys.executable, "-c"] if language == "python" else ["bash", "-euo",
                                                                             "pipefail", "-c"]
                finished = subprocess.run([*words, text], capture_output=True, text=True,
                                          timeout=100, cwd=self.directory, env=environment(),
                                          check=False)
                self.assertEqual(finished.returncode, 0, f"{text}\n{finished.stderr}")
                for word in mark.removeprefix("run: says ").split():
                    self.assertIn(word, finished.stdout, text)

    def test_command_line(self):
        out = "".join(self.shell(mark, text) for mark, _, text in
                      blocks("docs/guide/command-line.md"))
        for word in ("rescheduled", "cancelled", "no such address", "a kettle"):
            self.assertIn(word, out)

    def test_operating(self):
        for mark, _, text in blocks("docs/guide/operating.md"):
            if mark.startswith("run"):
                self.shell(mark, text)

    def work(self, text, server):
        self.asked("push", "orders", "tea", "--key", "order:60", store=server.url)
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        with subprocess.Popen(["bash", "-c", "exec " + text], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, cwd=self.directory,
                              env=environment(PATH=path, TARRY_STORE=server.url)) as worker:
            self.assertEqual(worker.stdout.readline(), "closing order:60: tea\n")
            worker.send_signal(signal.SIGINT)
            self.assertEqual(worker.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
