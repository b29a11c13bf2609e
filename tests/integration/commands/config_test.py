#!/usr/bin/env python3
"""tarry.toml, the environment and flags: which value wins, where it came from, and which values are
refused.
"""

import json
import re
import signal
import subprocess
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from pages import blocks
from program import (DONE, PROGRAM, SOURCE, USAGE, ProgramTest, Server, environment,
                     eventually)


def checked(*arguments, **variables):
    """Runs `tarry config check`. Returns its JSON, with the settings by name."""
    finished = subprocess.run([PROGRAM, "-o", "json", "config", "check", *arguments],
                              capture_output=True, text=True, env=environment(**variables),
                              check=False)
    if finished.returncode != 0:
        raise AssertionError(finished.stderr)
    answer = json.loads(finished.stdout)
    return {one["name"]: one for one in answer["settings"]}, answer["queues"]


def check(*arguments):
    return subprocess.run([PROGRAM, "config", "check", *arguments], capture_output=True, text=True,
                          env=environment(), check=False)


def refused(*arguments, command=("config", "check"), **variables):
    """The lines on standard error of a command that must be refused."""
    finished = subprocess.run([PROGRAM, *command, *arguments], capture_output=True, text=True,
                              env=environment(**variables), check=False)
    if finished.returncode != USAGE:
        raise AssertionError(f"{finished.returncode}: {finished.stdout}{finished.stderr}")
    return finished.stderr.splitlines()


def queue_settings(server, queue):
    with urllib.request.urlopen(f"{server.url}/v1/queues/{queue}", timeout=30) as answer:
        return json.loads(answer.read())["settings"]


