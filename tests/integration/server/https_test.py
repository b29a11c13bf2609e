#!/usr/bin/env python3
"""`https://` as a store: a server behind TLS, and what is said if a check fails."""

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from program import (DONE, FAILED, PROGRAM, UNREACHABLE, USAGE, ProgramTest, Server, environment,
                     eventually)

NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
TOKEN = "0123456789abcdef-of-the-test"


class Certificates:
    """An authority of the tests', and what it signs, in a directory of their own."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="tarry-https-"))
        self.make("ca", "")
        self.make("stranger", "")

    def close(self):
        shutil.rmtree(self.directory)

    def make(self, name, names):
        """`names`: whom the certificate is for; empty: an authority's."""
        signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=CA:FALSE",
                  "-addext", f"subjectAltName={names}"] if names else []
        self.run("req", "-x509", *NEW_KEY, "-days", "2", "-keyout", f"{name}.key", "-out",
                 f"{name}.pem", "-subj", f"/CN={name}", *signed)

    def make_expired(self, name, names):
        """A server's certificate that was valid in 2020."""
        (self.directory / "ca.cnf").write_text(
            "[ca_section]\ndatabase=ca.index\nnew_certs_dir=.\nserial=ca.serial\n"
            "default_md=sha256\npolicy=policy_section\ncopy_extensions=copy\n"
            "[policy_section]\ncommonName=supplied\n")
        (self.directory / "ca.index").touch()
        self.run("req", *NEW_KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                 f"/CN={name}", "-addext", f"subjectAltName={names}")
        self.run("ca", "-batch", "-config", "ca.cnf", "-name", "ca_section", "-rand_serial",
                 "-cert", "ca.pem", "-keyfile", "ca.key", "-startdate", "20200101000000Z",
                 "-enddate", "20210101000000Z", "-in", f"{name}.csr", "-notext", "-out",
                 f"{name}.pem")

    def run(self, *words):
        subprocess.run(["openssl", *words], cwd=self.directory, check=True, capture_output=True,
                       timeout=60)

    def __getitem__(self, file):
        return str(self.directory / file)


