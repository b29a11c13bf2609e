#!/usr/bin/env python3
"""What a server over TLS agrees to, asked as scanners ask: every protocol and cipher, signatures,
groups, renegotiation, compression, early data, tickets."""

import re
import socket
import ssl
import subprocess
import unittest

from program import Server
from tls_test import RSA, TlsTest

# All with forward secrecy and authenticated encryption.
OFFERED = {f"ECDHE-{kind}-{cipher}" for kind in ("ECDSA", "RSA") for cipher in
           ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305")}
OFFERED_13 = {"TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"}
ALL = "ALL:COMPLEMENTOFALL:@SECLEVEL=0"
HEALTH = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def every_cipher():
    listed = subprocess.run(["openssl", "ciphers", "-tls1_2", "-s", ALL], capture_output=True,
                            text=True, check=True).stdout.strip().split(":")
    return [name for name in listed if not name.startswith("TLS_")]


class TlsOffers(TlsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.authority.issue("rsa", new_key=RSA)

    def serve(self, name="server"):
        server = Server("memory:", *self.tls(name))
        self.addCleanup(server.stop)
        return server

    def ask(self, server, *flags, text="", good=True):
        """What openssl s_client prints."""
        asked = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile",
             self.authority.path("root"), *flags], input=text, capture_output=True, text=True,
            timeout=60, check=False)
        said = asked.stdout + asked.stderr
        if good:
            self.assertIn("Verify return code: 0 (ok)", said)
        else:
            self.assertIn("Cipher is (NONE)", said)
        return said

    def test_no_protocol_before_1_2(self):
        server = self.serve()
        for version in ("-tls1", "-tls1_1"):
            said = self.ask(server, version, "-cipher", ALL, good=False)
            self.assertRegex(said, "alert protocol version|no protocols available|unsupported")
        self.assertIn("Protocol  : TLSv1.2", self.ask(server, "-tls1_2"))
        self.assertRegex(self.ask(server, "-tls1_3"), "New, TLSv1.3, Cipher is TLS_")
        # A client that was made to try an older protocol is told so.
        self.assertIn("inappropriate fallback",
                      self.ask(server, "-fallback_scsv", "-no_tls1_3", good=False))

    def test_every_cipher(self):
        taken = set()
        for name in ("server", "rsa"):
            server = self.serve(name)
            for cipher in every_cipher():
                context = self.context(maximum_version=ssl.TLSVersion.TLSv1_2)
                context.set_ciphers(f"{cipher}:@SECLEVEL=0")
                try:
                    taken.add(self.connect(server, context).cipher()[0])
                except (ssl.SSLError, ConnectionError):
                    pass
        self.assertEqual(taken, OFFERED)
        suites = {name: re.search(r"Cipher is (\S+)", self.ask(
            server, "-tls1_3", "-ciphersuites", name))[1] for name in OFFERED_13}
        self.assertEqual(suites, {name: name for name in OFFERED_13})
        for name in ("TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256"):
            self.ask(server, "-tls1_3", "-ciphersuites", name, good=False)

    def test_no_weak_signature_or_group(self):
        for name, algorithm in (("server", "ECDSA+SHA1"), ("rsa", "RSA+SHA1")):
            self.ask(self.serve(name), "-tls1_2", "-cipher", "ALL:@SECLEVEL=0", "-sigalgs",
                     algorithm, good=False)
        server = self.serve()
        for group in ("P-192", "secp224r1", "secp256k1"):
            self.ask(server, "-tls1_2", "-cipher", "ALL:@SECLEVEL=0", "-groups", group, good=False)
        for group in ("X25519", "P-256", "P-384"):
            self.ask(server, "-groups", group)

    def test_neither_renegotiation_nor_compression_nor_early_data(self):
        server = self.serve()
        said = self.ask(server, "-tls1_2", text="R\n" + HEALTH)
        self.assertIn("Secure Renegotiation IS supported", said)
        self.assertIn("no renegotiation", said.lower())
        # It goes on, and is asked again and again.
        said = self.ask(server, "-tls1_2", "-legacy_renegotiation", text="R\nR\n" + HEALTH)
        self.assertIn("no renegotiation", said.lower())
        for flag in ("-tls1_2", "-tls1_3"):
            said = self.ask(server, flag, "-comp")
            self.assertIn("Compression: NONE", said)
            self.assertIn("Expansion: NONE", said)
        early = self.ask(server, "-tls1_3", "-ign_eof",
                         text="GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                              "Connection: close\r\n\r\n")
        self.assertIn("Max Early Data: 0", early)

    def test_tickets(self):
        """A ticket lasts minutes, and those of before another certificate are worth nothing."""
        server = self.serve()
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context(minimum_version=version, maximum_version=version)
            client = self.connect(server, context)
            client.sendall(HEALTH.encode())
            client.recv(1000)  # the ticket comes before it
            session = client.session
            self.assertTrue(session.has_ticket)
            self.assertLessEqual(session.ticket_lifetime_hint, 7_200)
            self.assertTrue(self.resumes(server, context, session))
            # Another server, or this one with another certificate, has another key for tickets.
            self.assertFalse(self.resumes(self.serve(), context, session))

    def resumes(self, server, context, session):
        with self.connect_again(server, context, session) as client:
            client.sendall(HEALTH.encode())
            self.assertTrue(client.recv(1000).startswith(b"HTTP/1.1 200 "))
            return client.session_reused

    def connect_again(self, server, context, session):
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.addCleanup(plain.close)
        return context.wrap_socket(plain, server_hostname="localhost", session=session)


if __name__ == "__main__":
    unittest.main()