class Config(ProgramTest):
    def write(self, text, name="tarry.toml"):
        path = self.directory / name
        path.write_text(text)
        return str(path)

    # One value for each setting, none of them the default.
    VALUES = {
        "store.url": ("memory:", "memory:?shards=2", "memory:?shards=3"),
        "store.wait": ("1s", "2s", "3s"),
        "server.listen": ("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"),
        "server.sqs": ("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"),
        "server.beanstalk": ("127.0.0.1:4", "127.0.0.1:5", "127.0.0.1:6"),
        "server.names": ("a.example", "b.example,[2001:db8::1]", "c_1"),
        "server.insecure": ("true", "true", "true"),
        "server.port_file": ("a", "b", "c"),
        "server.token_file": ("a", "b", "c"),
        "server.tokens_file": ("a", "b", "c"),
        "server.audit_log": ("a", "b", "c"),
        "server.test_clock": ("true", "true", "true"),
        "server.max_connections": ("11", "12", "13"),
        "server.max_body": ("2MiB", "3MiB", "4MiB"),
        "server.max_held": ("2MiB", "3MiB", "4MiB"),
        "server.idle_timeout": ("2s", "3s", "4s"),
        "server.drain_timeout": ("2s", "3s", "4s"),
        "limits.connections_per_peer": ("11", "12", "13"),
        "limits.connections_per_token": ("11", "12", "13"),
        "limits.held_per_peer": ("2MiB", "3MiB", "4MiB"),
        "limits.held_per_token": ("2MiB", "3MiB", "4MiB"),
        "limits.requests": ("11", "12", "13"),
        "limits.requests_per_peer": ("11", "12", "13"),
        "limits.requests_per_token": ("11", "12", "13"),
        "limits.waiting_claims": ("11", "12", "13"),
        "limits.waiting_claims_per_peer": ("11", "12", "13"),
        "limits.waiting_claims_per_token": ("11", "12", "13"),
        "tls.cert": ("a", "b", "c"),
        "tls.key": ("a", "b", "c"),
        "tls.passphrase_file": ("a", "b", "c"),
        "tls.client_ca": ("a", "b", "c"),
        "sqs.keys_file": ("a", "b", "c"),
        "sqs.strict": ("true", "true", "true"),
        "sqs.on_http": ("true", "true", "true"),
        "schedules.revision": ("1", "2", "3"),
        "log.level": ("debug", "warning", "error"),
        "log.format": ("json", "json", "json"),
    }

    def test_flags_go_before_the_environment_before_the_file_before_the_default(self):
        settings, _ = checked()
        self.assertEqual(set(settings), set(self.VALUES))
        for name, (written, exported, flag) in self.VALUES.items():
            with self.subTest(name):
                setting = settings[name]
                self.assertEqual(setting.get("from", "default"), "default")
                self.assertEqual(setting.get("value", ""), setting["default"])
                section, key = name.split(".")
                plain = written.isdigit() or name.endswith(
                    ("clock", "insecure", "strict", "on_http"))
                literal = written if plain else f'"{written}"'
                file = self.write(f"\n[{section}]\n\n{key} = {literal}\n")
                variables = {setting["environment"]: exported}
                flags = [setting["flag"]] + ([] if flag == "true" else [flag])
                held, _ = checked("--config", file)
                self.assertEqual((held[name]["value"], held[name]["from"]), (written, f"{file}:4"))
                held, _ = checked("--config", file, **variables)
                self.assertEqual((held[name]["value"], held[name]["from"]),
                                 (exported, f"environment {setting['environment']}"))
                held, _ = checked("--config", file, *flags, **variables)
                self.assertEqual((held[name]["value"], held[name]["from"]),
                                 (flag, f"flag {setting['flag']}"))
                held, _ = checked(TARRY_CONFIG=file, **{setting["environment"]: ""})
                self.assertEqual(held[name]["value"], written)

    def test_a_server_goes_by_the_file_that_the_environment_names(self):
        port_file = self.directory / "port"
        file = self.write(f'[store]\nurl = "{self.store}"\n'
                          f'[server]\nlisten = "127.0.0.1:0"\nport_file = "{port_file}"\n')
        with subprocess.Popen([PROGRAM, "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=environment(TARRY_CONFIG=file)) as process:
            ready = process.stdout.readline()
            process.terminate()
            error = process.stderr.read()
        self.assertIn(self.store, ready, error)
        self.assertIn(f"127.0.0.1:{port_file.read_text().strip()}", ready)
        self.assertEqual(process.returncode, DONE, error)

    def test_the_reference_has_every_setting_and_no_other(self):
        rows = {}
        for line in Path(SOURCE, "docs/reference/config.md").read_text().splitlines():
            found = re.match(r"^\| `(\w+\.\w+)` \| `(--[a-z-]+)` \| `(TARRY_\w+)` "
                             r"\|(?: `(.*?)`)? \| ?(yes)? ?\|", line)
            if found:
                rows[found[1]] = (found[2], found[3], found[4] or "", bool(found[5]))
        settings, _ = checked()
        self.assertEqual(rows, {name: (one["flag"], one["environment"], one["default"],
                                       one["reloads"])
                                for name, one in settings.items()})
        serve = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True,
                               env=environment(), check=True).stdout
        flags = set(re.findall(r"^  (--[a-z-]+)", serve, re.MULTILINE))
        self.assertEqual(flags | {"--store"},
                         {one["flag"] for one in settings.values()} | {"--config", "--store"})

    def test_the_references_example_is_what_the_program_says(self):
        written = blocks("docs/reference/config.md")
        self.write(next(text for _, language, text in written if language == "toml"))
        said, = [text for mark, _, text in written if mark == "config check"]
        command, shown = said.removeprefix("$ ").split("\n", 1)
        finished = subprocess.run(
            ["bash", "-c", command.replace("tarry config", f"'{PROGRAM}' config")],
            capture_output=True, text=True, env=environment(), cwd=self.directory, check=True)
        self.assertEqual([line.rstrip() for line in finished.stdout.splitlines()],
                         shown.splitlines())

    def test_what_is_wrong_is_named_with_its_line_all_at_once(self):
        file = self.write(
            '[store]\nurl = 5\n[sever]\n[server]\nlisen = "a"\nmax_body = "1B"\n'
            'max_connections = 0\nidle_timeout = 5\ntest_clock = "yes"\n'
            '[queue."a*b"]\n[queue."a.*"]\nlease = "8d"\nif_exists = "kep"\n')
        self.assertEqual(refused("--config", file), [f"tarry: {file}:{line}" for line in (
            "2: store.url must be a text, not a whole number",
            '3: unknown section "sever"; did you mean "server"?',
            '5: unknown key "lisen" in [server]; did you mean "listen"?',
            "6: server.max_body: 1B is not from 1024 to 1073741824 bytes",
            "7: server.max_connections: 0 is not from 1 to 1000000",
            '8: server.idle_timeout must be a text, a duration as "30s", not a whole number',
            "9: server.test_clock must be true or false, not a text",
            '10: queue."a*b": pattern "a*b" may have a * at its end only',
            '12: queue."a.*".lease: "8d" is not from 1ms to 7d',
            '13: queue."a.*".if_exists: "kep" is none of reject, keep, replace, earlier, later; '
            'did you mean "keep"?')])
        self.assertEqual(refused("--config", file, command=("serve",)),
                         refused("--config", file))

    def test_no_queue_is_made_of_a_step_within_a_path(self):
        file = self.write('[queue."."]\nlease = "1m"\n[[relay]]\nqueue = ".."\nto = "stdout"\n')
        lines = refused("--config", file)
        self.assertEqual(len(lines), 2, lines)
        self.assertIn(f'{file}:1: queue.".": queue name "." is a step within', "\n".join(lines))
        self.assertIn('queue name ".." is a step within a path', "\n".join(lines))

    def test_what_a_start_would_be_refused_for_is_found_before(self):
        file = self.write('[store]\nurl = "file:x?snyc=os"\n[server]\nlisten = "nonsense"\n')
        lines = refused("--config", file)
        self.assertEqual(len(lines), 2, lines)
        self.assertIn(f'tarry: {file}:2: store.url: option "snyc"', lines[0])
        self.assertIn('did you mean "sync"?', lines[0])
        self.assertEqual(lines[1], f'tarry: {file}:4: server.listen: address "nonsense" must be '
                                   'HOST:PORT, as 127.0.0.1:7733 or [::1]:7733, or unix:PATH')
        self.assertEqual(refused("--config", file, command=("serve",)), lines)
        self.assertIn('port "99999"', refused(TARRY_LISTEN="127.0.0.1:99999")[0])
        self.assertIn('flag --store: store URL "foo:bar"', refused("--store", "foo:bar")[0])
        file = self.write('[store]\nurl = "http://127.0.0.1:1"\n')
        self.assertIn(f"tarry: {file}:2: serve needs a store of its own",
                      refused("--config", file, command=("serve",))[0])

    def test_addresses_and_names_are_lists(self):
        file = self.write('[server]\nlisten = ["127.0.0.1:0", "[::1]:0", "unix:/run/t.sock"]\n'
                          'names = ["queue.example", "2001:DB8::1"]\n')
        held, _ = checked("--config", file)
        self.assertEqual(held["server.listen"]["value"], "127.0.0.1:0,[::1]:0,unix:/run/t.sock")
        self.assertEqual(held["server.names"]["value"], "queue.example,2001:DB8::1")
        held, _ = checked(TARRY_LISTEN="127.0.0.1:0, unix:x")
        self.assertEqual(held["server.listen"]["value"], "127.0.0.1:0, unix:x")

    def test_bad_addresses_and_names(self):
        for listen, says in (
                ("::1:7733", 'address "::1:7733" must have its IPv6 address in brackets'),
                ("[::1]", "must be HOST:PORT"), ("[::1:1", "brackets"),
                ("unix:", 'address "unix:" needs a path'), ("", "must not be empty"),
                ("127.0.0.1:0,", 'address "" must be HOST:PORT'),
                ("example:80", 'listen address "example" is not an IP address'),
                ("127.0.0.1:70000", 'port "70000"'),
                ("127.0.0.1:9,[::1]:9,127.0.0.1:9",
                 'address "127.0.0.1:9" takes the same port as "127.0.0.1:9"'),
                ("0.0.0.0:9,127.0.0.1:9",
                 'address "127.0.0.1:9" takes the same port as "0.0.0.0:9"'),
                ("[::1]:9,[::]:9", 'address "[::]:9" takes the same port as "[::1]:9"'),
                ("localhost:9,127.0.0.1:9", "takes the same port"),
                ("unix:/a/b,unix:/a/c/../b",
                 'address "unix:/a/b" takes the same path as "unix:/a/b"')):
            with self.subTest(listen):
                lines = refused("--listen", listen)
                self.assertEqual(len(lines), 1, lines)
                self.assertIn("--listen", lines[0])
                self.assertIn(says, lines[0])
        for names in ("queue.example:7733", "*.example", "a b", "", "a,", "[queue]", "http://a"):
            with self.subTest(names):
                lines = refused("--names", names)
                self.assertEqual(len(lines), 1, lines)
                self.assertIn("--names", lines[0])
        file = self.write('[server]\nlisten = []\nnames = ["a,b"]\ninsecure = "yes"\n')
        self.assertEqual(refused("--config", file), [f"tarry: {file}:{line}" for line in (
            "2: server.listen: must not be empty",
            '3: server.names: "a,b" must not contain a comma',
            "4: server.insecure must be true or false, not a text")])
        file = self.write('[server]\nlisten = ["127.0.0.1:1", 5]\nnames = 7\n')
        self.assertEqual(refused("--config", file), [f"tarry: {file}:{line}" for line in (
            "2: server.listen must be a list of texts, and holds a whole number",
            "3: server.names must be a text, not a whole number")])

    def test_what_serve_refuses_as_a_whole_is_said(self):
        """The file is not wrong: commands other than serve may read it."""
        said = "serve needs a store of its own"
        file = self.write('[store]\nurl = "http://127.0.0.1:1"\n')
        for flags in (("--config", file), ()):
            answer = check(*flags)
            self.assertEqual(answer.returncode, DONE, answer.stderr)
            self.assertIn("tarry serve refuses this: ", answer.stderr)
            self.assertIn(said, answer.stderr)
            self.assertIn(said, json.loads(check(*flags, "-o", "json").stdout)["refused"])
        answer = check("--store", "memory:")
        self.assertEqual((answer.returncode, answer.stderr), (DONE, ""))
        self.assertNotIn("refused", json.loads(check("--store", "memory:", "-o", "json").stdout))

    def test_bad_variables_flags_and_files(self):
        self.assertEqual(refused(TARRY_MAX_BODY="3"), [
            'tarry: environment TARRY_MAX_BODY: "3" is not from 1KiB to 1GiB'])
        self.assertEqual(refused(TARRY_TEST_CLOCK="on"), [
            'tarry: environment TARRY_TEST_CLOCK: "on" is neither true nor false'])
        self.assertIn('--max-connections: number "0"', refused("--max-connections", "0")[0])
        self.assertIn("--idle-timeout", refused("--idle-timeout", "5")[0])
        self.assertIn("absent.toml: cannot be read", refused("--config", "absent.toml")[0])
        self.assertIn("cannot be read", refused("--config", str(self.directory))[0])
        self.assertIn("takes a file", refused("--config", "")[0])
        broken = self.write("[a\n", "line\nbreak.toml")
        lines = refused("--config", broken)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("line\\nbreak.toml:1: ", lines[0])

    def test_mistyped_variables_are_named(self):
        said = ["TARRY_LISTN is set, but nothing reads it; did you mean TARRY_LISTEN?",
                "TARRY_LOG_LEVLE is set, but nothing reads it; did you mean TARRY_LOG_LEVEL?"]
        others = {"TARRY_SECRET": "x", "TARRY_KEY": "k", "TARRY_TOKEN": "t", "LISTN": "x"}
        mistyped = {"TARRY_LOG_LEVLE": "debug", "TARRY_LISTN": "127.0.0.1:1"}
        finished = subprocess.run(
            [PROGRAM, "config", "check", "--store", "memory:"], capture_output=True, text=True,
            env=environment(**mistyped, **others), check=True)
        self.assertEqual(finished.stderr.splitlines(), said)
        finished = subprocess.run(
            [PROGRAM, "config", "check", "-o", "json"], capture_output=True, text=True,
            env=environment(**mistyped, **others), check=True)
        self.assertEqual(json.loads(finished.stdout)["notes"], said)
        with Server("memory:", variables=mistyped) as server:
            for line in said:
                self.assertIn(line, server.log())

    def test_a_limit_that_one_body_may_pass_is_noted(self):
        flags = ("--max-held", "2MiB", "--max-body", "3MiB")
        said = ["server.max_held, 2MiB, is less than server.max_body, 3MiB: memory may exceed it "
                "by one request of that size"]
        self.assertEqual(check("--store", "memory:", *flags).stderr.splitlines(), said)
        self.assertEqual(json.loads(check(*flags, "-o", "json").stdout)["notes"], said)
        with Server("memory:", *flags) as server:
            self.assertIn(said[0], server.log())
        even = ("--max-held", "3MiB", "--max-body", "3MiB")
        self.assertEqual(check("--store", "memory:", *even).stderr, "")

    def test_no_url_of_a_relay_shows_a_secret(self):
        secret = "s3cret-s3cret-s3cret"
        webhook = "https://hooks.example/***#allow_private=yes"
        for number, (to, shown) in enumerate((
                (f"https://hooks.example/T0/{secret}?token={secret}#allow_private=yes", webhook),
                (f"https://hooks.example?token={secret}#allow_private=yes", webhook),
                ("https://hooks.example/#allow_private=yes",
                 "https://hooks.example#allow_private=yes"),
                ("https://hooks.example", "https://hooks.example"),
                (f"redis://ann:{secret}@127.0.0.1?list=due", "redis://***@127.0.0.1?list=due"),
                (f"amqp://ann:{secret}@127.0.0.1?exchange=x&routing_key=y",
                 "amqp://***@127.0.0.1?exchange=x&routing_key=y"))):
            with self.subTest(to):
                file = self.write('[store]\nurl = "memory:"\n[[relay]]\nname = "r"\n'
                                  f'queues = ["q"]\nto = "{to}"\n', name=f"{number}.toml")
                answer = self.asked("config", "check", "--config", file, store="")
                self.assertEqual(answer["relays"][0]["to"], shown)
                table = self.tarry("config", "check", "--config", file, store="")
                self.assertNotIn(secret, table.out + table.err)

    def test_secrets_are_masked(self):
        file = self.write('[store]\nurl = "redis://shop:hush@localhost/0"\n')
        for arguments in (["--config", file], ["--config", file, "-o", "json"]):
            finished = subprocess.run([PROGRAM, "config", "check", *arguments],
                                      capture_output=True, text=True, env=environment(),
                                      check=True)
            self.assertIn("redis://***@localhost/0", finished.stdout)
            self.assertNotIn("hush", finished.stdout + finished.stderr)


class Reload(ProgramTest):
    """The server reads its file again at SIGHUP."""

    FILE = ('[server]\nlisten = "127.0.0.1:0"\nmax_body = "2KiB"\n[log]\nlevel = "info"\n'
            '[queue."orders.*"]\nlease = "7s"\n')

    def setUp(self):
        super().setUp()
        self.file = self.directory / "tarry.toml"
        self.file.write_text(self.FILE)

    def reload(self, server, text, said):
        """Makes the server read `text`. Returns its log as soon as it contains `said`."""
        self.file.write_text(text)
        before = len(server.log())
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: said in server.log()[before:], said)
        return server.log()[before:]

    def push(self, server, size):
        """The status of a push whose body has that size."""
        request = urllib.request.Request(
            f"{server.url}/v1/queues/orders.eu/messages",
            json.dumps({"payload": "x" * size}).encode(), {"Content-Type": "application/json"})
        return self.status(request)

    @staticmethod
    def status(request):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_what_can_change_does_and_what_cannot_is_named(self):
        with Server(self.store, "--config", str(self.file), "--max-held", "2MiB") as server:
            self.assertEqual(self.push(server, 10), 200)
            self.assertEqual(self.push(server, 3000), 413)
            log = self.reload(
                server,
                '[store]\nurl = "redis://a:hush@b"\n[server]\nlisten = "127.0.0.1:1"\n'
                'max_body = "1MiB"\nport_file = "other"\ntest_clock = true\n'
                'max_held = "3MiB"\nmax_connections = 77\nidle_timeout = "9s"\n'
                'drain_timeout = "8s"\n[log]\nlevel = "debug"\nformat = "json"\n'
                '[queue."orders.*"]\nlease = "9s"\nremember = "1m"\n'
                '[queue."new"]\nlease = "5s"\n', "reloaded")
            for line in ("max_body is now 1MiB, it was 2KiB", "max_connections is now 77",
                         "idle_timeout is now 9s", "drain_timeout is now 8s",
                         "log.level is now debug, it was info",
                         "test_clock stays false: the change to true needs a restart",
                         "log.format stays text: the change to json needs a restart",
                         'queue "orders.eu": has the settings'):
                self.assertIn(line, log)
            # Flags win over the file, after the reload as before.
            for name in ("listen", "port_file", "max_held", "store.url", "hush"):
                self.assertNotIn(name, log)
            self.assertEqual(self.push(server, 3000), 200)
            settings = queue_settings(server, "orders.eu")
            self.assertEqual((settings["lease_ms"], settings["remember_ms"]), (9000, 60000))
            self.asked("push", "new", "x", store=server.url)
            self.assertEqual(queue_settings(server, "new")["lease_ms"], 5000)
            eventually(lambda: re.search(r"debug\S* request \S+ POST /v1/queues/\*/messages: 200 ",
                                         server.log()), "a request is logged")

    def test_a_bad_file_leaves_everything_as_it_was(self):
        with Server(self.store, "--config", str(self.file)) as server:
            self.asked("push", "orders.eu", "x", store=server.url)
            bad = self.FILE.replace("2KiB", "1MiB").replace("7s", "9s")
            for text in (bad + "leas = 1\nlese = 2\n", "[a\n"):
                log = self.reload(server, text, "not reloaded")
                self.assertEqual(len(log.splitlines()), 1, log)
                self.assertRegex(log, r"error\S* not reloaded, everything stays as it was: "
                                      r".*toml:\d+: ")
            self.file.unlink()
            self.assertIn("cannot be read", self.reload_without_file(server))
            self.assertEqual(self.push(server, 3000), 413)
            self.assertEqual(queue_settings(server, "orders.eu")["lease_ms"], 7000)
            # The server goes on.
            self.reload(server, bad, "reloaded \"")
            self.assertEqual(self.push(server, 3000), 200)

    def test_a_token_is_replaced_in_its_file(self):
        token_file = self.directory / "token"
        token_file.write_text("first-token-1-of-16\n")
        with Server(self.store, "--config", str(self.file), "--token-file",
                    str(token_file)) as server:
            def status(token):
                return self.status(urllib.request.Request(
                    f"{server.url}/v1/queues", headers={"Authorization": f"Bearer {token}"}))

            token_file.write_text("second-token-2-of-16\n")
            self.assertEqual((status("first-token-1-of-16"), status("second-token-2-of-16")),
                             (200, 401))
            log = self.reload(server, self.FILE, "reloaded")
            self.assertNotIn("token-2", log)
            self.assertIn("the token has changed", log)
            self.assertEqual((status("first-token-1-of-16"), status("second-token-2-of-16")),
                             (401, 200))
            token_file.write_text("\n")
            self.assertIn("token-file", self.reload(server, self.FILE, "not reloaded"))
            self.assertEqual(status("second-token-2-of-16"), 200)

    def reload_without_file(self, server):
        before = len(server.log())
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: "\n" in server.log()[before:], "a line")
        return server.log()[before:]