class TlsFront:
    """Takes TLS connections, and hands their bytes on to a port on loopback, both ways."""

    def __init__(self, port, context):
        self.connections = 0  # whose handshake succeeded
        self._behind = port
        self._context = context
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(60)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _start(self):
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)

    async def _serve(self, reader, writer):
        self.connections += 1
        try:
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self._behind)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._pump(reader, other_writer), self._pump(other_reader, writer))

    @staticmethod
    async def _pump(reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass  # it ended without a word
        writer.close()

    async def _stop(self):
        self._server.close()
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()

    def close(self):
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class OpensslServer:
    """`openssl s_server` on a free port, which demands a certificate of that authority's."""

    def __init__(self, files, authority, version):
        self._process = subprocess.Popen(
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", files["server.pem"], "-key",
             files["server.key"], "-CAfile", files[f"{authority}.pem"], "-Verify", "1",
             "-verify_return_error", "-www", version],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self._process.stdout:
            if line.startswith("ACCEPT "):
                self.port = int(line.rpartition(":")[2])
                return
        raise AssertionError("openssl s_server does not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate(timeout=60)


class Https(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.files = Certificates()
        cls.addClassCleanup(cls.files.close)
        cls.files.make("server", "DNS:localhost,IP:127.0.0.1")
        cls.files.make("shop", "DNS:shop.example")
        cls.files.make("client", "DNS:client")
        cls.files.make_expired("expired", "IP:127.0.0.1")

    def setUp(self):
        super().setUp()
        token_file = self.directory / "token"
        token_file.write_text(TOKEN + "\n")
        token_file.chmod(0o600)
        self.server = Server(self.store, "--token-file", str(token_file))
        self.addCleanup(self.server.stop)
        self.token_file = token_file

    def front(self, name="server", authority=None):
        """Before the server. `authority`: of the certificates that clients must show."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.files[f"{name}.pem"], self.files[f"{name}.key"])
        if authority:
            context.load_verify_locations(self.files[f"{authority}.pem"])
            context.verify_mode = ssl.CERT_REQUIRED
        front = TlsFront(self.server.port, context)
        self.addCleanup(front.close)
        return front

    def url(self, front, host="127.0.0.1", ca="ca", **options):
        options |= {"ca": self.files[f"{ca}.pem"]} if ca else {}
        return f"https://{host}:{front.port}?token_file={self.token_file}" + "".join(
            f"&{name}={value}" for name, value in options.items())

    def test_verbs(self):
        front = self.front()
        for host in ("127.0.0.1", "localhost"):
            store = self.url(front, host)
            self.tarry("push", "orders", "a lamp", "--key", host, store=store)
            self.assertEqual(self.asked("get", "orders", host, store=store)["state"], "ready")
            claimed = self.asked("claim", "orders", store=store)["messages"][0]
            self.assertEqual((claimed["key"], claimed["payload"]), (host, "a lamp"))
            self.tarry("ack", "orders", claimed["receipt"], store=store)
            self.tarry("health", store=store)
            self.assertIn("orders", self.tarry("stats", store=store).out)
            self.assertIn("orders", self.tarry("top", "--once", store=store).out)
        self.assertGreater(front.connections, 0)

    def start(self, store, *words):
        """A command that runs until it is told to stop."""
        process = subprocess.Popen([PROGRAM, "--store", store, *words], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment())
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def info(self, queue):
        """What the server itself says of the queue."""
        return self.asked("queue", "info", queue, store=self.server.url, TARRY_TOKEN=TOKEN)

    def test_a_waiting_claim_is_withdrawn(self):
        """The server notices that the client has hung up, and gives the message to another one."""
        store = self.url(self.front())
        self.tarry("push", "orders", "x", "--in", "1h", "--key", "k", store=store)
        waits = self.start(store, "claim", "orders", "--wait", "1h")
        eventually(lambda: self.info("orders")["waiting_claims"] == 1, "the claim waits")
        waits.terminate()
        eventually(lambda: self.info("orders")["waiting_claims"] == 0, "nobody waits")
        self.tarry("reschedule", "orders", "k", "--in", "0s", store=store)
        claimed = self.asked("claim", "orders", "--wait", "1m", store=store)
        self.assertEqual([message["key"] for message in claimed["messages"]], ["k"])

    def test_worker_relay_and_large_batches(self):
        store = self.url(self.front())
        for queue, count in (("orders", 100), ("reminders", 500)):
            lines = "".join(json.dumps({"key": f"k{i}", "payload": "x" * 20_000}) + "\n"
                            for i in range(count))
            self.tarry("push", queue, "--jsonl", "-", stdin=lines.encode(), store=store)
        running = [self.start(store, "work", "orders", "--concurrency", "4", "--", "true"),
                   self.start(store, "relay", "reminders", "--to", "command", "--concurrency", "4",
                              "--", "true")]
        for queue, count in (("orders", 100), ("reminders", 500)):
            eventually(lambda: self.info(queue)["counters"]["acked"] == count, f"{queue} is empty")
        for process in running:
            process.terminate()
            said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, DONE, said)

    def test_checks(self):
        """Each failed check has one plain line, and nothing is sent to the server."""
        for name, options, code, said in (
                ("server", {"ca": "stranger"}, USAGE,
                 'its certificate is not trusted: its authority "ca" is not in the CA file'),
                ("server", {"ca": None}, USAGE,
                 'its authority "ca" is not one of this system\'s; name the authority\'s file'),
                ("shop", {}, USAGE,
                 'its certificate is for "shop.example", not for "127.0.0.1"'),
                ("expired", {}, UNREACHABLE,
                 "its certificate expired at 2021-01-01T00:00:00.000Z")):
            with self.subTest(name, **options):
                front = self.front(name)
                for words in (("stats",), ("health",), ("push", "orders", "x")):
                    self.refused(*words, code=code, store=self.url(front, **options), says=said)
                self.assertEqual(front.connections, 0)
        self.tarry("stats", store=self.url(self.front("shop"), name="shop.example"))

    def test_client_certificates(self):
        front = self.front(authority="ca")
        own = {"cert": self.files["client.pem"], "key": self.files["client.key"]}
        self.tarry("push", "orders", "x", store=self.url(front, **own))
        # asyncio closes the connection without the alert that most servers send.
        self.refused("stats", code=UNREACHABLE, store=self.url(front),
                     says="a client's certificate, which cert=FILE and key=FILE give")
        front = self.front(authority="stranger")
        self.refused("stats", code=UNREACHABLE, store=self.url(front, **own),
                     says=("refuses the client's certificate", own["cert"]))

    def test_servers_that_say_why(self):
        """OpenSSL's own server, which demands a certificate, and refuses one."""
        own = {"cert": self.files["client.pem"], "key": self.files["client.key"]}
        for options, authority, said in (
                ({}, "ca", "the server demands a client's certificate: give it with cert=FILE"),
                (own, "stranger", "its authority is unknown to the server")):
            for version in ("-tls1_2", "-tls1_3"):
                for words in (("stats",), ("health",)):
                    with OpensslServer(self.files, authority, version) as server:
                        self.refused(*words, code=UNREACHABLE, store=self.url(server, **options),
                                     says=said)

    def test_the_wrong_scheme(self):
        plain = f"https://127.0.0.1:{self.server.port}"
        for words in (("stats",), ("health",)):
            self.refused(*words, code=USAGE, store=plain,
                         says="the server does not speak TLS; use http:// instead of https://")
        front = self.front()
        for words in (("stats",), ("health",)):
            said = self.tarry(*words, store=f"http://127.0.0.1:{front.port}", code=None)
            self.assertIn(said.code, (FAILED, USAGE, UNREACHABLE), said)
            self.assertRegex(said.err, "use https://")

    def test_bad_options(self):
        for options, said in (("ca=/no/such.pem", 'the CA file "/no/such.pem" cannot be read: No '
                                                  "such file or directory"),
                              (f"cert={self.files['client.pem']}", "cert and key go together"),
                              (f"cert={self.files['client.pem']}&key={self.files['ca.key']}",
                               "does not belong to the certificate in")):
            store = f"https://127.0.0.1:{self.server.port}?{options}"
            self.refused("stats", code=USAGE, store=store, says=said)

    def test_serve_and_backup_want_a_store_of_their_own(self):
        store = self.url(self.front())
        self.refused("serve", "--store", store, says="serve needs a store of its own")
        self.refused("store", "backup", str(self.directory / "b"), store=store,
                     says="run it on that machine")

    def test_ipv6(self):
        with socket.socket(socket.AF_INET6) as six:
            try:
                six.bind(("::1", 0))
            except OSError:
                self.skipTest("no IPv6 here")
            port = six.getsockname()[1]
        self.refused("stats", code=UNREACHABLE, store=f"https://[::1]:{port}",
                     says=f"no tarry server at https://[::1]:{port}")


if __name__ == "__main__":
    unittest.main()
