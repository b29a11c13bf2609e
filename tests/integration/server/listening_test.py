#!/usr/bin/env python3
"""tarry serve: at which addresses it listens, who may reach it there, and by which names."""

import http.client
import json
import os
import socket
import stat
import subprocess
import unittest
from pathlib import Path

from program import (DONE, FAILED, PROGRAM, USAGE, ProgramTest, Server, UnixConnection,
                     environment)


def status(connection, path="/healthz", **headers):
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def own_address():
    """An address of this machine beyond loopback; None without a network. It sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


class Addresses(ProgramTest):
    """Several addresses of one server."""

    def serve(self, *flags):
        """The server's process, its ready line as JSON, and its log's first lines."""
        with open(self.directory / "log", "wb") as log:
            process = subprocess.Popen(
                [PROGRAM, "-o", "json", "serve", "--store", self.store, *flags],
                stdout=subprocess.PIPE, stderr=log, cwd=self.directory, env=environment())
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        ready = process.stdout.readline()
        self.assertTrue(ready, self.log())
        return process, json.loads(ready)

    def log(self):
        return Path(self.directory / "log").read_text()

    def test_it_listens_at_each(self):
        path = self.directory / "t.sock"
        process, ready = self.serve("--listen", "127.0.0.1:0, [::1]:0,unix:t.sock",
                                    "--port-file", "ports")
        v4, v6 = (int(line) for line in Path(self.directory / "ports").read_text().split())
        self.assertEqual(ready["urls"], [f"http://127.0.0.1:{v4}", f"http://[::1]:{v6}",
                                         f"http+unix://{path}"])
        self.assertEqual(ready["url"], ready["urls"][0])
        self.assertEqual(status(http.client.HTTPConnection("127.0.0.1", v4, timeout=60)), 200)
        self.assertEqual(status(http.client.HTTPConnection("::1", v6, timeout=60)), 200)
        self.assertEqual(status(UnixConnection(str(path))), 200)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        # One server: they share the store.
        for number, url in enumerate(ready["urls"]):
            self.asked("push", "q", str(number), store=url)
        self.assertEqual(len(self.asked("ls", "q", store=ready["urls"][1])["messages"]), 3)
        self.assertNotIn("insecure", self.log())
        process.terminate()
        self.assertEqual(process.wait(timeout=60), DONE)
        self.assertFalse(path.exists())

    def test_a_unix_socket_alone(self):
        process, ready = self.serve("--listen", "unix:t.sock")
        self.assertEqual(ready["url"], f"http+unix://{self.directory}/t.sock")
        self.assertNotIn("urls", ready)
        self.asked("push", "q", "x", store=ready["url"])
        # The file that a server leaves which is killed is replaced by the next.
        process.kill()
        process.wait()
        self.assertTrue((self.directory / "t.sock").exists())
        _, ready = self.serve("--listen", "unix:t.sock")
        self.assertEqual(len(self.asked("ls", "q", store=ready["url"])["messages"]), 1)

    def test_an_ipv6_address_takes_no_client_over_ipv4(self):
        _, ready = self.serve("--listen", "[::]:0", "--insecure", "--port-file", "port")
        port = int(Path(self.directory / "port").read_text())
        self.assertEqual(ready["url"], f"http://[::]:{port}")
        self.assertEqual(status(http.client.HTTPConnection("::1", port, timeout=60)), 200)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=60)
        # So both may have one port.
        self.assertIn("other machines reach [::]:0 without TLS (tls.cert) and without a token",
                      self.log())

    def refuse(self, *flags, says, code=USAGE):
        answer = self.refused("serve", "--store", self.store, *flags, store="", code=code,
                              says=says)
        self.assertEqual(len(answer.err.splitlines()), 1, answer)
        self.assertFalse((self.directory / "store").exists(), "no store is made")

    def test_addresses_that_cannot_be_taken(self):
        with Server("memory:") as other:
            taken = f"127.0.0.1:{other.port}"
            self.refuse("--listen", f"[::1]:0,unix:t.sock,{taken}", code=FAILED,
                        says=(f"cannot listen on {taken}", "in use"))
            self.assertFalse((self.directory / "t.sock").exists())
        # 192.0.2.0/24 is of documents alone: no machine has it.
        self.refuse("--listen", "192.0.2.1:0", "--insecure",
                    says=("cannot listen on 192.0.2.1:0", "this machine has no such address"))
        self.refuse("--listen", "[2001:db8::1]:0", "--insecure",
                    says=("cannot listen on [2001:db8::1]:0", "no such address"))

    def test_unix_sockets_that_cannot_be_made(self):
        path = self.directory / "t.sock"
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
            other.listen()
            self.refuse("--listen", "127.0.0.1:0,unix:t.sock",
                        says=(f"cannot listen on {path}", "in use"))
        path.unlink()
        path.write_text("mine")
        self.refuse("--listen", "unix:t.sock", says=(str(path), "no socket"))
        self.assertEqual(path.read_text(), "mine")
        self.refuse("--listen", "unix:no/such/t.sock", says=("no/such/t.sock", "No such file"))
        self.refuse("--listen", "unix:" + "x" * 108, says=("too long for a socket", "107"))

    @unittest.skipUnless(os.geteuid() == 0, "a test for root, which gives up its rights")
    def test_a_port_below_1024_without_the_right(self):
        def without_rights():
            os.setgid(65534)
            os.setuid(65534)

        limit = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()
        if int(limit) <= 81:
            self.skipTest("this machine lets everybody have any port")
        finished = subprocess.run(
            [PROGRAM, "serve", "--store", "memory:", "--listen", "127.0.0.1:81"],
            capture_output=True, text=True, timeout=60, env=environment(),
            preexec_fn=without_rights, cwd="/", check=False)
        self.assertEqual(finished.returncode, USAGE, finished.stderr)
        self.assertEqual(finished.stderr.splitlines(), [
            "tarry: cannot listen on 127.0.0.1:81: Permission denied; a port below 1024 needs "
            "root or the capability CAP_NET_BIND_SERVICE"])


class Beyond(ProgramTest):
    """Beyond loopback."""

    def test_tls_and_a_token_are_demanded(self):
        token = self.directory / "token"
        token.write_text("s3cret-s3cret-s3cret\n")
        serve = ("serve", "--store", "memory:", "--listen", "127.0.0.1:0,0.0.0.0:0,[::]:0")
        for flags, lacks in (
                ((), "without TLS (tls.cert) and without a token (server.tokens_file)"),
                (("--token-file", str(token)), "without TLS (tls.cert)")):
            with self.subTest(flags):
                self.refused(*serve, *flags, store="", says=(
                    "flag --listen: server.listen: other machines would reach "
                    f"0.0.0.0:0, [::]:0 {lacks}; set what is missing, or server.insecure = true"))
                answer = self.tarry("config", "check", "--listen", "0.0.0.0:0", *flags,
                                    store="memory:")
                self.assertIn(f"tarry serve refuses this: flag --listen: server.listen: other "
                              f"machines would reach 0.0.0.0:0 {lacks}", answer.err)

    def test_each_start_tells_of_insecure(self):
        token = self.directory / "token"
        token.write_text("s3cret-s3cret-s3cret\n")
        token.chmod(0o600)
        for flags, variables, said in (
                (("--listen", "0.0.0.0:0", "--insecure"), {},
                 "0.0.0.0:0 without TLS (tls.cert) and without a token"),
                (("--listen", "0.0.0.0:0", "--token-file", str(token)), {"TARRY_INSECURE": "1"},
                 "server.insecure: other machines reach 0.0.0.0:0 without TLS (tls.cert)\n"),
                (("--insecure",), {}, "server.insecure is set, but no address needs it")):
            for _ in range(2):
                with self.subTest(said), Server(self.store, *flags, variables=variables) as server:
                    self.assertIn("warning", server.log())
                    self.assertIn(said, server.log())

    def test_its_names(self):
        """The Host check knows loopback, the address that the client connects to, and the names."""
        names = "queue.example,2001:DB8::7,192.0.2.7"
        with Server("memory:", "--listen", "0.0.0.0:0", "--insecure",
                    "--names", names) as server:
            def asked(host, at="127.0.0.1"):
                return status(http.client.HTTPConnection(at, server.port, timeout=60), Host=host)

            for host in ("localhost", "127.0.0.1:1", "queue.example", "QUEUE.example:7733",
                         "[2001:db8::7]", "[2001:db8:0::7]:1", "192.0.2.7"):
                self.assertEqual(asked(host), 200, host)
            for host in ("other.example", "queue.example.evil", "192.0.2.8", "[2001:db8::8]",
                         "0.0.0.0"):
                self.assertEqual(asked(host), 421, host)
            mine = own_address()
            if mine is not None and not mine.startswith("127."):
                self.assertEqual(asked(f"{mine}:{server.port}", at=mine), 200)
                self.assertEqual(asked(f"{mine}:{server.port}"), 421)


if __name__ == "__main__":
    unittest.main()
