"""Runs the real program as its users do. TARRY_PROGRAM says where it is."""

import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

PROGRAM = os.environ.get("TARRY_PROGRAM", "")
SOURCE = Path(os.environ.get("TARRY_SOURCE_DIR", Path(__file__).resolve().parents[2]))

DONE, FAILED, USAGE, UNKNOWN, CONFLICT, UNREACHABLE = range(6)


def environment(**variables):
    """Our environment without variables that would lead a test to a user's store."""
    base = {name: value for name, value in os.environ.items() if not name.startswith("TARRY_")}
    return base | variables


def eventually(happens, what, seconds=60):
    """Checks again and again until it has happened; the limit says nothing about speed."""
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")


class Answer:
    """The output of one run of the program."""

    def __init__(self, finished):
        self.code = finished.returncode
        self.bytes = finished.stdout
        self.out = finished.stdout.decode("utf-8", "surrogateescape")
        self.err = finished.stderr.decode("utf-8", "surrogateescape")

    @property
    def json(self):
        """The one JSON value on standard output."""
        return json.loads(self.out)

    def __repr__(self):
        return f"exit code {self.code}\nstdout: {self.out}\nstderr: {self.err}"


class Server:
    """`tarry serve` on a free port of 127.0.0.1, unless the flags say where; `port` is then the
    first. Use it in a `with`; it must end cleanly."""

    def __init__(self, store, *flags, cwd=None, descriptors=None, variables=None, before=None,
                 listen=("--listen", "127.0.0.1:0"), authority=None):
        """`descriptors`: its soft and hard limit of open files. `variables`: additions to its
        environment. `before`: a function that its process calls before it becomes the server.
        `authority`: an Authority that issued "server"; then it speaks TLS."""
        if authority:
            flags = (*authority.served(), *flags)
        self._context = authority and authority.context()
        self._directory = tempfile.TemporaryDirectory(prefix="tarry-server-")
        port_file = Path(self._directory.name) / "port"
        # In append mode, because reading moves the position that the writer shares.
        self._log = open(Path(self._directory.name) / "log", "a+b")
        if "--listen" in flags:
            listen = ()
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--store", store, *listen, "--port-file", str(port_file), *flags],
            stdout=subprocess.PIPE, stderr=self._log, env=environment(**variables or {}), cwd=cwd,
            preexec_fn=before or (descriptors and (
                lambda: resource.setrlimit(resource.RLIMIT_NOFILE, descriptors))))
        self.ready = self.process.stdout.readline().decode()
        if not self.ready:
            self.process.wait()
            raise AssertionError(f"the server did not start: {self.log()}")
        self.port = int(port_file.read_text().split()[0])
        self.url = f"http{'s' if authority else ''}://127.0.0.1:{self.port}"

    def socket(self):
        """A connection to it; after the handshake, if it speaks TLS."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        return self._context.wrap_socket(plain, server_hostname="localhost") if self._context \
            else plain

    def connection(self):
        """The same for http.client."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.sock = self.socket()
        return connection

    def halt(self):
        """Stops it by SIGSTOP. When this returns, none of its threads runs any more."""
        self.process.send_signal(signal.SIGSTOP)
        tasks = Path(f"/proc/{self.process.pid}/task")
        eventually(lambda: all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T"
                               for task in tasks.iterdir()), "all its threads stand still")

    def answered(self, route):
        """How many requests of that route it has answered with 200."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=60) as page:
            found = re.search(
                rf'^tarry_http_requests_total{{route="{re.escape(route)}",code="200"}} (\d+)',
                page.read().decode(), re.MULTILINE)
        return int(found[1]) if found else 0

    def log(self):
        """Its standard error so far."""
        self._log.seek(0)
        return self._log.read().decode("utf-8", "replace")

    def stop(self, signal_number=signal.SIGTERM):
        """Ends it; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self._log.close()
        self._directory.cleanup()
        return code

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        code = self.stop()
        if kind is None and code != 0:
            raise AssertionError(f"the server ended with {code}")


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self._path)


class ProgramTest(unittest.TestCase):
    """A test with its own directory, and a file store in it."""

    def setUp(self):
        self.assertTrue(PROGRAM, "TARRY_PROGRAM is not set")
        directory = tempfile.TemporaryDirectory(prefix="tarry-test-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.store = f"file:{self.directory}/store"

    def tarry(self, *words, code=DONE, store=None, stdin=b"", **variables):
        """Runs the program; its exit code must be `code`, unless that is None."""
        chosen = self.store if store is None else store
        if chosen:
            variables.setdefault("TARRY_STORE", chosen)
        finished = subprocess.run([PROGRAM, *words], input=stdin, capture_output=True, timeout=100,
                                  env=environment(**variables), cwd=self.directory, check=False)
        answer = Answer(finished)
        if code is not None:
            self.assertEqual(answer.code, code, f"{words}: {answer}")
        return answer

    def make_store(self):
        """Makes an empty store, by a server that gets no requests."""
        with Server(self.store):
            pass

    def asked(self, *words, code=DONE, **more):
        """The same, with the answer as JSON."""
        return self.tarry(*words, "-o", "json", code=code, **more).json

    def refused(self, *words, code=USAGE, says=(), **more):
        """The same for a command that must be refused: one plain line on stderr, nothing on
        stdout."""
        answer = self.tarry(*words, code=code, **more)
        self.assertEqual(answer.out, "", answer)
        lines = answer.err.splitlines()
        self.assertTrue(lines and lines[0].startswith("tarry: "), answer)
        for word in (says,) if isinstance(says, str) else says:
            self.assertIn(word, lines[0])
        return answer
