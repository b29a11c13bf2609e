"""Kept connections to a server, for threads."""

from __future__ import annotations

import os
import select
import socket
import threading
from typing import List, Optional

from .address import Address
from .http1 import Answer, AnswerReader, BadAnswer
from .moments import elapsed

_MAX_IDLE = 32
_PIECE = 256 * 1024


class NotSent(Exception):
    """Nothing was done: the request has not left."""


class Lost(Exception):
    """The request may have been carried out, and its answer was lost."""


class Connection:
    """One connection. Thread safety: one thread asks; any thread may abort."""

    def __init__(self, address: Address, timeout: float) -> None:
        try:
            if address.path is not None:
                plain = socket.socket(socket.AF_UNIX)
                plain.settimeout(timeout)
                plain.connect(address.path)
            else:
                plain = socket.create_connection((address.host, address.port), timeout)
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if address.tls is not None:
                    plain = address.tls.wrap_socket(plain, server_hostname=address.host)
        except OSError as error:
            raise NotSent(f"{address.url} cannot be reached: {error}") from error
        self._socket = plain
        self._url = address.url

    def is_open(self) -> bool:
        """Whether the server has not closed it, as far as is known here."""
        try:
            readable, _, _ = select.select([self._socket], [], [], 0)
        except (OSError, ValueError):
            return False
        return not readable

    def ask(self, request: bytes, timeout: float) -> Answer:
        """Raises Lost."""
        reader = AnswerReader()
        deadline = elapsed() + timeout
        try:
            self._socket.settimeout(timeout)
            self._socket.sendall(request)
            while True:
                left = deadline - elapsed()
                if left <= 0:
                    raise Lost(f"{self._url} did not answer within {timeout:g} s")
                self._socket.settimeout(left)
                piece = self._socket.recv(_PIECE)
                answer = reader.feed(piece) if piece else reader.end()
                if answer is not None:
                    return answer
        except (OSError, BadAnswer) as error:
            why = f"did not answer within {timeout:g} s" if isinstance(
                error, socket.timeout) else f"gave no whole answer: {error}"
            raise Lost(f"{self._url} {why}") from error

    def abort(self) -> None:
        """Ends what another thread waits for. The server then withdraws a waiting claim."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        self._socket.close()


class Pool:
    """Connections that are kept between requests. Thread safe."""

    def __init__(self, address: Address, connect_timeout: float) -> None:
        self._address = address
        self._connect_timeout = connect_timeout
        self._lock = threading.Lock()
        self._idle: List[Connection] = []
        self._process = os.getpid()
        self._closed = False

    def take(self) -> Connection:
        """A connection for one request. Raises NotSent."""
        with self._lock:
            if self._closed:
                raise NotSent("the client is closed")
            if self._process != os.getpid():  # those of the parent are the parent's
                self._idle.clear()
                self._process = os.getpid()
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            if kept is None:
                return Connection(self._address, self._connect_timeout)
            if kept.is_open():
                return kept
            kept.close()

    def give(self, connection: Connection, answer: Optional[Answer]) -> None:
        """Gives it back; without a whole answer it is closed."""
        if answer is not None and answer.keep:
            with self._lock:
                if not self._closed and len(self._idle) < _MAX_IDLE:
                    self._idle.append(connection)
                    return
        connection.close()

    def ask(self, request: bytes, timeout: float) -> Answer:
        """Raises NotSent or Lost."""
        connection = self.take()
        answer = None
        try:
            answer = connection.ask(request, timeout)
            return answer
        finally:
            self.give(connection, answer)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
