#!/usr/bin/env python3
"""tarry serve over TLS: what it offers, what it refuses to start with, certificates that change."""

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from authority import EC, Authority
from program import DONE, PROGRAM, USAGE, ProgramTest, Server, eventually

RSA = ("-newkey", "rsa:2048")
TOKEN = "s3cret-s3cret-s3cret"


class TlsTest(ProgramTest):
    """Certificates for the tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="tarry-tls-")
        cls.authority = Authority(cls.place.name)
        cls.authority.issue("server")
        cls.authority.issue("client", kind="client")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def tls(self, name="server"):
        return self.authority.served(name)

    def context(self, **options):
        context = self.authority.context()
        for name, value in options.items():
            setattr(context, name, value)
        return context

    def connect(self, server, context=None, host="localhost"):
        """A TLS connection, after its handshake."""
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.addCleanup(plain.close)
        secure = (context or self.context()).wrap_socket(plain, server_hostname=host)
        self.addCleanup(secure.close)
        return secure

    def status(self, server, path="/healthz", context=None, method="GET", body=None, **headers):
        connection = http.client.HTTPSConnection("localhost", server.port, timeout=60,
                                                 context=context or self.context())
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()


class Serving(TlsTest):
    """A server that speaks TLS."""

    def test_every_port_speaks_it_and_no_unix_socket_does(self):
        token = self.directory / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        os.chmod(self.authority.key("server"), 0o600)
        with Server("memory:", "--listen", "0.0.0.0:0,127.0.0.1:0,unix:t.sock", *self.tls(),
                    "--token-file", str(token), "--names", "queue.example",
                    cwd=self.directory) as server:
            self.assertIn(f"https://0.0.0.0:{server.port}, https://127.0.0.1:", server.ready)
            self.assertIn(f"http+unix://{self.directory}/t.sock", server.ready)
            self.assertIn('the server\'s certificate is that of "CN=server", valid until '
                          "2099-01-01T00:00:00Z", server.log())
            self.assertNotIn("insecure", server.log())
            self.assertNotIn("chmod", server.log())
            self.assertEqual(self.status(server), 200)
            self.assertEqual(self.status(server, Host="queue.example"), 200)
            self.assertEqual(self.status(server, Host="other.example"), 421)
            self.assertEqual(self.status(server, "/v1/queues"), 401)
            right = {"Authorization": f"Bearer {TOKEN}"}
            self.assertEqual(self.status(server, "/v1/queues", **right), 200)
            self.assertEqual(self.status(server, Origin=f"https://localhost:{server.port}"), 200)
            self.assertEqual(self.status(server, Origin=f"http://localhost:{server.port}"), 403)
            answer = self.asked("stats", store=f"http+unix://{self.directory}/t.sock",
                                TARRY_TOKEN=TOKEN)
            self.assertEqual(answer["served"], "embedded")

    def test_bodies_of_every_size(self):
        """They take many records of TLS, also both ways at once."""
        with Server("memory:", *self.tls(), "--max-body", "20MiB") as server:
            connection = http.client.HTTPSConnection("localhost", server.port, timeout=100,
                                                     context=self.context())
            self.addCleanup(connection.close)

            def asked(path, body):
                connection.request("POST", path, json.dumps(body),
                                   {"Content-Type": "application/json"})
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())

            sizes = (0, 1, 4_000, 16_384, 16_385, 100_000, 1_000_000)
            for size in sizes:
                status, _ = asked("/v1/queues/q/messages", {"payload": "x" * size})
                self.assertEqual(status, 200, size)
            status, claimed = asked("/v1/claim", {"queues": ["q"], "max": 100})
            self.assertEqual(sorted(len(one["payload"]) for one in claimed["messages"]),
                             sorted(sizes))

    def test_a_client_that_waits_for_100_and_requests_in_one_write(self):
        with Server("memory:", *self.tls()) as server:
            client = self.connect(server)
            client.sendall(b"POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\n"
                           b"Content-Type: application/json\r\nContent-Length: 5000\r\n"
                           b"Expect: 100-continue\r\n\r\n")
            self.assertTrue(client.recv(1000).startswith(b"HTTP/1.1 100 "))
            client.sendall(b'{"payload":"' + b"x" * 4986 + b'"}' +
                           b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)
            seen = b""
            while seen.count(b"HTTP/1.1 200 ") < 4:
                more = client.recv(100_000)
                self.assertTrue(more, seen)
                seen += more

    def test_a_waiting_claim_whose_client_goes_is_withdrawn(self):
        with Server(self.store, *self.tls(), "--listen", "127.0.0.1:0,unix:t.sock",
                    cwd=self.directory) as server:
            local = f"http+unix://{self.directory}/t.sock"
            for polite in (True, False):
                client = self.connect(server)
                client.sendall(b"POST /v1/claim HTTP/1.1\r\nHost: localhost\r\n"
                               b"Content-Type: application/json\r\nContent-Length: 29\r\n\r\n"
                               b'{"queues":["q"],"wait":"10m"}')
                if polite:
                    client.settimeout(0)
                    with self.assertRaises(ssl.SSLWantReadError):
                        client.unwrap()  # says that it ends, and does not wait for the answer
                client.close()
                self.asked("push", "q", "x", store=local)
                message, = self.asked("claim", "q", "--wait", "60s", store=local)["messages"]
                self.assertEqual(message["attempt"], 1)
                self.asked("ack", "q", message["receipt"], store=local)

    def test_what_it_offers(self):
        with Server("memory:", *self.tls()) as server:
            client = self.connect(server)
            self.assertEqual(client.version(), "TLSv1.3")
            self.assertIsNone(client.compression())
            old = self.connect(server, self.context(maximum_version=ssl.TLSVersion.TLSv1_2))
            self.assertEqual(old.version(), "TLSv1.2")
            self.assertRegex(old.cipher()[0], r"^ECDHE-.*(GCM|CHACHA20)")
            self.assertIsNone(old.compression())
            for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
                context = self.context(minimum_version=version, maximum_version=version)
                context.set_ciphers("ALL:@SECLEVEL=0")
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    self.connect(server, context)
            for ciphers in ("AES128-SHA", "AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA256",
                            "ECDHE-ECDSA-AES256-SHA", "DHE-RSA-AES128-GCM-SHA256"):
                context = self.context(maximum_version=ssl.TLSVersion.TLSv1_2)
                context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
                with self.assertRaises((ssl.SSLError, ConnectionError), msg=ciphers):
                    self.connect(server, context)
            eventually(lambda: "handshake with 127.0.0.1:" in server.log(), "it is said why")
            self.assertEqual(self.status(server), 200)

    def test_it_does_not_renegotiate(self):
        with Server("memory:", *self.tls()) as server:
            asked = subprocess.run(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-tls1_2",
                 "-CAfile", self.authority.path("root")],
                input="R\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                capture_output=True, text=True, timeout=60, check=False)
            said = asked.stdout + asked.stderr
            self.assertIn("RENEGOTIATING", said)
            self.assertIn("no renegotiation", said.lower())
            self.assertIn("Compression: NONE", said)
            self.assertIn("Verify return code: 0 (ok)", said)

    def test_a_session_is_resumed(self):
        with Server("memory:", *self.tls()) as server:
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                context = self.context(maximum_version=version)
                first = self.connect(server, context)
                first.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                first.recv(1000)  # the ticket comes before it
                plain = socket.create_connection(("127.0.0.1", server.port), timeout=60)
                with plain, context.wrap_socket(plain, server_hostname="localhost",
                                                session=first.session) as second:
                    self.assertTrue(second.session_reused, version)

    def test_clients_that_speak_no_tls(self):
        with Server("memory:", *self.tls()) as server:
            for text in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x00\x02hi",
                         b"\x00" * 100, bytes(range(256)) * 300):
                with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
                    try:
                        client.sendall(text)
                        while client.recv(1000):
                            pass
                    except ConnectionError:
                        pass
            eventually(lambda: "TLS handshake with 127.0.0.1:" in server.log(), "it is said why")
            self.assertIn("handshake", server.log())
            self.assertEqual(self.status(server), 200)

    def test_silent_handshakes_make_room(self):
        """Who says nothing is closed first, as who sends no request is without TLS."""
        with Server("memory:", *self.tls(), "--max-connections", "4") as server:
            silent = [socket.create_connection(("127.0.0.1", server.port), timeout=60)
                      for _ in range(4)]
            silent[0].sendall(b"\x16\x03\x01\x02\x00\x01\x00")  # the beginning of a ClientHello
            for _ in range(4):
                self.assertEqual(self.status(server), 200)
            closed = 0
            for client in silent:
                client.setblocking(False)
                try:
                    closed += client.recv(1) == b""
                except BlockingIOError:
                    pass
                client.close()
            self.assertGreaterEqual(closed, 1)

    def test_a_drain_ends_handshakes_too(self):
        with Server("memory:", *self.tls()) as server:
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as silent:
                secure = self.connect(server)
                server.process.terminate()
                self.assertEqual(server.process.wait(timeout=60), DONE)
                self.assertEqual(silent.recv(1), b"")
                self.assertEqual(secure.recv(1), b"")
            self.assertNotIn("cut", server.log())


class Refused(TlsTest):
    """Files with which a server does not start: one line, exit code 2, and nothing is made."""

    def refuse(self, *flags, says):
        answer = self.refused("serve", "--store", self.store, "--listen", "127.0.0.1:0", *flags,
                              store="", code=USAGE, says=says)
        self.assertEqual(len(answer.err.splitlines()), 1, answer)
        self.assertFalse((self.directory / "store").exists())

    def test_files_that_are_none(self):
        one, key = self.authority.chain("server"), self.authority.key("server")
        here = str(self.directory)
        text = self.directory / "text"
        text.write_text("no PEM\n")
        broken = self.directory / "broken"
        broken.write_text(Path(one).read_text() + "-----BEGIN CERTIFICATE-----\nMIIB\n")
        os.mkfifo(self.directory / "fifo")
        for flags, says in (
                (("--tls-cert", "/no/such"), ('tls.cert "/no/such"', "No such file")),
                (("--tls-cert", here), ("tls.cert", here, "not a regular file")),
                (("--tls-cert", f"{here}/fifo"), ("tls.cert", "not a regular file")),
                (("--tls-cert", "/dev/zero"), ("tls.cert", "not a regular file")),
                (("--tls-cert", str(text)), (str(text), "has no certificate in PEM")),
                (("--tls-cert", str(broken), "--tls-key", key),
                 (str(broken), "certificate 3 in it cannot be read")),
                (("--tls-cert", one), ("tls.cert", one, "no private key")),
                (("--tls-cert", one, "--tls-key", "/no/such"), ('tls.key "/no/such"', "No such")),
                (("--tls-cert", one, "--tls-key", str(text)), ("tls.key", "no private key")),
                (("--tls-cert", one, "--tls-key", key, "--tls-client-ca", str(text)),
                 ("tls.client_ca", str(text), "has no certificate")),
                (("--tls-key", key), ("tls.key has no effect without tls.cert",)),
                (("--tls-client-ca", one), ("tls.client_ca has no effect",)),
                (("--tls-passphrase-file", one), ("tls.passphrase_file has no effect",))):
            with self.subTest(flags):
                self.refuse(*flags, says=says)

    @unittest.skipUnless(os.geteuid() == 0, "a test for root, which gives up its rights")
    def test_a_key_that_may_not_be_read(self):
        key = self.directory / "key"
        shutil.copy(self.authority.key("server"), key)
        key.chmod(0o600)
        certificate = self.directory / "cert"
        shutil.copy(self.authority.chain("server"), certificate)
        self.directory.chmod(0o755)

        def without_rights():
            os.setgid(65534)
            os.setuid(65534)

        finished = subprocess.run(
            [PROGRAM, "serve", "--store", "memory:", "--listen", "127.0.0.1:0", "--tls-cert",
             str(certificate), "--tls-key", str(key)], capture_output=True, text=True, timeout=60,
            preexec_fn=without_rights, cwd="/", check=False)
        self.assertEqual((finished.returncode, finished.stderr), (USAGE, (
            f'tarry: tls.key "{key}" cannot be read: Permission denied\n')))

    def test_pairs_that_do_not_match(self):
        self.authority.issue("another")
        self.refuse("--tls-cert", self.authority.chain("server"), "--tls-key",
                    self.authority.key("another"),
                    says=(f'tls.key "{self.authority.key("another")}"',
                          "does not match the first certificate in tls.cert",
                          self.authority.chain("server")))

    def test_dates(self):
        self.authority.issue("old", start="20200101000000Z", end="20210131120000Z")
        self.refuse(*self.tls("old"), says=(
            f'tls.cert "{self.authority.chain("old")}" has expired: it was valid until '
            "2021-01-31T12:00:00Z",))
        self.authority.issue("young", start="20980101000000Z")
        self.refuse(*self.tls("young"), says=(
            f'tls.cert "{self.authority.chain("young")}" is not valid yet: it will be from '
            "2098-01-01T00:00:00Z",))
        self.authority.issue("middle", kind="authority", end="20210101000000Z")
        self.authority.issue("below", by="middle")
        self.refuse(*self.tls("below"), says=(
            self.authority.chain("below"), 'certificate of "CN=middle" has expired'))

    def test_chains(self):
        self.authority.issue("issuer", kind="authority")
        self.authority.issue("leaf", by="issuer")
        alone = ("--tls-cert", self.authority.path("leaf"), "--tls-key",
                 self.authority.key("leaf"))
        self.refuse(*alone, says=(
            f'tls.cert "{self.authority.path("leaf")}" lacks the certificate of the issuer '
            '"CN=issuer": append it to the file',))
        without_root = self.directory / "without-root"
        without_root.write_text(Path(self.authority.path("leaf")).read_text() +
                                Path(self.authority.path("issuer")).read_text())
        self.refuse("--tls-cert", str(without_root), "--tls-key", self.authority.key("leaf"),
                    says='lacks the certificate of the issuer "CN=root"')
        # Another authority of the same name has not issued it.
        other = Authority(self.directory / "other")
        mixed = self.directory / "mixed"
        mixed.write_text(Path(self.authority.path("server")).read_text() +
                         Path(other.path("root")).read_text())
        self.refuse("--tls-cert", str(mixed), "--tls-key", self.authority.key("server"),
                    says='lacks the certificate of the issuer "CN=root"')
        # A whole chain in any order serves a client that knows the root alone.
        shuffled = self.directory / "shuffled"
        shuffled.write_text("".join(Path(self.authority.path(name)).read_text()
                                    for name in ("leaf", "root", "server", "issuer")))
        with Server("memory:", "--tls-cert", str(shuffled), "--tls-key",
                    self.authority.key("leaf")) as server:
            self.assertEqual(self.status(server), 200)

    def test_a_client_certificate_or_a_weak_key_is_none_for_a_server(self):
        self.refuse(*self.tls("client"), says=("tls.cert", '"CN=client" is not one for servers'))
        self.authority.issue("weak", new_key=("-newkey", "rsa:1024"))
        self.refuse(*self.tls("weak"), says=("too small",))

    def test_passphrases(self):
        secret = self.authority.encrypt_key("server", "open sesame")
        right, wrong = self.directory / "right", self.directory / "wrong"
        right.write_text("open sesame\n")
        wrong.write_text("abracadabra\n")
        pair = ("--tls-cert", self.authority.chain("server"), "--tls-key", secret)
        self.refuse(*pair, says=(f'tls.key "{secret}" is encrypted', "tls.passphrase_file"))
        self.refuse(*pair, "--tls-passphrase-file", str(wrong), says=(
            f'tls.key "{secret}": the passphrase in tls.passphrase_file "{wrong}" is wrong',))
        self.refuse(*pair, "--tls-passphrase-file", "/no/such",
                    says=('tls.passphrase_file "/no/such"', "No such file"))
        right.chmod(0o666)
        self.refuse(*pair, "--tls-passphrase-file", str(right), says="chmod go-w")
        right.chmod(0o600)
        with Server("memory:", *pair, "--tls-passphrase-file", str(right)) as server:
            self.assertEqual(self.status(server), 200)
            self.assertNotIn("sesame", server.log())

    def test_kinds_of_keys(self):
        self.authority.issue("rsa", new_key=RSA)
        both = self.directory / "both"
        both.write_text(Path(self.authority.key("rsa")).read_text() +
                        Path(self.authority.chain("rsa")).read_text())
        both.chmod(0o644)
        with Server("memory:", "--tls-cert", str(both)) as server:  # its key is in it
            self.assertEqual(self.status(server), 200)
            self.assertIn(f"can read the key: chmod o-r {both}", server.log())
        own = self.directory / "own.pem"
        subprocess.run(["openssl", "req", "-x509", *EC, "-noenc", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                        f"{own}.key", "-out", str(own)], capture_output=True, check=True)
        with Server("memory:", "--tls-cert", str(own), "--tls-key", f"{own}.key") as server:
            context = ssl.create_default_context(cafile=str(own))
            self.assertEqual(self.status(server, context=context), 200)


class Changing(TlsTest):
    """SIGHUP, and certificates of clients."""

    def reload(self, server, said):
        before = len(server.log())
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: said in server.log()[before:], said)
        return server.log()[before:]

    def peer(self, client):
        return dict(pair for (pair,) in client.getpeercert()["subject"])["commonName"]

    def test_a_new_pair_is_taken_and_no_connection_ends(self):
        self.authority.issue("next")
        cert, key = self.directory / "cert", self.directory / "key"
        shutil.copy(self.authority.chain("server"), cert)
        shutil.copy(self.authority.key("server"), key)
        with Server("memory:", "--tls-cert", str(cert), "--tls-key", str(key)) as server:
            old = http.client.HTTPSConnection("localhost", server.port, timeout=60,
                                              context=self.context())
            self.addCleanup(old.close)
            old.connect()
            first = old.sock

            def still_answers():
                old.request("GET", "/healthz")
                self.assertEqual(old.getresponse().read()[:1], b"{")
                self.assertIs(old.sock, first)

            still_answers()
            for spoil in (lambda: shutil.copy(self.authority.key("next"), key),
                          lambda: cert.write_text("")):
                spoil()
                log = self.reload(server, "not reloaded")
                self.assertEqual(len(log.splitlines()), 1, log)
                self.assertRegex(log, r"error\S* not reloaded, everything stays as it was: tls\.")
                self.assertEqual(self.peer(self.connect(server)), "server")
                still_answers()
            shutil.copy(self.authority.chain("next"), cert)
            log = self.reload(server, "reloaded")
            self.assertIn('certificate is that of "CN=next"', log)
            self.assertEqual(self.peer(self.connect(server)), "next")
            still_answers()
            self.assertNotIn("certificate", self.reload(server, "reloaded"))

    def test_no_request_fails_while_certificates_change(self):
        self.authority.issue("next")
        cert, key = self.directory / "cert", self.directory / "key"
        pairs = ["server", "next"] * 5

        def put(name):
            # Together: whoever renews them does it so, too.
            for source, to in ((self.authority.chain(name), cert),
                               (self.authority.key(name), key)):
                shutil.copy(source, f"{to}.new")
                os.rename(f"{to}.new", to)

        put("server")
        done, statuses, errors = threading.Event(), [], []
        with Server("memory:", "--tls-cert", str(cert), "--tls-key", str(key)) as server:
            def ask(keeps):
                connection = None
                while not done.is_set():
                    try:
                        if connection is None or not keeps:
                            connection = http.client.HTTPSConnection(
                                "localhost", server.port, timeout=60, context=self.context())
                        connection.request("GET", "/healthz")
                        answer = connection.getresponse()
                        answer.read()
                        statuses.append(answer.status)
                    except OSError as error:
                        errors.append(error)
                        connection = None

            threads = [threading.Thread(target=ask, args=(keeps,)) for keeps in (True, False)]
            for thread in threads:
                thread.start()
            try:
                for name in pairs[1:]:
                    put(name)
                    self.reload(server, f'"CN={name}"')
                    many = len(statuses) + 10
                    eventually(lambda: len(statuses) > many or errors, "requests are answered")
            finally:
                done.set()
                for thread in threads:
                    thread.join()
        self.assertEqual(errors, [])
        self.assertEqual(set(statuses), {200})

    def test_certificates_of_clients(self):
        other = Authority(self.directory / "other")
        other.issue("stranger", kind="client")
        self.authority.issue("past", kind="client", end="20210101000000Z")
        with Server("memory:", *self.tls(), "--tls-client-ca",
                    self.authority.path("root")) as server:
            def with_certificate(authority, name, **options):
                context = self.context(**options)
                context.load_cert_chain(authority.path(name), authority.key(name))
                return context

            right = with_certificate(self.authority, "client")
            self.assertEqual(self.status(server, context=right), 200)
            old = with_certificate(self.authority, "client",
                                   maximum_version=ssl.TLSVersion.TLSv1_2)
            self.assertEqual(self.status(server, context=old), 200)
            for context in (None, with_certificate(other, "stranger"),
                            with_certificate(self.authority, "past")):
                with self.assertRaises((ssl.SSLError, ConnectionError,
                                        http.client.RemoteDisconnected)):
                    self.status(server, context=context)
            eventually(lambda: "peer did not return a certificate" in server.log(), "why")
            self.assertEqual(self.status(server, context=right), 200)


if __name__ == "__main__":
    unittest.main()
