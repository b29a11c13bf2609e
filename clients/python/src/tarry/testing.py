"""Tests with a clock that is moved: a server whose time stands still until `advance`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Optional, Sequence

from .client import Client
from .moments import Duration


def find_program() -> Optional[str]:
    """The program `tarry`: TARRY_PROGRAM, else the one on the PATH."""
    return os.environ.get("TARRY_PROGRAM") or shutil.which("tarry")


class Server:
    """`tarry serve --test-clock` on a store in memory, for use in a `with`.

    Its time begins when it starts, and moves only by `advance`. Claim without a wait.
    """

    def __init__(self, *flags: str, program: Optional[str] = None, store: str = "memory:",
                 clock: bool = True) -> None:
        self._program = program or find_program()
        if not self._program:
            raise RuntimeError("there is no program tarry on the PATH; set TARRY_PROGRAM to it")
        self._place = tempfile.TemporaryDirectory(prefix="tarry-test-")
        self._flags: Sequence[str] = [*flags, *(["--test-clock"] if clock else [])]
        self._store = store
        self._process: Optional[subprocess.Popen[bytes]] = None
        self.url = ""

    def start(self) -> Server:
        port_file = Path(self._place.name) / "port"
        log = Path(self._place.name) / "log"
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("TARRY_")}
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [str(self._program), "serve", "--store", self._store, "--listen", "127.0.0.1:0",
                 "--port-file", str(port_file), *self._flags],
                stdout=subprocess.PIPE, stderr=errors, env=environment)
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            self._process.wait()
            raise RuntimeError(f"tarry did not start: {log.read_text()}")
        self.url = f"http://127.0.0.1:{port_file.read_text().split()[0]}"
        return self

    def client(self, **options: Any) -> Client:
        """A new client of it."""
        return Client(self.url, **options)

    def advance(self, by: Duration) -> None:
        """Lets time pass. When it returns, what is due can be claimed."""
        with self.client() as client:
            client.advance(by)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=60)
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None
        self._place.cleanup()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
