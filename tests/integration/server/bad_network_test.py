#!/usr/bin/env python3
"""What a server on the network may be given wrong: each is refused in one line, with exit code 2,
before anything listens and before a store is made."""

import hashlib
import os
import socket
import subprocess
import unittest
from pathlib import Path

from authority import Authority
from program import PROGRAM, USAGE, ProgramTest, Server, environment

HASH = "sha256:" + hashlib.sha256(b"a secret").hexdigest()
NOBODY = 65534
# The first port that everybody may have.
OPEN_PORTS = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")


class BadNetwork(ProgramTest):
    """The table of what is refused."""

    def setUp(self):
        super().setUp()
        self.directory.chmod(0o755)
        self.authority = Authority(self.directory / "pki")
        self.authority.issue("server")
        self.authority.issue("other")
        self.authority.issue("old", end="20210131120000Z")
        self.authority.issue("young", start="20980101000000Z")
        self.authority.issue("issuer", kind="authority")
        self.authority.issue("leaf", by="issuer")
        self.pki = self.directory / "pki"

    def tls(self, cert, key, *more):
        return ("--tls-cert", f"{self.pki}/{cert}", "--tls-key", f"{self.pki}/{key}", *more)

    def tokens(self, line):
        """The flags for a tokens file whose second line is that."""
        file = self.directory / f"tokens-{len(list(self.directory.iterdir()))}"
        file.touch(mode=0o600)
        file.write_text(f"# tokens\n{line}\n")
        return ("--tokens-file", str(file))

    def refuse(self, flags, says, before=None):
        ports = self.directory / "ports"
        started = subprocess.run(
            [PROGRAM, "serve", "--store", self.store, "--port-file", str(ports),
             *(() if "--listen" in flags else ("--listen", "127.0.0.1:0")), *flags],
            capture_output=True, text=True, timeout=60, env=environment(), preexec_fn=before,
            cwd=self.directory, check=False)
        lines = started.stderr.splitlines()
        self.assertEqual((started.returncode, started.stdout, len(lines)), (USAGE, "", 1), started)
        self.assertTrue(lines[0].startswith("tarry: "), lines[0])
        for said in says:
            self.assertIn(said, lines[0])
        self.assertFalse(ports.exists())
        self.assertFalse((self.directory / "store").exists())

    def test_each_has_its_line(self):
        secret = self.authority.encrypt_key("server", "open sesame")
        passphrase = self.directory / "passphrase"
        passphrase.touch(mode=0o600)
        passphrase.write_text("abracadabra\n")
        taken = self.directory / "taken.sock"
        with socket.socket(socket.AF_UNIX) as other, Server("memory:") as server:
            other.bind(str(taken))
            other.listen()
            port = server.port
            for what, flags, says in (
                    ("a key of another certificate", self.tls("server-chain.pem", "other.key"),
                     (f'tls.key "{self.pki}/other.key"', "does not match the first certificate",
                      "server-chain.pem")),
                    ("an expired certificate", self.tls("old-chain.pem", "old.key"),
                     (f'tls.cert "{self.pki}/old-chain.pem"',
                      "has expired: it was valid until 2021-01-31T12:00:00Z")),
                    ("a certificate of the future", self.tls("young-chain.pem", "young.key"),
                     ("young-chain.pem", "is not valid yet: it will be from 2098-01-01")),
                    ("a chain without its middle", self.tls("leaf.pem", "leaf.key"),
                     ("leaf.pem", 'lacks the certificate of the issuer "CN=issuer"')),
                    ("a key that is not there", self.tls("server-chain.pem", "none.key"),
                     ("none.key", "No such file")),
                    ("an encrypted key alone", self.tls("server-chain.pem", "server-secret.key"),
                     (secret, "is encrypted", "tls.passphrase_file")),
                    ("a wrong passphrase",
                     self.tls("server-chain.pem", "server-secret.key", "--tls-passphrase-file",
                              str(passphrase)),
                     (secret, f'the passphrase in tls.passphrase_file "{passphrase}" is wrong')),
                    ("an authority of clients that is none",
                     self.tls("server-chain.pem", "server.key", "--tls-client-ca",
                              f"{self.pki}/server.key"),
                     ("tls.client_ca", "server.key", "has no certificate")),
                    ("an address of another machine",
                     ("--listen", "192.0.2.1:0", "--insecure"),
                     ("cannot listen on 192.0.2.1:0", "this machine has no such address")),
                    ("a name for an address", ("--listen", "localhost.example:7733"),
                     ('"localhost.example" is not an IP address',)),
                    ("a port that is none", ("--listen", "127.0.0.1:65536"),
                     ("65536", "65535")),
                    ("a taken unix socket", ("--listen", f"127.0.0.1:0,unix:{taken}"),
                     (f"cannot listen on {taken}", "in use")),
                    ("two fronts on one port", ("--listen", f"127.0.0.1:{port},127.0.0.1:{port}"),
                     (f'"127.0.0.1:{port}" takes the same port as "127.0.0.1:{port}"',)),
                    ("a front on a port of all addresses",
                     ("--listen", f"0.0.0.0:{port},127.0.0.1:{port}", "--insecure"),
                     (f'"127.0.0.1:{port}" takes the same port as "0.0.0.0:{port}"',)),
                    ("two fronts on one socket", ("--listen", "127.0.0.1:0,unix:a,unix:./a"),
                     ("takes the same path as",)),
                    ("an unknown scope", self.tokens(f"a reed * {HASH}"),
                     (":2:", 'scope "reed" is not read, push, consume or admin',
                      'did you mean "read"?')),
                    ("no scope", self.tokens(f"a , * {HASH}"), (":2:", 'scope ""')),
                    ("a pattern that matches nothing", self.tokens(f"a read sh*p {HASH}"),
                     (":2:", 'pattern "sh*p" may have a * at its end only')),
                    ("a pattern with a byte that no queue has",
                     self.tokens(f"a read sh?p {HASH}"), (":2:", '"sh?p"')),
                    ("an empty pattern", self.tokens(f"a read shop.*, {HASH}"), (":2:", '""')),
                    ("a pattern that is longer than a queue's name",
                     self.tokens(f"a read {'x' * 256}* {HASH}"), (":2:", "over the limit of")),
                    ("a name with a port", ("--names", "queue.example:7733"),
                     ('"queue.example:7733"', "without a port")),
                    ("other machines without TLS", ("--listen", "0.0.0.0:0"),
                     ("without TLS (tls.cert)", "server.insecure = true"))):
                with self.subTest(what):
                    self.refuse(flags, says)

    @unittest.skipUnless(os.geteuid() == 0, "a test for root, which gives up its rights")
    def test_each_lack_of_rights_has_its_line(self):
        self.directory.chmod(0o777)

        def without_rights():
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        file = self.tokens(f"a read * {HASH}")
        closed = self.directory / "closed"
        closed.mkdir(mode=0o755)
        cases = [("a key", self.tls("server.pem", "server.key"),
                  ("server.key", "cannot be read: Permission denied")),
                 ("a tokens file", file, (file[1], "Permission denied")),
                 ("a directory of a socket", ("--listen", f"127.0.0.1:0,unix:{closed}/t.sock"),
                  (f"cannot listen on {closed}/t.sock", "Permission denied"))]
        if int(OPEN_PORTS.read_text()) > 81:
            cases.append(("a port below 1024", ("--listen", "127.0.0.1:81"),
                          ("127.0.0.1:81: Permission denied; a port below 1024 needs root or the "
                           "capability CAP_NET_BIND_SERVICE",)))
        (self.pki / "server.pem").write_text((self.pki / "server-chain.pem").read_text())
        for what, flags, says in cases:
            with self.subTest(what):
                self.refuse(flags, says, before=without_rights)


if __name__ == "__main__":
    unittest.main()
