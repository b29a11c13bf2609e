#!/usr/bin/env python3
"""The console: in a real Chromium (web/test/console.mjs), and as a stranger would attack it."""

import base64
import http.client
import json
import shutil
import signal
import subprocess
import sys
import time
import unittest

from console_browser import WEB, Browser, ask, push
from kept import run
from program import PROGRAM, SOURCE, ProgramTest, Server, environment

sys.path.insert(0, str(SOURCE / "clients/conformance"))
import servers  # pylint: disable=wrong-import-position

CHECKED = ("package.json", "package-lock.json", "tsconfig.json", "eslint.config.mjs",
           ".prettierrc.json", ".prettierignore", "build.mjs")


class Tokens:
    """A tokens file."""

    def __init__(self, directory):
        self.path = directory / "tokens"
        self.secrets = {}

    def add(self, name, scopes, queues="*"):
        """A new token; returns its secret."""
        made = subprocess.run(
            [PROGRAM, "token", "new", name, "--scopes", scopes, "--queues", queues,
             "--tokens-file", self.path], env=environment(), capture_output=True, check=True)
        return made.stdout.decode().strip()

    def remove(self, name):
        """Takes a token back; SIGHUP tells the server."""
        kept = [line for line in self.path.read_text().splitlines(True)
                if line.split()[:1] != [name]]
        self.path.write_text("".join(kept))


