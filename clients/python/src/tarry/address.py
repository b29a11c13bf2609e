"""Where the server is, and how it is reached."""

from __future__ import annotations

import os
import ssl
import urllib.parse
from dataclasses import dataclass
from typing import Optional

DEFAULT_URL = "http://127.0.0.1:7733"


@dataclass(frozen=True)
class Address:
    """Of a server: host and port, or the path of a unix socket; with TLS or without."""

    url: str
    host: str
    port: int
    path: Optional[str]
    tls: Optional[ssl.SSLContext]

    @property
    def host_header(self) -> str:
        if self.path is not None:
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def address_of(url: Optional[str], ca: Optional[str] = None, cert: Optional[str] = None,
               key: Optional[str] = None, tls: Optional[ssl.SSLContext] = None) -> Address:
    """Reads `http://HOST[:PORT]`, `https://HOST[:PORT]` or `http+unix:///PATH`.

    Without a URL: the environment's TARRY_URL, else http://127.0.0.1:7733. `ca` is a PEM file of
    authorities, `cert` and `key` are the client's own; `tls` is a context to use instead.
    """
    url = url or os.environ.get("TARRY_URL") or DEFAULT_URL
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "http+unix":
        if parts.netloc or not parts.path:
            raise ValueError(f"the URL {url} must be http+unix:///PATH")
        return Address(url, "localhost", 0, urllib.parse.unquote(parts.path), None)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"the URL {url} must begin with http://, https:// or http+unix:///")
    if not parts.hostname or parts.username or parts.path not in ("", "/") or parts.query:
        raise ValueError(f"the URL of a server is {parts.scheme}://HOST:PORT and no more; the"
                         " token goes into token= or TARRY_TOKEN")
    if parts.scheme == "http":
        if ca or cert or key or tls:
            raise ValueError(f"{url} has no TLS, so ca, cert, key and tls have no use; https://?")
        return Address(url, parts.hostname, parts.port or 80, None, None)
    if tls is None:
        tls = ssl.create_default_context(cafile=ca)
        if cert:
            tls.load_cert_chain(cert, key)
    return Address(url, parts.hostname, parts.port or 443, None, tls)
