"""The servers of a case: tarry itself, a Redis for it, certificates, and what the runner asks."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

SOURCE = Path(os.environ.get("TARRY_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("TARRY_PROGRAM", str(SOURCE / "build/release/tarry"))
sys.path.insert(0, str(SOURCE / "tests/harness"))
from authority import Authority  # noqa: E402


class Certificates:
    """An authority, a server's certificate for 127.0.0.1 and localhost, and a client's."""

    def __init__(self):
        self._place = tempfile.TemporaryDirectory(prefix="tarry-conformance-")
        authority = Authority(self._place.name)
        authority.issue("server")
        authority.issue("client")
        self.ca = str(authority.path("root"))
        self.client = {"cert": str(authority.chain("client")), "key": str(authority.key("client"))}
        self.flags = ("--tls-cert", str(authority.chain("server")),
                      "--tls-key", str(authority.key("server")))


class Redis:
    """A Redis on a unix socket; each case has a database of it."""

    def __init__(self):
        self._place = tempfile.TemporaryDirectory(prefix="tarry-conformance-")
        self._socket = f"{self._place.name}/redis.sock"
        self._process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self._socket, "--save", "",
             "--dir", self._place.name, "--databases", "1000", "--maxmemory-policy", "noeviction",
             "--appendonly", "yes", "--appendfsync", "no"], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as one:
                    one.connect(self._socket)
                    break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self._next = 0

    def store(self):
        """The URL of a database that no case has used."""
        self._next += 1
        return f"redis+unix://{self._socket}?db={self._next}"

    def close(self):
        self._process.terminate()
        self._process.wait()
        self._place.cleanup()


class Server:
    """`tarry serve`, which may be killed and started again on the same address and store."""

    def __init__(self, store, transport, certificates, flags):
        self._place = tempfile.TemporaryDirectory(prefix="tarry-conformance-")
        self._store = f"file:{self._place.name}/store" if store == "file:" else store
        self.transport = transport
        self._certificates = certificates
        self._flags = [str(flag) for flag in flags]
        self._log = open(f"{self._place.name}/log", "a+b")
        self._halted = False
        self.port = 0
        self.process = None
        self.start()

    @property
    def url(self):
        if self.transport == "unix":
            return f"http+unix://{self._place.name}/s"
        return f"http{'s' if self.transport == 'tls' else ''}://127.0.0.1:{self.port}"

    def start(self):
        port_file = Path(self._place.name) / "port"
        listen = f"127.0.0.1:{self.port}"
        flags = list(self._flags)
        if self.transport == "unix":
            listen += f",unix:{self._place.name}/s"
        if self.transport == "tls":
            flags += self._certificates.flags
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--store", self._store, "--listen", listen,
             "--port-file", str(port_file), *flags], stdout=subprocess.PIPE, stderr=self._log,
            env={k: v for k, v in os.environ.items() if not k.startswith("TARRY_")})
        if not self.process.stdout.readline():
            raise AssertionError("the server did not start: " + self.log())
        self.port = int(port_file.read_text().split()[0])

    def log(self):
        self._log.seek(0)
        return self._log.read().decode("utf-8", "replace")

    def act(self, what):
        """kill, start, drain, halt or go_on."""
        if what == "start":
            self.process.wait(timeout=60)
            self.process.stdout.close()
            self.start()
            return
        self.process.send_signal({"kill": signal.SIGKILL, "drain": signal.SIGTERM,
                                  "halt": signal.SIGSTOP, "go_on": signal.SIGCONT}[what])
        self._halted = what == "halt"
        if what == "kill":
            self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self._log.close()
        self._place.cleanup()

    # -- what the runner itself asks

    def ask(self, op, fields, token=None):
        """Carries out an op of the protocol (the frequent ones); the value of its `ok`."""
        method, path, body, pick = _request(op, dict(fields))
        connection = self._connection()
        try:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            if token:
                headers["Authorization"] = f"Bearer {token}"
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            said = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status != 200:
            return {"error": {"code": said.get("code"), "status": answer.status}}
        return pick(said)

    def _connection(self):
        if self.transport == "tls":
            context = ssl.create_default_context(cafile=self._certificates.ca)
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60,
                                               context=context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)


def _request(op, fields):
    """(method, path, body, what of the answer is the `ok`)."""
    queue = urllib.parse.quote(fields.pop("queue", ""), safe="")
    base = f"/v1/queues/{queue}"
    results = lambda said: said["results"]  # noqa: E731
    whole = lambda said: said  # noqa: E731
    for many, one in (("messages", "message"), ("items", "item"), ("keys", "key")):
        if one in fields:
            fields[many] = [fields.pop(one)]
            results = lambda said: _only(said["results"])  # noqa: E731
    table = {
        "push": ("POST", base + "/push", fields, results),
        "get": ("POST", base + "/get", fields, results),
        "cancel": ("POST", base + "/cancel", fields, results),
        "reschedule": ("POST", base + "/reschedule", fields, results),
        "claim": ("POST", "/v1/claim", fields, whole),
        "settle": ("POST", "/v1/settle", fields, results),
        "extend": ("POST", "/v1/extend", fields, results),
        "configure": ("PUT", base, fields, whole),
        "pause": ("POST", base + "/pause", fields, whole),
        "resume": ("POST", base + "/resume", fields, whole),
        "purge": ("POST", base + "/purge", fields, whole),
        "queue": ("GET", base, None, whole),
        "queues": ("GET", "/v1/queues", None, whole),
        "list": ("GET", base + "/messages?" + urllib.parse.urlencode(fields), None, whole),
        "advance": ("POST", "/v1/clock/advance", fields, whole),
        "health": ("GET", "/healthz", None, whole),
    }
    return table[op]


def _only(results):
    return results[0]