def fill(server, **fields):
    """What the browser finds."""
    push(server, "orders", [{"key": f"order:{n}", "payload": "close it", "delay": f"{n * 3 + 1}m"}
                            for n in range(40)], **fields)
    push(server, "orders", [{"key": f"campaign:{n}", "payload": "", "delay": "9h"}
                            for n in range(1100)], **fields)
    push(server, "hostile", [
        {"key": "<img src=x onerror=alert(1)>", "delay": "1h",
         "payload": json.dumps({"html": "<script>alert(2)</script>"}),
         "headers": {"x-note": "<b onmouseover=alert(4)>"}},
        {"key": "invoice\u202egnp.exe", "payload": "\u202e\u0007", "delay": "1h"},
        {"key_base64": base64.b64encode(b"\x00\xff\xfe").decode(), "delay": "1h",
         "payload_base64": base64.b64encode(bytes([0, 255] * 40)).decode()},
        {"key": "large", "payload": "x" * 1_000_000, "delay": "1h"},
        {"key": "deep", "payload": "[" * 3000 + "]" * 3000, "delay": "1h"}], **fields)
    push(server, "spans", [{"key": f"span:{n}", "delay": f"{12 + n}m"} for n in range(5)], **fields)
    round_ms = (int(time.time()) // 60 + 20) * 60_000
    push(server, "edges", [{"key": "before", "due_ms": round_ms - 1},
                           {"key": "at", "due_ms": round_ms}], **fields)
    ask(server, "POST", "/v1/queues/nobody/cancel", {"keys": [f"{n}" for n in range(60)]},
        **fields)
    push(server, "mails", [{"key": f"mail:{n}", "payload": "hello"} for n in range(4)], **fields)
    _, _, claimed = ask(server, "POST", "/v1/claim", {"queues": ["mails"], "max": 4}, **fields)
    buried = [{"receipt": one["receipt"], "action": "bury",
               "reason": "connection refused" if n else "<u>no such mailbox</u>"}
              for n, one in enumerate(json.loads(claimed)["messages"])]
    ask(server, "POST", "/v1/settle", {"items": buried}, **fields)
    for name, when in (("nightly", {"when": "0 3 * * *", "zone": "Europe/Berlin"}),
                       ("hourly", {"when": "every 1h"})):
        status, _, answer = ask(server, "PUT", f"/v1/schedules/{name}",
                                when | {"queue": "reports", "payload": "<i>report</i>"}, **fields)
        if status != 200:
            raise AssertionError(answer)


class InTheBrowser(Browser):
    """Each screen and act, in one browser."""

    def test_the_sources_are_well_typed_and_tidy(self):
        with_modules = self.modules()
        work = self.directory / "web"
        work.mkdir()
        for name in CHECKED:
            shutil.copy(WEB / name, work)
        shutil.copytree(WEB / "src", work / "src")
        shutil.copytree(WEB / "test", work / "test")
        (work / "node_modules").symlink_to(with_modules / "node_modules")
        run("npm", "run", "--silent", "check", cwd=work)

    def test_every_screen(self):
        script = self.script("console.mjs")
        tokens = Tokens(self.directory)
        admin = tokens.add("admin", "read,push,consume,admin")
        reader = tokens.add("reader", "read")
        bearer = {"Authorization": f"Bearer {admin}"}
        flags = ("--tokens-file", str(tokens.path),
                 "--audit-log", str(self.directory / "audit.jsonl"))
        redis = servers.Redis()
        self.addCleanup(redis.close)
        with Server(redis.store()) as open_server:
            push(open_server, "orders", [{"key": "order:1", "payload": "x", "delay": "1h"}])
            for n in range(210):
                push(open_server, f"shop.{n}", [{"delay": "1h"}])
            server = Server(self.store, *flags)
            port = server.port
            try:
                fill(server, **bearer)
                where = {"chromium": shutil.which("chromium"),
                         "file": {"url": server.url, "admin": admin, "reader": reader},
                         "redis": {"url": open_server.url}}
                with subprocess.Popen(["node", script], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True) as browser:
                    def tell(text):
                        browser.stdin.write(text + "\n")
                        browser.stdin.flush()

                    tell(json.dumps(where))
                    told = ""
                    for line in browser.stdout:
                        told += line
                        print(line, end="", flush=True)
                        if line == "demand stop\n":
                            server.stop()
                        elif line == "demand start\n":
                            server = Server(self.store, "--listen", f"127.0.0.1:{port}", *flags)
                        elif line == "demand revoke\n":
                            tokens.remove("reader")
                            server.process.send_signal(signal.SIGHUP)
                        else:
                            continue
                        tell("done")
                    self.assertEqual(browser.wait(timeout=60), 0, told)
            finally:
                server.stop()


class Attacks(ProgramTest):
    """By plain HTTP, on a server with tokens."""

    def setUp(self):
        super().setUp()
        self.tokens = Tokens(self.directory)
        self.admin = self.tokens.add("admin", "read,push,consume,admin")
        self.reader = self.tokens.add("reader", "read", "orders.*")
        self.server = Server(self.store, "--tokens-file", str(self.tokens.path))
        self.addCleanup(self.server.stop)

    def log_in(self, token, **fields):
        """The cookie of a new session."""
        status, headers, body = ask(self.server, "POST", "/console/login", {"token": token},
                                    X_Tarry_Console="1", **fields)
        self.assertEqual(status, 200, body)
        return headers["Set-Cookie"].partition(";")[0]

    def status(self, method, path, body=None, **fields):
        return ask(self.server, method, path, body, **fields)[0]

    def test_the_page_is_in_no_frame_and_runs_no_other_script(self):
        status, headers, body = ask(self.server, "GET", "/console", Accept_Encoding="gzip")
        self.assertEqual(status, 200, body)
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("frame-ancestors 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(headers["X-Frame-Options"], "DENY")
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(self.status("GET", "/console/", Accept_Encoding="gzip"), 200)
        self.assertEqual(self.status("GET", "/console"), 406)
        for path in ("/console/assets/nothing.js", "/console/assets/index.html",
                     "/console/assets/..%2findex.html"):
            self.assertEqual(self.status("GET", path, Accept_Encoding="gzip"), 404, path)

    def test_a_session_needs_a_token_and_begins_anew_with_each(self):
        self.assertEqual(self.status("GET", "/console/session"), 401)
        for token in ("", "wrong", self.admin + "x"):
            self.assertEqual(self.status("POST", "/console/login", {"token": token},
                                         X_Tarry_Console="1"), 401, token)
        planted = "tarry_session=" + "0" * 64
        cookie = self.log_in(self.admin, Cookie=planted)
        self.assertNotEqual(cookie, planted)
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=planted), 401)
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=cookie), 200)
        again = self.log_in(self.admin, Cookie=cookie)
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=cookie), 401)
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=f"{again}; {planted}"), 401)
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=f"a=b; {again}"), 200)

    def test_the_cookie_keeps_to_itself(self):
        _, headers, _ = ask(self.server, "POST", "/console/login", {"token": self.admin},
                            X_Tarry_Console="1")
        self.assertIn("HttpOnly", headers["Set-Cookie"])
        self.assertIn("SameSite=Strict", headers["Set-Cookie"])

    def test_no_foreign_page_acts_by_the_cookie(self):
        cookie = self.log_in(self.admin)
        path = "/v1/queues/orders.eu/messages"
        message = {"payload": "x"}
        self.assertEqual(self.status("POST", path, message, Cookie=cookie), 403)
        self.assertEqual(self.status("POST", path, message, Cookie=cookie, X_Tarry_Console="1",
                                     Origin="http://evil.example"), 403)
        self.assertEqual(self.status("POST", path, message, Cookie=cookie, X_Tarry_Console="1",
                                     Host="evil.example"), 421)
        self.assertEqual(self.status("POST", path, message, Cookie=cookie, X_Tarry_Console="1",
                                     Content_Type="text/plain"), 415)
        # A page on another port of the same host gets the cookie sent, and its GET has no Origin.
        for site in ("same-site", "cross-site"):
            for one in ("/v1/stats", "/console/events", "/console/session"):
                self.assertEqual(self.status("GET", one, Cookie=cookie, Sec_Fetch_Site=site), 403)
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=cookie, Sec_Fetch_Site="none"), 200)
        self.assertEqual(self.status("DELETE", "/console/session", Cookie=cookie), 403)
        self.assertEqual(self.status("POST", "/console/login", {"token": self.admin}), 403)
        self.assertEqual(self.status("POST", path, message, Cookie=cookie, X_Tarry_Console="1",
                                     Origin=self.server.url), 200)

    def test_a_session_may_do_what_its_token_may(self):
        cookie = self.log_in(self.reader)
        acts = {"Cookie": cookie, "X_Tarry_Console": "1"}
        self.assertEqual(self.status("POST", "/v1/queues/orders.eu/pause", {}, **acts), 403)
        self.assertEqual(self.status("POST", "/v1/queues/orders.eu/messages", {}, **acts), 403)
        self.assertEqual(self.status("GET", "/v1/queues/mails/messages", **acts), 403)
        bearer = {"Authorization": f"Bearer {self.admin}"}
        push(self.server, "mails", [{"payload": "x"}], **bearer)
        push(self.server, "orders.eu", [{"payload": "x"}], **bearer)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request("GET", "/console/events", headers={"Cookie": cookie})
        answer = connection.getresponse()
        event = json.loads(answer.readline().decode().removeprefix("data: "))
        self.assertEqual([one["queue"] for one in event["queues"]], ["orders.eu"])
        self.assertEqual(event["store"]["disk_bytes"], 0)
        # The stream ends with the token.
        self.tokens.remove("reader")
        self.server.process.send_signal(signal.SIGHUP)
        while answer.readline():
            pass
        connection.close()
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=cookie), 401)

    def test_a_logout_ends_the_session_and_its_stream(self):
        cookie = self.log_in(self.admin)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request("GET", "/console/events", headers={"Cookie": cookie})
        answer = connection.getresponse()
        self.assertTrue(answer.readline().startswith(b"data: {"))
        self.assertEqual(self.status("DELETE", "/console/session", Cookie=cookie,
                                     X_Tarry_Console="1"), 200)
        while answer.readline():
            pass
        connection.close()
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=cookie), 401)

    def test_only_an_administrator_of_all_sees_sessions_and_ends_them(self):
        reader = {"Cookie": self.log_in(self.reader), "X_Tarry_Console": "1"}
        admin = {"Cookie": self.log_in(self.admin), "X_Tarry_Console": "1"}
        for path in ("/v1/sessions", "/v1/clients", "/v1/audit"):
            self.assertEqual(self.status("GET", path, **reader), 403, path)
        text = ask(self.server, "GET", "/v1/sessions", **admin)[2].decode()
        sessions = {one["identity"]: one for one in json.loads(text)["sessions"]}
        self.assertEqual({name: one["own"] for name, one in sessions.items()},
                         {"reader": False, "admin": True})
        for cookie in (reader["Cookie"], admin["Cookie"]):
            self.assertNotIn(cookie.partition("=")[2], text)
        # An id that was seen is no cookie, and lets nobody in.
        seen = sessions["admin"]["id"]
        self.assertEqual(self.status("GET", "/v1/stats", Cookie=f"tarry_session={seen}"), 401)
        self.assertEqual(self.status("DELETE", f"/v1/sessions/{seen}", **reader), 403)
        for wrong in ("x", seen[:8], seen + "0", seen.upper() + "%00", "%2e%2e"):
            self.assertEqual(self.status("DELETE", f"/v1/sessions/{wrong}", **admin), 404, wrong)
        path = f"/v1/sessions/{sessions['reader']['id']}"
        self.assertEqual(self.status("DELETE", path, Cookie=admin["Cookie"]), 403)
        self.assertEqual(self.status("DELETE", path, **admin), 200)
        self.assertEqual(self.status("DELETE", path, **admin), 404)
        self.assertEqual(self.status("GET", "/v1/stats", **reader), 401)
        self.assertEqual(self.status("DELETE", f"/v1/sessions/{seen}", **admin), 200)
        self.assertEqual(self.status("GET", "/v1/stats", **admin), 401)

    def test_guesses_are_slowed_down(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        answers = []
        for _ in range(260):
            connection.request("POST", "/console/login", '{"token": "guess"}',
                               {"Content-Type": "application/json", "X-Tarry-Console": "1"})
            answer = connection.getresponse()
            answer.read()
            answers.append(answer.status)
        connection.close()
        self.assertEqual(set(answers), {401, 429})


if __name__ == "__main__":
    unittest.main()
