#!/usr/bin/env python3
"""tarry serve with sockets that its parent listens at, as systemd passes them on."""

import json
import os
import shutil
import socket
import subprocess
import unittest
import urllib.request
from pathlib import Path

from program import PROGRAM, SOURCE, USAGE, ProgramTest, UnixConnection, environment

# The shell's own process becomes the server, so that LISTEN_PID is right.
START = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh"]


class InheritedSockets(ProgramTest):
    def command(self, *flags):
        return [PROGRAM, "serve", "--store", "memory:", "--port-file", str(self.port_file), *flags]

    def setUp(self):
        super().setUp()
        self.port_file = self.directory / "ports"

    def port(self):
        """A socket of this process that listens at a free port."""
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        return listening

    def start(self, sockets, *flags, command=START, count=None):
        """Starts a server with these sockets as its descriptors 3, 4, ..."""
        def place():
            copies = [os.dup(one.fileno()) for one in sockets]  # those below may be overwritten
            for number, copy in enumerate(copies):
                os.dup2(copy, 3 + number)

        variables = {"LISTEN_FDS": str(len(sockets)) if count is None else count}
        server = subprocess.Popen([*command, *self.command(*flags)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment(**variables),
                                  preexec_fn=place, close_fds=False)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.stderr.close)
        return server

    def stop(self, server):
        server.terminate()
        self.assertEqual(server.wait(60), 0)

    def refused(self, sockets, *flags, says, count=None):
        server = self.start(sockets, *flags, count=count)
        out, err = server.communicate(timeout=60)
        self.assertEqual((server.returncode, out), (USAGE, b""), err)
        self.assertEqual(err.decode().splitlines()[0], "tarry: " + says)

    def version_at(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
            return json.load(answer)["version"]

    def test_clients_wait_while_the_server_restarts(self):
        mine = self.port()
        port = mine.getsockname()[1]
        address = f"127.0.0.1:{port}"
        early = socket.create_connection(("127.0.0.1", port))  # nobody accepts it yet
        early.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        server = self.start([mine], "--listen", address)
        self.assertIn(address, server.stdout.readline().decode())
        self.assertEqual(self.port_file.read_text(), f"{port}\n")
        with early, early.makefile("rb") as answer:
            self.assertEqual(answer.readline(), b"HTTP/1.1 200 OK\r\n")
        self.stop(server)
        self.assertIn(f"{address}: the socket was passed on", server.stderr.read().decode())
        again = socket.create_connection(("127.0.0.1", port))  # the server is gone
        with again:
            self.start([mine], "--listen", address).stdout.readline()
            again.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            with again.makefile("rb") as answer:
                self.assertEqual(answer.readline(), b"HTTP/1.1 200 OK\r\n")

    def test_each_front_gets_its_own_and_opens_the_rest(self):
        path = self.directory / "tarry.sock"
        mine = socket.socket(socket.AF_UNIX)
        self.addCleanup(mine.close)
        mine.bind(str(path))
        mine.listen()
        path.chmod(0o660)
        jobs = self.port()
        server = self.start([jobs, mine], "--listen", f"unix:{path},127.0.0.1:0", "--beanstalk",
                            "127.0.0.1:%d" % jobs.getsockname()[1])
        server.stdout.readline()
        connection = UnixConnection(str(path))
        connection.request("GET", "/readyz")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        opened, front = map(int, self.port_file.read_text().split())
        self.assertEqual(front, jobs.getsockname()[1])
        self.assertTrue(self.version_at(opened))
        with socket.create_connection(("127.0.0.1", front)) as client:
            client.sendall(b"peek 1\r\n")
            self.assertEqual(client.recv(100), b"NOT_FOUND\r\n")
        self.stop(server)
        self.assertEqual(path.stat().st_mode & 0o777, 0o660)  # it is not the server's to remove

    def test_other_processes_sockets_are_not_touched(self):
        """LISTEN_PID names another process: descriptor 3 has nothing to do with the server."""
        server = self.start([self.port()], "--listen", "127.0.0.1:0",
                            command=["/bin/sh", "-c", 'LISTEN_PID=1 exec "$@"', "sh"])
        server.stdout.readline()
        self.assertTrue(self.version_at(int(self.port_file.read_text())))
        self.stop(server)

    def test_what_is_wrong_is_named(self):
        mine = self.port()
        address = "127.0.0.1:%d" % mine.getsockname()[1]
        self.refused([mine], "--listen", "127.0.0.1:0",
                     says=f"LISTEN_FDS has a socket at {address}, which is no address of "
                          'server.listen, server.sqs or server.beanstalk; server.listen is '
                          '"127.0.0.1:0"')
        self.refused([mine], "--listen", address, count="some",
                     says='LISTEN_FDS "some" is not a whole number from 0 to 1000')
        unbound = socket.socket()
        self.addCleanup(unbound.close)
        self.refused([unbound], says="LISTEN_FDS 1: descriptor 3 is no stream socket that "
                                     "listens; a socket unit needs ListenStream= and Accept=no")

    @unittest.skipUnless(shutil.which("systemd-socket-activate"), "needs systemd-socket-activate")
    def test_systemd_passes_it_on(self):
        path = self.directory / "tarry.sock"
        starter = subprocess.Popen(
            ["systemd-socket-activate", "-l", str(path), PROGRAM, "serve", "--store", "memory:",
             "--listen", f"unix:{path}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=environment())
        self.addCleanup(starter.stderr.close)
        try:
            self.assertIn(b"Listening on", starter.stderr.readline())
            connection = UnixConnection(str(path))
            connection.request("GET", "/readyz")  # this starts the server
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()
        finally:
            starter.terminate()
        self.assertEqual(starter.wait(60), 0)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "needs systemd-analyze")
    def test_the_unit_is_sound(self):
        """Its service as the package has it, for the unit names the user's own path."""
        folder = SOURCE / "packaging" / "systemd"
        service = (folder / "tarry.service").read_text(encoding="utf-8")
        for name, text in (("tarry.service", service.replace("ExecStart=tarry ",
                                                             f"ExecStart={PROGRAM} ")),
                           ("tarry.socket", (folder / "tarry.socket").read_text("utf-8"))):
            (self.directory / name).write_text(text, encoding="utf-8")
        said = subprocess.run(["systemd-analyze", "verify", "--man=no",
                               self.directory / "tarry.socket", self.directory / "tarry.service"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((said.returncode, said.stdout, said.stderr), (0, "", ""))

    def test_the_unit_listens_where_the_package_does(self):
        unit = (SOURCE / "packaging/systemd/tarry.socket").read_text(encoding="utf-8")
        config = Path(SOURCE, "packaging/config/tarry.toml").read_text(encoding="utf-8")
        streams = [line.partition("=")[2] for line in unit.splitlines()
                   if line.startswith("ListenStream=")]
        self.assertEqual(streams, ["127.0.0.1:7733"])
        self.assertIn(f'listen = "{streams[0]}"', config)


if __name__ == "__main__":
    unittest.main()