class Logs(ProgramTest):
    """The log lines of requests: they contain ids, but never keys or payloads."""

    def log_of_serve(self, *flags):
        with Server(self.store, *flags) as server:
            for path, body in (("/v1/queues/secretqueue/messages",
                                {"key": "secretkey", "payload": "secretpayload"}),
                               ("/nowhere", {})):
                request = urllib.request.Request(
                    server.url + path, json.dumps(body).encode(),
                    {"Content-Type": "application/json", "X-Request-ID": "mine-1"})
                try:
                    urllib.request.urlopen(request, timeout=30).close()
                except urllib.error.HTTPError as error:
                    error.close()
            server.process.terminate()
            server.process.wait(timeout=60)
            return server.log()

    def test_requests_by_their_ids_and_nothing_of_what_was_in_them(self):
        log = self.log_of_serve("--log-level", "debug")
        self.assertRegex(log, r"debug\S* request mine-1 POST /v1/queues/\*/messages: 200 after "
                              r"\d+ us\n")
        self.assertRegex(log, r"debug\S* request mine-1 POST none: 404 after \d+ us\n")
        self.assertNotIn("secret", log)
        self.assertNotIn("request", self.log_of_serve())

    def test_lines_of_json(self):
        lines = [json.loads(line) for line in
                 self.log_of_serve("--log-level", "debug", "--log-format", "json").splitlines()]
        request, = [line for line in lines if line.get("status") == 200]
        self.assertEqual((request["request_id"], request["route"], request["method"]),
                         ("mine-1", "/v1/queues/*/messages", "POST"))
        self.assertEqual({line["level"] for line in lines}, {"debug", "info"})
        self.assertEqual(lines[-1]["message"], "stopped")
        self.assertNotIn("secret", str(lines))


