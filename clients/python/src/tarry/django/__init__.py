"""tarry for Django: put "tarry.django" into INSTALLED_APPS.

    TARRY = {"URL": "https://queue.example:7733", "TOKEN_FILE": "/etc/shop/tarry-token"}

Tasks are in each app's `tasks` module:

    from tarry.django import task

    @task("orders")
    def close_order(order_id): ...

`manage.py tarry_worker` works on them.
"""

from __future__ import annotations

from typing import Any, Callable

from ..client import Client, Queue
from ..tasks import Tasks
from .conf import current_client

tasks = Tasks(current_client)


def client() -> Client:
    """The client of this process, as the settings say."""
    return current_client()


def queue(name: str) -> Queue:
    return client().queue(name)


def task(queue: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """As Tasks.task."""
    return tasks.task(queue, **options)
