"""Two network namespaces with a wire between them, and what passes over the wire. Needs root."""

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
import threading

SERVER, CLIENT = "192.0.2.1", "192.0.2.2"  # of documents alone: no machine has them
CLONE_NEWNET = 0x40000000
EVERY_PROTOCOL = 0x0003
SO_RCVBUFFORCE = 33
LIBC = ctypes.CDLL(None, use_errno=True)


def enter(namespace):
    """Moves this thread into the namespace, which is an open descriptor."""
    if LIBC.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Namespaces:
    """The server's namespace has the address SERVER, the client's CLIENT."""

    def __init__(self):
        """OSError with a reason, if this machine has no namespaces for us."""
        if os.geteuid() != 0 or shutil.which("ip") is None:
            raise OSError("network namespaces need root and the program ip")
        self._names = [f"tarry-{kind}-{os.getpid()}" for kind in ("server", "client")]
        self._made = []
        try:
            for name in self._names:
                self._ip("netns", "add", name)
                self._made.append(name)
            ends = [f"tarry{kind}{os.getpid()}" for kind in "sc"]
            self._ip("link", "add", ends[0], "netns", self._names[0], "type", "veth", "peer",
                     "name", ends[1], "netns", self._names[1])
            for name, end, address in zip(self._names, ends, (SERVER, CLIENT)):
                self._ip("-n", name, "address", "add", f"{address}/24", "dev", end)
                for device in (end, "lo"):
                    self._ip("-n", name, "link", "set", device, "up")
        except OSError:
            self.close()
            raise
        self.wire = ends[0]
        self.server, self.client = (os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)
                                    for name in self._names)

    @staticmethod
    def _ip(*words):
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")

    @staticmethod
    @contextlib.contextmanager
    def inside(namespace):
        """This thread, for a while: sockets that it makes stay there."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            enter(namespace)
            yield
        finally:
            enter(own)
            os.close(own)

    def close(self):
        for name in self._made:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
        for kind in ("server", "client"):
            if hasattr(self, kind):
                os.close(getattr(self, kind))


class Capture:
    """What passes over the wire, and which of the words are in it."""

    def __init__(self, namespaces, words):
        self._words = [word.encode() for word in words]
        self.bytes = 0
        self.seen = set()
        with namespaces.inside(namespaces.server):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                         socket.htons(EVERY_PROTOCOL))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self._socket.bind((namespaces.wire, 0))
        self._socket.settimeout(0.1)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        frame = bytearray(1 << 17)
        while True:
            try:
                size = self._socket.recv_into(frame)
            except TimeoutError:
                if self._done.is_set():
                    return
                continue
            self.bytes += size
            for word in self._words:
                if frame.find(word, 0, size) >= 0:
                    self.seen.add(word.decode())

    def stop(self):
        self._done.set()
        self._thread.join()
        self._socket.close()
