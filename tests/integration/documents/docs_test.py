#!/usr/bin/env python3
"""The README and the guide are true: their programs are compiled and run, and their commands are
run.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from pages import MORE, PAGES, anchors, blocks, blocks_in, links, page
from program import (FAILED, PROGRAM, SOURCE, UNKNOWN, ProgramTest, Server, environment,
                     eventually)

sys.path.append(str(SOURCE / "docs" / "site"))
from site_pages import indented, stage, switched  # noqa: E402

# Indented, like a code block without fences.
_COMMAND = re.compile(r"^(?: {4}|\t)[ \t]*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:export|tarry|curl|redis-cli|"
                      r"cmake|ctest|scripts/\w+|sudo|apt|systemctl)(?= |$).*", re.MULTILINE)


class Pages(unittest.TestCase):
    """Checks that only read the pages."""

    def test_blocks_are_seen_wherever_they_stand(self):
        text = ("<!-- run -->\n```sh\ntrue\n```\n"
                "1. An item:\n\n   <!-- not run here: an item -->\n   ```sh\n   a\n     b\n   ```\n"
                "- Another:\n  ```cpp\n  int x;\n  ```\n")
        self.assertEqual(blocks_in(text), [("run", "sh", "true\n"),
                                           ("not run here: an item", "sh", "a\n  b\n"),
                                           ("", "cpp", "int x;\n")])
        for name in PAGES + MORE:  # no block begins in another way, and every block is closed
            self.assertEqual(page(name).count("```"), 2 * len(blocks(name)), name)

    def test_no_command_stands_outside_a_block(self):
        synopsis = "    tarry [--store URL] [-o table|json] COMMAND ..."
        for name in PAGES + MORE:
            text = re.sub(r"```.*?```", "", page(name), flags=re.DOTALL)
            for line in _COMMAND.findall(text):
                self.assertEqual(line, synopsis, name)

    def test_programs_are_the_examples(self):
        for name in PAGES:
            for mark, language, text in blocks(name):
                if language == "cpp":
                    self.assertTrue(mark.startswith("examples/"), f"{name}: {text[:60]}")
                    self.assertEqual(text, page(mark), f"{name} differs from {mark}")

    def test_the_clients_of_the_readme_are_those_of_their_guides(self):
        """Tests of the clients run the programs of the guides. The README shows lines of them."""
        def lines(text):
            return {line.strip() for line in text.splitlines() if line.strip()}

        shown = [block for block in blocks("README.md") if block[0].startswith("of ")]
        self.assertEqual([language for _, language, _ in shown], ["python", "java", "go", "ts"])
        for mark, language, text in shown:
            guide = [lines(its) for _, one, its in blocks(mark.removeprefix("of "))
                     if one == language]
            self.assertEqual(lines(text) - set().union(*guide), set(), mark)
            self.assertLessEqual(len(text.splitlines()), 12)

    def test_pictures_stand_alone(self):
        for file in sorted((SOURCE / "docs").glob("p*/*.svg")):
            root = ElementTree.parse(file).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg", file)
            said = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            self.assertNotRegex(said, r"href|url\((?!#)|<script|@import", file)
        recorded = page("docs/pictures/demo.svg")
        for row in ("early", "lost", "duplicates", "after cancel"):
            self.assertRegex(recorded, rf">  {row} +0</text>")

    def test_every_shell_block_is_marked(self):
        """Each shell block has a mark by which the test that runs it finds it."""
        marks = re.compile(r"(?:run\b.*|serve|served|work|clock|relay(?: \w+)?|coordination|"
                           r"scanner|plugin \w+|webhook|install|each with a receipt of its own|"
                           r"look_inside|on redis|on a cluster|behind sentinel|to redis|"
                           r"from a layout|serve with it|forecast|"
                           r"config check|salvage|backup|export and import|migrate|bench|plan|"
                           r"packages|containers|service|socket unit|tokens?|"
                           r"(?:network|proxies) [\w ]+)$")
        for name in PAGES + MORE:
            for mark, language, text in blocks(name):
                if language in ("sh", "bash", "shell", "console"):
                    expected = r"not run here: \w" if name == "CONTRIBUTING.md" else marks
                    self.assertRegex(mark, expected, f"{name}: {text[:60]}")

    def test_links_lead_somewhere(self):
        for name in PAGES + MORE:
            text = re.sub(r"```.*?```", "", page(name), flags=re.DOTALL)
            for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
                if "://" not in link:
                    there = (SOURCE / name).parent.joinpath(link).exists()
                    self.assertTrue(there, f"{name}: {link}")

    def test_the_site_has_every_page(self):
        with tempfile.TemporaryDirectory() as place:
            menu = stage(SOURCE.resolve(), Path(place))
            listed = {page for section in menu for each in section.values() for one in each
                      for page in one.values()}
            there = {str(path.relative_to(place)) for path in Path(place).rglob("*.md")}
            self.assertEqual(listed, there)
        ours = [path for path in (SOURCE / "docs").rglob("*.md") if "build" not in path.parts]
        self.assertEqual(len(listed), len(ours) + len(list(SOURCE.glob("*.md"))))

    def test_the_site_switches_between_a_page_and_its_translation(self):
        with tempfile.TemporaryDirectory() as place:
            html = Path(place)
            for name in ("guide/a.html", "guide/a.zh-CN.html", "guide/b.html", "index.html"):
                (html / name).parent.mkdir(exist_ok=True)
                (html / name).touch()
            text = ('<link rel="alternate" href="../in-chinese" hreflang="zh">'
                    '<a href="../in-english">English</a><a href="../in-chinese">中文</a>')
            for name, english, chinese in (("a.html", "a.html", "a.zh-CN.html"),
                                           ("a.zh-CN.html", "a.html", "a.zh-CN.html"),
                                           ("b.html", "b.html", "../index.zh-CN.html")):
                page = switched(html, html / "guide" / name, text)
                self.assertTrue(page.endswith(f'<a href="{english}">English</a>'
                                              f'<a href="{chinese}">中文</a>'), page)
                self.assertEqual("<link" in page, name != "b.html")

    def test_the_site_moves_what_is_in_a_list(self):
        text = ("- an item:\n  ```sh\n  a\n    b\n  ```\n\n  more\n\n"
                "1. one\n   - two\n     three\nend\n")
        moved = ("- an item:\n    ```sh\n    a\n      b\n    ```\n\n    more\n\n"
                 "1. one\n    - two\n        three\nend\n")
        self.assertEqual(indented(text), moved)
        self.assertEqual(indented("text:\n- an item\n"), "text:\n\n- an item\n")

    def test_links_lead_to_headings(self):
        for name in PAGES + MORE:
            for link in links(name):
                target, _, anchor = link.partition("#")
                if anchor and "://" not in link:
                    there = (SOURCE / name).parent / target if target else SOURCE / name
                    if there.suffix == ".md":
                        found = anchors(str(there.resolve().relative_to(SOURCE.resolve())))
                        self.assertIn(anchor, found, f"{name}: {link}")

    def test_the_reference_names_every_flag(self):
        reference = page("docs/reference/command-line.md") + page("docs/reference/config.md")
        for command in ("serve", "push", "cancel", "get", "reschedule", "claim", "ack", "retry",
                        "release", "bury", "work", "ls", "queue ls", "queue info",
                        "queue reshard", "stats", "forecast", "why", "relay", "queue set",
                        "queue pause", "queue resume", "queue purge",
                        "queue rm", "dead ls", "dead revive", "dead rm",
                        "extend", "top", "clock advance", "completion", "man",
                        "store info", "store check", "store audit", "store salvage",
                        "health", "store upgrade", "store migrate", "store backup",
                        "store export", "store import",
                        "store acl", "config check", "bench", "version",
                        "intake", "token new", "token ls", "token check", "audit-log"):
            words = command.split()
            help_text = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True,
                                       env=environment(), check=True).stdout
            for flag in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", help_text, re.MULTILINE):
                self.assertIn(flag, reference, f"{command} {flag}")
            self.assertIn(words[-1], reference)


class Shell(ProgramTest):
    """Runs every shell block that is marked `run`, in the order of its page."""

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
            for word in ("pushed", "rescheduled", "a lamp", "cancelled", "a kettle", "done"):
                self.assertIn(word, out)
            shutil.rmtree(self.directory / "shop")

    def test_readme_with_a_server(self):
        marked = {mark: text for mark, _, text in blocks("README.md")}
        with Server(self.store, cwd=self.directory) as server:
            out = self.shell("run", marked["served"].replace("http://127.0.0.1:7733", server.url))
            for word in ('"outcome":"pushed"', '"a lamp"', '"receipt"', '"outcome":"done"'):
                self.assertIn(word, out)
            *before, work = marked["work"].splitlines()
            self.shell("run", "\n".join(before), TARRY_STORE=server.url)
            self.work(work, server, "closing order:45: a chair\n")
        with Server("memory:", "--test-clock") as server:
            out = self.shell("run", marked["clock"].replace("http://127.0.0.1:7733", server.url))
            self.assertIn(str(31 * 86_400_000), out)

    def test_sizing(self):
        (mark, _, plan), = blocks("docs/guide/sizing.md")
        self.assertIn((mark, "sh", plan), blocks("docs/reference/command-line.md"))
        shown = "".join(line.removeprefix("    ") + "\n"
                        for line in page("docs/guide/sizing.md").splitlines()
                        if line.startswith("    "))
        self.assertTrue(self.shell("run", plan).startswith(shown), shown)

    def test_testing_in_other_languages(self):
        text, = [text for mark, _, text in blocks("docs/guide/testing.md") if mark == "clock"]
        serve, advance = text.splitlines()
        words = serve.split()
        self.assertEqual(words[:3], ["tarry", "serve", "--store"])
        with Server(*words[3:]) as server:
            out = self.shell("run", advance.replace("http://127.0.0.1:7733", server.url))
            self.assertIn(str(31 * 86_400_000), out)

    def test_the_configuration_of_operating(self):
        text, = [text for mark, _, text in blocks("docs/guide/operating.md") if mark == "config"]
        file = self.directory / "tarry.toml"
        file.write_text(text, encoding="utf-8")
        out = self.tarry("config", "check", "--config", str(file), store="").out
        for word in ("file:/var/lib/tarry", "json", "orders.*"):
            self.assertIn(word, out)

    def test_serving_by_the_configuration_of_operating(self):
        marked = {mark: text for mark, _, text in blocks("docs/guide/operating.md")}
        here = (("/etc/", f"{self.directory}/"), ("/var/lib/", f"{self.directory}/"),
                ("127.0.0.1:7733", "127.0.0.1:0"))
        for old, new in here:
            marked = {mark: text.replace(old, new) for mark, text in marked.items()}
        (self.directory / "tarry.toml").write_text(marked["config"], encoding="utf-8")
        check, serve = marked["serve with it"].splitlines()
        self.assertIn(f"file:{self.directory}/tarry", self.shell("run", check))
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        with subprocess.Popen(["bash", "-c", "exec " + serve], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, cwd=self.directory,
                              env=environment(PATH=path)) as server:
            url, = re.findall(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            self.asked("push", "orders.eu", "tea", store=url)
            self.assertEqual(self.asked("queue", "info", "orders.eu", store=url)["settings"]
                             ["max_attempts"], 5)
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(timeout=60), 0)

    def test_the_packages_of_a_copied_program(self):
        release = Path("/etc/os-release").read_text(encoding="utf-8")
        if not re.search(r'^VERSION_ID="12"$', release, re.MULTILINE) or "debian" not in release:
            self.skipTest("the page names packages of Debian 12")
        text, = [text for mark, _, text in blocks("docs/guide/operating.md") if mark == "packages"]
        listed = set(text.replace("\\\n", "").split()) - {"apt", "install"}
        said = subprocess.run(["objdump", "-p", PROGRAM], capture_output=True, text=True,
                              check=True).stdout
        needed = re.findall(r"^ +NEEDED +(\S+)$", said, re.MULTILINE)
        said = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        places = dict(re.findall(r"^\s(\S+) => (\S+) ", said, re.MULTILINE))
        packages = {self.package(places[name]) for name in needed if name in places}
        # These belong to every system, or to a build with a sanitizer.
        packages -= {"libc6", "libgcc-s1", "libasan8", "libtsan2", "libubsan1"}
        self.assertTrue(packages)
        self.assertEqual(packages - listed, set())

    def package(self, library):
        """dpkg knows each file by one name, whether /usr is merged or not."""
        file = str(Path(library).resolve())
        said = subprocess.run(["dpkg-query", "-S", file, file.removeprefix("/usr")],
                              capture_output=True, text=True, check=False).stdout
        return said.partition(":")[0]

    def test_the_service(self):
        marked = {mark: text for mark, _, text in blocks("docs/guide/operating.md")}
        unit, = [word for word in marked["service"].split() if word.startswith("packaging/")]
        text = (SOURCE / unit).read_text(encoding="utf-8")
        command, = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
        self.assertIn(command, marked["serve with it"].splitlines())
        user, = re.findall(r"^User=(.*)$", text, re.MULTILINE)
        self.assertRegex(marked["service"], rf"\nuseradd .* {user}\n")
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze here")
        file = self.directory / Path(unit).name
        file.write_text(text.replace("ExecStart=tarry ", f"ExecStart={PROGRAM} "),
                        encoding="utf-8")
        verified = subprocess.run(["systemd-analyze", "verify", "--man=no", file],
                                  capture_output=True, text=True, check=False)
        self.assertEqual((verified.returncode, verified.stderr), (0, ""))

    def test_a_token(self):
        text, = [text for mark, _, text in blocks("docs/guide/operating.md") if mark == "token"]
        for shown, meant in (("/etc/", f"{self.directory}/"), ("-g tarry", f"-g {os.getgid()}")):
            self.assertIn(shown, text)
            text = text.replace(shown, meant)
        self.shell("run", text)
        token = str(self.directory / "tarry.token")
        self.assertEqual(os.stat(token).st_mode & 0o777, 0o640)
        with Server("memory:", "--token-file", token) as server:
            self.tarry("push", "orders", "tea", store=server.url, TARRY_TOKEN_FILE=token)
            self.tarry("ls", "orders", store=f"{server.url}?token_file={token}")
            self.tarry("ls", "orders", store=server.url, code=FAILED)

    def test_tokens_with_rights(self):
        marked = {mark: text for mark, _, text in blocks("docs/guide/operating.md")}
        tokens = str(self.directory / "tokens")

        def shell(mark, **variables):
            text = marked[mark]
            for shown, meant in (("/etc/tarry.tokens", tokens), ("-g tarry", f"-g {os.getgid()}"),
                                 ("> /etc/", f"> {self.directory}/")):
                text = text.replace(shown, meant)
            return self.shell("run", text, **variables)

        shell("tokens")
        self.assertEqual(os.stat(tokens).st_mode & 0o777, 0o640)
        names = [token["name"] for token in self.asked("token", "ls", "--tokens-file",
                                                       tokens)["tokens"]]
        self.assertEqual(names, ["admin", "shop", "scraper"])
        scraper = str(self.directory / "scraper.token")
        self.assertEqual(os.stat(scraper).st_mode & 0o777, 0o600)
        with Server("memory:", "--tokens-file", tokens) as server:
            self.tarry("stats", store=server.url, TARRY_TOKEN_FILE=scraper)
            self.tarry("push", "shop.eu", "x", store=server.url, TARRY_TOKEN_FILE=scraper,
                       code=FAILED)

    def test_first_steps(self):
        marked = blocks("docs/guide/first-steps.md")
        serve, = [text for mark, _, text in marked if mark == "serve"]
        self.assertRegex(serve, r"^tarry serve --store file:\S+\n$")
        work, = [text for mark, _, text in marked if mark == "work"]
        each, = [text for mark, _, text in marked if mark == "each with a receipt of its own"]
        with Server(serve.split()[-1], cwd=self.directory) as server:
            self.settle(each, server)
            for mark, _, text in marked:
                if mark.startswith("run"):
                    self.shell(mark, text, TARRY_STORE=server.url)
            self.work(work, server, "closing order:46: a chair for Bern\n")

    def of_http(self, mark):
        text, = [text for its, _, text in blocks("docs/guide/http.md") if its == mark]
        return text

    def start(self, server_url, *words, places=()):
        """Starts a process of the guide, which runs until the test ends. `words` end with the text
        of its program."""
        *words, text = words
        for shown, meant in [("http://127.0.0.1:7733", server_url)] * bool(server_url) + [*places]:
            self.assertIn(shown, text)
            text = text.replace(shown, meant)
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        process = subprocess.Popen([*words, text], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL, cwd=self.directory,
                                   env=environment(PATH=path))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, timeout=60)
        self.addCleanup(process.terminate)
        return process

    def test_a_webhook_over_http(self):
        push = next(text for mark, _, text in blocks("docs/guide/http.md")
                    if "queues/reminders/" in text and mark.startswith("run"))
        text = self.of_http("hook receiver")
        here = "HTTPServer((\"127.0.0.1\", 8000), Hook).serve_forever()"
        self.assertIn(here, text)
        text = text.replace(here, "server = HTTPServer((\"127.0.0.1\", 0), Hook)\n"
                            "print(server.server_port, flush=True)\nserver.serve_forever()")
        receiver = self.start("", sys.executable, "-c", text)
        port = receiver.stdout.readline().strip()
        with Server(self.store) as server:
            relay = self.start(server.url, "bash", "-c", "exec " + self.of_http("relay hook"),
                               places=[("127.0.0.1:8000", f"127.0.0.1:{port}")])
            self.shell("run", push.replace("http://127.0.0.1:7733", server.url))
            said = receiver.stdout.readline()
            self.assertEqual(said, "trial-7 your trial ends in a week\n")
            self.assertIn(f"`{said.strip()}`", page("docs/guide/http.md"))
            relay.terminate()
            relay.wait(timeout=60)

    def test_a_worker_over_http_survives_restarts(self):
        with Server(self.store) as server:
            url = server.url
            worker = self.start(url, sys.executable, "-c", self.of_http("worker"))
            self.asked("push", "orders", "a chair", "--key", "order:1", store=url)
            self.assertEqual(worker.stdout.readline(), "closing order:1 a chair\n")
            eventually(lambda: server.answered("/v1/settle") == 1, "it is settled")
        self.asked("push", "orders", "a table", "--key", "order:2")  # while the server is down
        address = url.removeprefix("http://")
        with subprocess.Popen([PROGRAM, "serve", "--store", self.store, "--listen", address],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment()) as again:
            self.assertTrue(again.stdout.readline())
            self.assertEqual(worker.stdout.readline(), "closing order:2 a table\n")
            again.kill()
            again.wait(timeout=60)
        with subprocess.Popen([PROGRAM, "serve", "--store", self.store, "--listen", address],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment()) as again:
            self.assertTrue(again.stdout.readline())
            self.asked("push", "orders", "a lamp", "--key", "order:3", store=url)
            while (said := worker.stdout.readline()) != "closing order:3 a lamp\n":
                # It was killed before it had recorded the ack, or before it had reported it.
                self.assertRegex(said, r"^(closing order:2 a table|too late order:2 .*)\n$")
            again.terminate()
            self.assertEqual(again.wait(timeout=60), 0)
            worker.terminate()

    def test_the_test_clock_over_http(self):
        with Server("memory:", "--test-clock", cwd=self.directory) as server:
            out = self.shell("run", self.of_http("clock").replace("http://127.0.0.1:7733",
                                                                  server.url))
            self.assertIn('"payload":"a week left"', out)

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
        out = "".join(self.shell(mark, text, TARRY_STORE=self.store)
                      for mark, _, text in blocks("docs/guide/operating.md")
                      if mark.startswith("run"))
        self.assertIn("It is not due before", out)

    def settle(self, text, server):
        """Runs each line on a message of its own, and checks the message's state afterwards."""
        lines = text.splitlines()
        states = ("gone", "scheduled", "ready", "dead")
        self.assertEqual(len(lines), len(states))
        for line, state in zip(lines, states):
            self.asked("push", "orders", "tea", "--key", "settled", store=server.url)
            message, = self.asked("claim", "orders", store=server.url)["messages"]
            self.assertEqual(message["key"], "settled")
            self.assertIn("done", self.shell("run", line.replace("RECEIPT", message["receipt"]),
                                             TARRY_STORE=server.url))
            if state == "gone":
                self.tarry("get", "orders", "settled", code=UNKNOWN, store=server.url)
                continue
            self.assertEqual(self.asked("get", "orders", "settled", store=server.url)["state"],
                             state)
            self.asked("cancel", "orders", "settled", store=server.url)

    def work(self, text, server, first):
        path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
        with subprocess.Popen(["bash", "-c", "exec " + text], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, cwd=self.directory,
                              env=environment(PATH=path, TARRY_STORE=server.url)) as worker:
            self.assertEqual(worker.stdout.readline(), first)
            worker.send_signal(signal.SIGINT)
            self.assertEqual(worker.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
