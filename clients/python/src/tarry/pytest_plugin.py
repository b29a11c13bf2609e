"""Fixtures for pytest: `tarry_server`, with a clock that is moved, and `tarry_client`."""

from __future__ import annotations

from typing import Iterator

import pytest

from .client import Client
from .testing import Server


@pytest.fixture
def tarry_server() -> Iterator[Server]:
    """A new server on a store in memory. `tarry_server.advance("31d")` moves its clock."""
    with Server() as server:
        yield server


@pytest.fixture
def tarry_client(tarry_server: Server) -> Iterator[Client]:
    """A client of `tarry_server`."""
    with tarry_server.client() as client:
        yield client
