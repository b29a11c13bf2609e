"""The app: its client, its checks, and the tasks of the other apps."""

from __future__ import annotations

import threading
from typing import Any, List, Optional

from django.apps import AppConfig
from django.core import checks
from django.utils.module_loading import autodiscover_modules

from ..client import Client
from ..errors import TarryError
from .conf import client_of, given, problems


class TarryConfig(AppConfig):  # type: ignore[misc]
    name = "tarry.django"
    label = "tarry"
    verbose_name = "tarry"

    def ready(self) -> None:
        self._lock = threading.Lock()
        self._client: Optional[Client] = None
        checks.register(check_settings, "tarry")
        checks.register(check_server, "tarry", deploy=True)
        autodiscover_modules("tasks")

    @property
    def client(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = client_of(given())
            return self._client


def check_settings(app_configs: Any, **_: Any) -> List[Any]:
    return [checks.Error(line, id="tarry.E001") for line in problems()]


def check_server(app_configs: Any, **_: Any) -> List[Any]:
    """With --deploy: whether the server answers, and is not asked in the clear."""
    if problems():
        return []
    client = client_of(given())
    client.patience = 0
    said: List[Any] = []
    plain = client.address.tls is None and client.address.path is None
    if plain and client.address.host not in ("127.0.0.1", "::1", "localhost"):
        said.append(checks.Warning(f"{client.address.url} is asked without TLS",
                                   hint="Use https:// and TARRY['CA'].", id="tarry.W001"))
    try:
        client.ready()
    except TarryError as error:
        said.append(checks.Warning(f"tarry is not ready: {error}", id="tarry.W002"))
    finally:
        client.close()
    return said
