"""Rogue: a proxy before a server. It gives each request the next fate of a list: see README.md."""

import collections
import json
import socket
import struct
import threading

WAIT = 30  # seconds that a read may take, so that no thread stays


def read_message(stream, first=b""):
    """(head, body) of a request or an answer with a Content-Length, or None at the end."""
    held = bytearray(first)
    while b"\r\n\r\n" not in held:
        more = stream.recv(65536)
        if not more:
            return None
        held += more
    head, _, rest = bytes(held).partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
        if name.strip().lower() == b"transfer-encoding":
            raise ValueError("chunked")
    body = bytearray(rest)
    while len(body) < length:
        more = stream.recv(65536)
        if not more:
            return None
        body += more
    return head, bytes(body)


class Rogue:
    """Listens on a free port of 127.0.0.1. `target` answers (host, port) of the server."""

    def __init__(self, target):
        self._target = target
        self._lock = threading.Lock()
        self._fates = collections.deque()
        self._by_path = {}
        self._seen = []
        self._open = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def add(self, fates):
        """Appends to the fates of requests to come; `{PATH: FATE}` is for one of that path."""
        with self._lock:
            for fate in fates:
                if isinstance(fate, dict):
                    for path, one in fate.items():
                        self._by_path.setdefault(path, collections.deque()).append(str(one))
                else:
                    self._fates.append(str(fate))

    def is_quiet(self):
        """Whether it has no open connection."""
        with self._lock:
            return not self._open

    def seen(self, path):
        """How many requests for that path have come."""
        with self._lock:
            return sum(one == path for one in self._seen)

    def close(self):
        """Ends all connections."""
        self._listener.close()
        with self._lock:
            for one in self._open:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.settimeout(WAIT)
            with self._lock:
                self._open.add(client)
                refused = bool(self._fates) and self._fates[0] == "refuse"
                if refused:
                    self._fates.popleft()
            if refused:
                # A reset, so that the client cannot take it for an answer.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self._drop(client)
                continue
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _drop(self, client):
        with self._lock:
            self._open.discard(client)
        client.close()

    def _serve(self, client):
        try:
            while self._one(client):
                pass
        except (OSError, ValueError):
            pass
        finally:
            self._drop(client)

    def _one(self, client):
        """Serves one request; true if the connection goes on."""
        message = read_message(client)
        if message is None:
            return False
        head, body = message
        path = head.split(b" ", 2)[1].decode().partition("?")[0]
        with self._lock:
            self._seen.append(path)
            fates = self._by_path.get(path) or self._fates
            fate = fates.popleft() if fates else "pass"
        if fate in ("swallow", "refuse"):
            return False
        if fate[:3].isdigit():
            client.sendall(_refusal(fate))
            return True
        answer = self._forward(client, head, body)
        if answer is None:
            return False
        return _give(client, fate, *answer)

    def _forward(self, client, head, body):
        """The server's answer. If the client hangs up meanwhile, so do we."""
        with socket.create_connection(self._target(), timeout=WAIT) as server:
            server.sendall(head + b"\r\n\r\n" + body)
            over = threading.Event()
            watch = threading.Thread(target=_watch, args=(client, server, over), daemon=True)
            watch.start()
            try:
                return read_message(server)
            except OSError:
                return None
            finally:
                over.set()
                watch.join()


def _watch(client, server, over):
    while not over.wait(0.02):
        client.settimeout(0)
        try:
            if not client.recv(1, socket.MSG_PEEK):
                server.shutdown(socket.SHUT_RDWR)
                return
        except (BlockingIOError, ValueError):
            pass
        except OSError:
            return
        finally:
            try:
                client.settimeout(WAIT)
            except OSError:
                pass


def _refusal(fate):
    status, _, code = fate.partition(" ")
    extra = b"Content-Type: application/problem+json\r\n"
    if code == "bare":
        body, extra = b"", b""
    else:
        code = code or {"400": "invalid_argument", "429": "unavailable", "503": "unavailable",
                        "500": "io_error"}[status]
        body = json.dumps({"type": "about:blank", "title": "no", "status": int(status),
                           "detail": f"the proxy answers {fate}", "code": code}).encode()
    if status in ("429", "503") and code != "bare":
        extra += b"Retry-After: 0\r\n"
    return b"HTTP/1.1 %s No\r\n%sContent-Length: %d\r\n\r\n%s" % (
        status.encode(), extra, len(body), body)


def _give(client, fate, head, body):
    """Answers as the fate says; true if the connection goes on."""
    whole = head + b"\r\n\r\n" + body
    if fate == "pass":
        client.sendall(whole)
        return True
    if fate == "chunked":
        lines = [line for line in head.split(b"\r\n")
                 if not line.lower().startswith(b"content-length")]
        lines.append(b"Transfer-Encoding: chunked")
        client.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
        for byte in body:
            client.sendall(b"1;x=y\r\n%c\r\n" % byte)
        client.sendall(b"0\r\nTrailer: t\r\n\r\n")
        return True
    if fate == "silent":
        client.recv(1)  # until the client hangs up
        return False
    if fate == "not_json":
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                       b"Content-Length: 9\r\n\r\n<html>no}")
        return True
    sent = {"lose": b"", "half": whole[:len(head) + 4 + len(body) // 2],
            "half_head": whole[:len(head) // 2], "close_after": whole,
            "garbage": b"\x00\x01 this is no HTTP \xff\r\n\r\n"}[fate]
    client.sendall(sent)
    return False
