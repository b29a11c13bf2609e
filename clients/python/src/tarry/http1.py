"""HTTP/1.1 as bytes: requests to send, answers as they arrive. No I/O."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Optional

_MAX_HEAD = 64 * 1024


class BadAnswer(Exception):
    """What came is not HTTP, or ended too early."""


class Answer(NamedTuple):
    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    keep: bool


def request_bytes(method: str, path: str, head: bytes, body: Optional[bytes]) -> bytes:
    """`head`: the lines that each request of a client has, as `common_head` makes them."""
    line = f"{method} {path} HTTP/1.1\r\n".encode("ascii")
    if body is None:
        return line + head + b"\r\n"
    return b"%s%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        line, head, len(body), body)


def common_head(host: str, agent: str, token: Optional[str]) -> bytes:
    head = f"Host: {host}\r\nUser-Agent: {agent}\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    return head.encode("latin-1")


class AnswerReader:
    """Reads one answer from the pieces it is fed.

    Thread safety: none.
    """

    def __init__(self) -> None:
        self._held = bytearray()
        self._head: Optional[Answer] = None
        self._body_at = 0
        self._length: Optional[int] = None
        self._chunked = False

    def feed(self, piece: bytes) -> Optional[Answer]:
        """The answer once it is complete. Raises BadAnswer."""
        self._held += piece
        while self._head is None:
            end = self._held.find(b"\r\n\r\n")
            if end < 0:
                if len(self._held) > _MAX_HEAD or not b"HTTP/1.".startswith(bytes(self._held[:7])):
                    raise BadAnswer("the answer is not HTTP")
                return None
            head = self._read_head(bytes(self._held[:end]))
            del self._held[:end + 4]
            if head.status >= 200:
                self._head = head
        if self._chunked:
            body = self._read_chunks()
            return None if body is None else self._head._replace(body=body)
        if self._length is None or len(self._held) < self._length:
            return None
        body = bytes(self._held[:self._length])
        keep = self._head.keep and len(self._held) == self._length
        return self._head._replace(body=body, keep=keep)

    def end(self) -> Answer:
        """The answer, if the end of the connection completes it. Raises BadAnswer."""
        if self._head is None or self._chunked or self._length is not None:
            raise BadAnswer("the connection ended before the answer did")
        return self._head._replace(body=bytes(self._held), keep=False)

    def _read_head(self, text: bytes) -> Answer:
        lines = text.decode("latin-1").split("\r\n")
        words = lines[0].split(" ", 2)
        if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
            raise BadAnswer("the answer is not HTTP")
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise BadAnswer("the answer's head is not HTTP")
            headers[name.strip().lower()] = value.strip()
        status = int(words[1])
        self._chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        length = headers.get("content-length")
        if status in (204, 304):
            length = "0"
        if length is not None and not length.isdigit():
            raise BadAnswer(f"the answer's Content-Length is {length}")
        self._length = None if length is None else int(length)
        wish = headers.get("connection", "").lower()
        keep = wish != "close" if words[0] == "HTTP/1.1" else wish == "keep-alive"
        return Answer(status, words[2] if len(words) > 2 else "", headers, b"", keep)

    def _read_chunks(self) -> Optional[bytes]:
        """All chunks, once the last has come. Answers in chunks are rare, so it starts anew."""
        parts: list[bytes] = []
        at = 0
        while True:
            end = self._held.find(b"\r\n", at)
            if end < 0:
                return None
            size_text = bytes(self._held[at:end]).split(b";")[0].strip()
            try:
                size = int(size_text, 16)
            except ValueError:
                raise BadAnswer("a chunk of the answer has no size") from None
            at = end + 2
            if size == 0:
                while True:  # trailers
                    end = self._held.find(b"\r\n", at)
                    if end < 0:
                        return None
                    if end == at:
                        return b"".join(parts)
                    at = end + 2
            if len(self._held) < at + size + 2:
                return None
            parts.append(bytes(self._held[at:at + size]))
            at += size + 2
