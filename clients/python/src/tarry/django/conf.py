"""What settings.TARRY may have, and the client made from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Mapping

from ..client import Client

KNOWN = ("URL", "TOKEN", "TOKEN_FILE", "CA", "CERT", "KEY", "TIMEOUT", "PATIENCE", "CONCURRENCY",
         "PREFETCH")


def given() -> Mapping[str, Any]:
    from django.conf import settings
    return getattr(settings, "TARRY", {})


def client_of(settings: Mapping[str, Any]) -> Client:
    """Raises ValueError or OSError."""
    options: Dict[str, Any] = {name.lower(): settings[name]
                               for name in ("CA", "CERT", "KEY", "TIMEOUT", "PATIENCE", "TOKEN")
                               if settings.get(name) is not None}
    if settings.get("TOKEN_FILE"):
        options["token"] = Path(settings["TOKEN_FILE"]).read_text().split("\n")[0].strip()
    return Client(settings.get("URL"), **options)


def problems() -> List[str]:
    """What is wrong with settings.TARRY: one line each."""
    settings = given()
    if not isinstance(settings, Mapping):
        return [f"TARRY is {settings!r}; it must be a dict"]
    said = [f"TARRY has an unknown name {name!r}; known: {', '.join(KNOWN)}"
            for name in settings if name not in KNOWN]
    if settings.get("TOKEN") and settings.get("TOKEN_FILE"):
        said.append("TARRY has TOKEN and TOKEN_FILE; give one of them")
    try:
        client_of(settings).close()
    except (ValueError, TypeError, OSError) as error:
        said.append(f"TARRY cannot be used: {error}")
    return said


def current_client() -> Client:
    from django.apps import apps
    config: Any = apps.get_app_config("tarry")
    client: Client = config.client
    return client
