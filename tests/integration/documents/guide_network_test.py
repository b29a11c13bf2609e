#!/usr/bin/env python3
"""docs/guide/network.md: every command and configuration of the page is run."""

import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from authority import Authority
from guide import GuideTest
from pages import blocks, page
from program import PROGRAM, Server, eventually

PROMETHEUS = shutil.which("prometheus")


class Network(GuideTest):
    """The server's files are in `etc` and `root`; the shop's home is `shop.example`."""

    PAGE = "docs/guide/network.md"

    def setUp(self):
        super().setUp()
        here = self.directory
        self.shop = here / "shop.example"
        for folder in (here / "etc", here / "root", here / "run", self.shop,
                       here / "prometheus.example", here / "etc/prometheus"):
            folder.mkdir()
        self.shown = {
            "/etc/": f"{here}/etc/", "/root/": f"{here}/root/", "/run/tarry/": f"{here}/run/",
            "/var/lib/": f"{here}/", "-o tarry -g tarry": f"-o {os.getuid()} -g {os.getgid()}",
            "chown prometheus ": f"chown {os.getuid()} ", "0.0.0.0:7733": "127.0.0.1:0",
            "queue.example": "localhost", "192.0.2.7": "127.0.0.1",
            "build/release/examples/": f"{Path(PROGRAM).parent}/examples/",
        }
        self.etc = here / "etc/tarry"

    def make(self, *more):
        """Steps 1 to 3, with these further settings; returns the server."""
        self.shell(self.block("network authority"))
        self.shell(self.block("network server"))
        self.shell(self.block("network tokens"))
        text = self.block("network config") + "".join(more)
        (self.directory / "etc/tarry.toml").write_text(text, encoding="utf-8")
        store = f"file:{self.directory}/tarry"
        server = Server(store, "--config", str(self.directory / "etc/tarry.toml"), listen=())
        self.addCleanup(server.stop)
        self.shown[":7733"] = f":{server.port}"
        self.assertNotIn("warning", server.log())
        return server

    def connect(self, server):
        """Step 4; returns the texts that set up a shell on the other machine."""
        self.shell(self.block("network copy"))
        (self.shop / "tarry/env").write_text(self.block("network env"))
        self.assertTrue(server.ready)
        return ". ~/tarry/env"

    def push(self, env, key):
        self.shell(env, f"tarry push orders x --key {key}", home=self.shop)

    def check_private(self):
        here, authority = self.directory, self.etc / "authority"
        self.assertEqual(os.stat(authority).st_mode & 0o777, 0o700)
        self.private(authority / "ca.key", authority / "server.key", self.etc / "server.key",
                     self.etc / "tokens", here / "root/admin.token")
        for path in self.directory.rglob("*.key"):
            self.private(path)
        for path in self.directory.rglob("*.token"):
            self.private(path)

    def test_every_block_is_run(self):
        """The names in the tests below are those of the page."""
        source = Path(__file__).read_text(encoding="utf-8")
        for mark, language, text in blocks(self.PAGE):
            self.assertTrue(mark.startswith("network "), f"{language} {text}")
            self.assertRegex(source, f"""['"]{mark}['"]""")

    def test_two_machines(self):
        server = self.make()
        out = self.shell(self.block("network start"))
        self.assertIn("ready", out)
        self.assertEqual((self.directory / "systemctl").read_text(), "restart\n")
        env = self.connect(server)
        self.check_private()
        out = self.shell(env, self.block("network command line"), home=self.shop)
        self.assertIn("pushed", out)
        out = self.shell(env, self.block("network curl"), home=self.shop)
        self.assertIn('"outcome":"pushed"', out)
        self.private(self.shop / "tarry/shop.header")
        out = self.shell(env, self.block("network cpp"), home=self.shop)
        self.assertIn("order:42: a lamp", out)
        out = self.shell(self.block("network look"), home=self.shop)
        self.assertIn("DNS:localhost, IP Address:127.0.0.1", out)
        self.relay(env)

    def relay(self, env):
        got = []

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                got.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format, *args):  # pylint: disable=redefined-builtin
                pass

        receiver = http.server.HTTPServer(("127.0.0.1", 0), Hook)
        thread = threading.Thread(target=receiver.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(receiver.shutdown)
        self.shown["127.0.0.1:8000"] = f"127.0.0.1:{receiver.server_port}"
        relay = self.start("bash", "-c", f"{env}; exec {self.block('network relay')}",
                           home=self.shop)
        self.shell(env, 'tarry push orders "for the relay"', home=self.shop)
        eventually(lambda: got == [b"for the relay"], "the relay has called it")
        self.end(relay)

    def test_client_certificates(self):
        server = self.make(self.block("network client ca"))
        env = self.connect(server)
        said = self.shell(env, "tarry stats", home=self.shop, code=None)
        self.told(said, "demands a client's certificate")
        self.shell(self.block("network client"))
        self.check_private()
        self.shell(env, self.block("network curl").partition("curl ")[0], home=self.shop)
        block = self.block("network client env")
        self.push(block.partition("tarry health")[0], "order:1")
        out = self.shell(block, home=self.shop)
        self.assertIn("ready", out)
        self.assertIn('"queue":"orders"', out)

    def certificate(self, server):
        """The SHA-256 of the certificate that the server presents."""
        done = subprocess.run(
            f"openssl s_client -connect localhost:{server.port} < /dev/null 2> /dev/null | "
            "openssl x509 -noout -fingerprint -sha256", shell=True, capture_output=True,
            text=True, timeout=60, check=True)
        return done.stdout

    def test_rotation_of_certificates(self):
        server = self.make(self.block("network client ca"))
        self.connect(server)
        self.shell(self.block("network client"))
        env = self.block("network client env").partition("tarry health")[0]
        self.push(env, "before")
        self.shell(self.block("network check end"))
        expiring = re.sub("2592000", str(366 * 86_400), self.block("network check end"))
        self.assertIn("will expire", self.shell(expiring, code=1))

        def renew(step):
            """A new certificate of the server, with the texts between making and loading it."""
            old = self.certificate(server)
            self.shell(self.block("network server"), *step, self.block("network reload"))
            self.reload(server)
            self.assertNotEqual(self.certificate(server), old)
            self.check_private()

        # A worker that runs all the time sees none of it.
        worker = self.start("bash", "-c", f"{env}\nexec tarry work orders -- true", home=self.shop,
                            log=self.directory / "worker")
        renew([])
        self.push(env, "renewed")
        self.shell(self.block("network client"))
        self.push(env, "client-renewed")
        self.shell(self.block("network new authority"))
        self.check_private()
        both = self.block("network trust both")
        self.shell(both)
        self.reload(server)
        self.push(env, "both-trusted")
        renew([both.partition("\n")[0]])
        self.push(env, "server-of-new")
        self.shell(self.block("network client"))
        self.push(env, "client-of-new")
        self.shell(self.block("network trust new"))
        self.reload(server)
        self.push(env, "new-alone")
        eventually(lambda: self.acked(env) == 7, "the worker has done them all")
        self.assertIsNone(worker.poll())
        self.end(worker)
        # The old authority is trusted no more.
        self.assertFalse((self.etc / "authority/old").exists())

    def acked(self, env):
        found = json.loads(self.shell(env, "tarry -o json stats", home=self.shop))
        return sum(queue["counters"]["acked"] for queue in found["queues"])

    def test_rotation_of_a_token(self):
        server = self.make()
        env = self.connect(server)
        old = (self.shop / "tarry/shop.token").read_text()
        self.push(env, "old")
        self.shell(self.block("network new token"))
        self.reload(server)
        self.check_private()
        self.assertNotEqual((self.shop / "tarry/shop.token").read_text(), old)
        self.push(env, "new")
        use_old = f"TARRY_STORE=${{TARRY_STORE%&token_file*}} TARRY_TOKEN={old.strip()} "
        self.shell(env, use_old + "tarry push orders x --key both", home=self.shop)
        self.shell(self.block("network old token"))
        self.reload(server)
        self.push(env, "new-alone")
        said = self.shell(env, use_old + "tarry push orders x --key late", home=self.shop,
                          code=None)
        self.told(said, "holds an unknown token")

    def told(self, said, line):
        """The program says so, and the page has a row for it."""
        self.assertIn(f"| `{line}` |", page(self.PAGE))
        shown = line.replace("queue.example", "localhost").replace("192.0.2.7", "127.0.0.1")
        self.assertIn(shown, said)

    def test_if_a_check_fails(self):
        server = self.make()
        env = self.connect(server)
        others = Authority(self.directory / "others", "others")
        plain = Server("memory:")
        self.addCleanup(plain.stop)
        port, ca = server.port, f"{self.shop}/tarry/ca.pem"
        token = f"&token_file={self.shop}/tarry/shop.token"
        rows = set(re.findall(r"^\| `(.*?)` \|", page(self.PAGE).partition("## If a")[2]
                              .partition("\n## ")[0], re.MULTILINE))
        seen = {"its certificate is valid only from", "its certificate expired at",
                "demands a client's certificate", "holds an unknown token"}  # in other tests

        def fails(url, line, command="tarry stats"):
            seen.add(line)
            self.told(self.shell(f"TARRY_STORE='{url}' {command}", code=None), line)

        own = f"https://localhost:{port}?ca={ca}"
        fails(f"https://localhost:{port}", 'its authority "tarry authority" is not one of this '
              "system's")
        fails(f"https://localhost:{port}?ca={others.path('others')}", "is not in the CA file")
        fails(f"https://127.1:{port}?ca={ca}",
              'its certificate is for "queue.example", "192.0.2.7", not for')
        fails(f"http://localhost:{port}", "speaks TLS")
        fails(f"https://localhost:{plain.port}?ca={ca}", "the server does not speak TLS")
        fails(f"https://localhost:1?ca={ca}", "Connection refused")
        fails(own, "the Authorization field is missing")
        fails(own + token, "lacks the scope push on queue", "tarry push mails x")
        fails(own + token, "is not this server's; its setting server.names lists its names",
              f"curl -s --cacert {ca} -H 'Host: other.example' https://localhost:{port}/v1/queues")
        self.assertEqual(seen, rows)
        self.push(env, "well")

    def test_certificates_out_of_date(self):
        """The rows about times, from a server whose certificate has expired or is not valid yet."""
        files = Authority(self.directory / "late", "late")
        for name, start, end, line in (
                ("past", "20200101000000Z", "20210101000000Z", "its certificate expired at"),
                ("future", "20980101000000Z", "20990101000000Z",
                 "its certificate is valid only from")):
            files.issue(name, start=start, end=end)
            front = subprocess.Popen(
                ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", files.path(name),
                 "-key", files.key(name), "-www"], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
            self.addCleanup(front.wait, timeout=60)
            self.addCleanup(front.stdout.close)
            self.addCleanup(front.kill)
            port = next(re.search(r":(\d+)$", text.strip())[1] for text in front.stdout
                        if text.startswith("ACCEPT "))
            said = self.tarry("stats", store=f"https://localhost:{port}?ca={files.path('late')}",
                              code=None)
            self.told(said.err, line)

    @unittest.skipUnless(PROMETHEUS, "no prometheus here")
    def test_a_scraper(self):
        server = self.make()
        self.connect(server)
        self.shell(self.block("network scraper"))
        self.reload(server)
        self.check_private()
        here = self.directory
        text = self.block("network prometheus")
        self.assertIn("credentials_file: " + str(here), text)
        (here / "prometheus.yml").write_text("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                                             + text)
        log = here / "prometheus.log"
        prometheus = self.start(
            PROMETHEUS, f"--config.file={here}/prometheus.yml", f"--storage.tsdb.path={here}/tsdb",
            "--web.listen-address=127.0.0.1:0", log=log)

        def port():
            self.assertIsNone(prometheus.poll(), log)
            found = re.search(r'msg="Listening on" .*address=127\.0\.0\.1:(\d+)', log.read_text())
            return found and found[1]

        eventually(port, "Prometheus listens")

        def up():
            query = f"http://127.0.0.1:{port()}/api/v1/query?query=up"
            try:
                with urllib.request.urlopen(query, timeout=60) as answer:
                    found = json.load(answer)["data"]["result"]
            except urllib.error.HTTPError:  # it listens before it is ready
                return None
            return [(one["metric"]["job"], one["value"][1]) for one in found]

        eventually(lambda: up() == [("tarry", "1")], "it has scraped the server")


if __name__ == "__main__":
    unittest.main()