class Queues(ProgramTest):
    """Sections [queue."..."] in the file are put in place."""

    def serve(self, text):
        path = self.directory / "tarry.toml"
        path.write_text(text)
        return Server(self.store, "--config", str(path))

    def test_a_queue_is_made_with_its_settings(self):
        with self.serve('[queue."*"]\nlease = "7s"\n[queue."orders.*"]\nmax_attempts = 3\n'
                        '[queue."orders.eu"]\nlease = "9s"\n') as server:
            for queue, lease, attempts in (("a", 7000, 10), ("orders.us", 7000, 3),
                                           ("orders.eu", 9000, 3)):
                self.asked("push", queue, "x", store=server.url)
                settings = queue_settings(server, queue)
                self.assertEqual((settings["lease_ms"], settings["max_attempts"]),
                                 (lease, attempts), queue)

    def test_every_key_is_put_in_place(self):
        # None of these values is a queue's default.
        keys = {"lease": "7s", "max_attempts": 3, "backoff_min": "2s", "backoff_max": "5m",
                "dead_keep": "2d", "remember": "3m", "if_exists": "keep"}
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        with self.serve(f'[queue."orders"]\n{text}') as server:
            def push(payload):
                return self.asked("push", "orders", payload, "--key", "k", "--in", "1h",
                                  store=server.url)["outcome"]

            self.assertEqual(push("first"), "pushed")
            self.assertEqual(queue_settings(server, "orders"), {
                "lease_ms": 7_000, "max_attempts": 3, "backoff_min_ms": 2_000,
                "backoff_max_ms": 300_000, "dead_keep_ms": 172_800_000, "remember_ms": 180_000,
                "if_exists": "keep"})
            self.assertEqual(push("second"), "kept")
            self.assertEqual(self.asked("get", "orders", "k", store=server.url)["payload"],
                             "first")

    def test_the_hand_wins_until_the_next_start(self):
        file = '[queue."orders.*"]\nlease = "7s"\n'
        with Server(self.store) as server:
            self.asked("push", "orders.old", "x", store=server.url)
        with self.serve(file) as server:
            self.assertEqual(queue_settings(server, "orders.old")["lease_ms"], 7000)
            self.assertIn('queue "orders.old": has the settings', server.log())
            for queue in ("orders.old", "orders.new"):
                body = json.dumps({"lease": "11s", "max_attempts": 2}).encode()
                request = urllib.request.Request(f"{server.url}/v1/queues/{queue}", body,
                                                 {"Content-Type": "application/json"},
                                                 method="PUT")
                urllib.request.urlopen(request, timeout=30).close()
                self.asked("push", queue, "x", store=server.url)
                self.assertEqual(queue_settings(server, queue)["lease_ms"], 11000)
        with self.serve(file) as server:
            for queue in ("orders.old", "orders.new"):
                settings = queue_settings(server, queue)
                self.assertEqual((settings["lease_ms"], settings["max_attempts"]), (7000, 2))


if __name__ == "__main__":
    unittest.main()
