"""Kept connections to a server, for asyncio."""

from __future__ import annotations

import asyncio
from typing import List, Optional

from ..address import Address
from ..connection import Lost, NotSent
from ..http1 import Answer, AnswerReader, BadAnswer

_MAX_IDLE = 32
_PIECE = 256 * 1024


class Connection:
    """One connection, for one task at a time."""

    def __init__(self, url: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
                 ) -> None:
        self._url = url
        self._reader = reader
        self._writer = writer

    @staticmethod
    async def open(address: Address, timeout: float) -> Connection:
        """Raises NotSent."""
        try:
            if address.path is not None:
                opening = asyncio.open_unix_connection(address.path)
            else:
                opening = asyncio.open_connection(
                    address.host, address.port, ssl=address.tls,
                    server_hostname=address.host if address.tls else None)
            reader, writer = await asyncio.wait_for(opening, timeout)
        except (OSError, asyncio.TimeoutError) as error:
            raise NotSent(f"{address.url} cannot be reached: {error}") from error
        return Connection(address.url, reader, writer)

    def is_open(self) -> bool:
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def ask(self, request: bytes, timeout: float) -> Answer:
        """Raises Lost. A task that is cancelled here closes the connection."""
        try:
            return await asyncio.wait_for(self._ask(request), timeout)
        except asyncio.TimeoutError as error:
            raise Lost(f"{self._url} did not answer within {timeout:g} s") from error
        except (OSError, BadAnswer) as error:
            raise Lost(f"{self._url} gave no whole answer: {error}") from error

    async def _ask(self, request: bytes) -> Answer:
        self._writer.write(request)
        await self._writer.drain()
        reader = AnswerReader()
        while True:
            piece = await self._reader.read(_PIECE)
            answer = reader.feed(piece) if piece else reader.end()
            if answer is not None:
                return answer

    def close(self) -> None:
        self._writer.close()


class Pool:
    """Connections that are kept between requests, in one event loop."""

    def __init__(self, address: Address, connect_timeout: float) -> None:
        self._address = address
        self._connect_timeout = connect_timeout
        self._idle: List[Connection] = []
        self._closed = False

    async def take(self) -> Connection:
        """Raises NotSent."""
        if self._closed:
            raise NotSent("the client is closed")
        while self._idle:
            kept = self._idle.pop()
            if kept.is_open():
                return kept
            kept.close()
        return await Connection.open(self._address, self._connect_timeout)

    def give(self, connection: Connection, answer: Optional[Answer]) -> None:
        """Gives it back; without a whole answer it is closed."""
        if answer is not None and answer.keep and not self._closed and (
                len(self._idle) < _MAX_IDLE):
            self._idle.append(connection)
        else:
            connection.close()

    async def ask(self, request: bytes, timeout: float) -> Answer:
        """Raises NotSent or Lost."""
        connection = await self.take()
        answer = None
        try:
            answer = await connection.ask(request, timeout)
            return answer
        finally:
            self.give(connection, answer)

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()
