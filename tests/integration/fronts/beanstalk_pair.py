"""Two servers that speak beanstalkd's protocol, Debian's beanstalkd and tarry: the same commands go
to both, and the replies must be the same byte for byte, but for jobs' ids and what MASKED lists."""

import re
import shutil
import socket
import subprocess

from ports import free_port
from program import Server, eventually

BEANSTALKD = shutil.which("beanstalkd") or "/usr/bin/beanstalkd"

# tarry answers as 1.12 does. From 1.13 on, beanstalkd quotes the texts among its figures, and
# refuses a time-out that is no number, which 1.12 took for 0.
IS_1_12 = " 1.12" in subprocess.run([BEANSTALKD, "-v"], capture_output=True, text=True,
                                    check=True).stdout

# Fields of the figures that depend on time, or on the process. Of each only the form is compared.
MASKED = ("age", "time-left", "pause-time-left", "pid", "version", "rusage-utime", "rusage-stime",
          "uptime", "id")


class Reference:
    """beanstalkd on a free port."""

    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            [BEANSTALKD, "-l", "127.0.0.1", "-p", str(self.port)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(self._listens, "beanstalkd listens")

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def stop(self):
        self.process.kill()
        self.process.wait()


class Tarry:
    """tarry, whose jobs may be as large as beanstalkd's."""

    def __init__(self, store="memory:?max_payload=65535", *flags):
        self.server = Server(store, "--beanstalk", "127.0.0.1:0", *flags)
        self.port = int(re.search(r"beanstalk://127\.0\.0\.1:(\d+)", self.server.ready)[1])
        Connection(self.port).close()  # as _listens, for the count of all connections

    def stop(self):
        return self.server.stop()


class Connection:
    """One client of one server."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)

    def reply(self):
        """The next reply, whole; empty at the end."""
        line = self.file.readline()
        words = line.split()
        if words and words[0] in (b"RESERVED", b"FOUND", b"OK"):
            return line + self.file.read(int(words[-1]) + 2)
        return line

    def ask(self, data):
        self.send(data)
        return self.reply()

    def close(self):
        self.file.close()
        self.socket.close()


class Side:
    """One server with its clients, and the names of its jobs."""

    def __init__(self, server):
        self.port = server.port
        self.clients = {}
        self.jobs = {}   # name -> id
        self.names = {}  # id -> name

    def client(self, name):
        if name not in self.clients:
            self.clients[name] = Connection(self.port)
        return self.clients[name]

    def close(self, name):
        if name in self.clients:
            self.clients.pop(name).close()

    def spelled(self, command):
        """The command with ids in place of `{name}`."""
        return re.sub(rb"\{(\w+)\}", lambda found: self.jobs.get(found[1], b"999999999"), command)

    def plain(self, reply, new=b"new"):
        """The reply with names in place of ids, and without what MASKED lists."""
        inserted = re.match(rb"(?:INSERTED|BURIED) (\d+)\r\n$", reply)
        if inserted:
            self.jobs[new] = inserted[1]
            self.names[inserted[1]] = new
        if reply.startswith(b"OK "):
            reply = reply.split(b"\r\n", 1)[1]
            reply = re.sub(rb"(?m)^id: (\d+)$", lambda found: b"job: " + self.name(found[1]), reply)
            if not IS_1_12:
                reply = re.sub(rb'(?m)^([a-z-]+): "(.*)"$', rb"\1: \2", reply)
            masks = "|".join(MASKED).encode()
            return re.sub(rb"(?m)^(" + masks + rb"): .*$", rb"\1: *", reply)
        return re.sub(rb"^(INSERTED|BURIED|RESERVED|FOUND) (\d+)",
                      lambda found: found[1] + b" {" + self.name(found[2]) + b"}", reply)

    def name(self, job):
        return self.names.get(job, b"?" + job)


class Pair:
    """The same to both."""

    def __init__(self, reference, tarry):
        self.sides = (Side(reference), Side(tarry))
        self.history = []

    def ask(self, client, command, new=b"new"):
        """Both replies, which are equal; or an AssertionError with all that was said before."""
        self.history.append((client, command))
        replies = [side.plain(side.client(client).ask(side.spelled(command)), new)
                   for side in self.sides]
        self.compare(replies)
        return replies[0]

    def send(self, client, data):
        self.history.append((client, data))
        for side in self.sides:
            side.client(client).send(side.spelled(data))

    def reply(self, client, new=b"new"):
        replies = [side.plain(side.client(client).reply(), new) for side in self.sides]
        self.compare(replies)
        return replies[0]

    def compare(self, replies):
        if replies[0] != replies[1]:
            told = "\n".join(f"{client}: {data!r}" for client, data in self.history[-80:])
            raise AssertionError(f"after\n{told}\nbeanstalkd: {replies[0]!r}\n"
                                 f"tarry:      {replies[1]!r}")

    def close(self, client=None):
        self.history.append((client, b"(closes)"))
        for side in self.sides:
            for name in [client] if client else list(side.clients):
                side.close(name)
