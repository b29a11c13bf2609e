"""manage.py tarry_worker: works on the tasks of all apps."""

from __future__ import annotations

from typing import Any, Callable

from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections

from tarry import Delivery, Worker
from tarry.django import tasks
from tarry.django.conf import given, problems


def with_connections(handler: Callable[[Delivery], Any]) -> Callable[[Delivery], Any]:
    """A handler whose database connections are as fresh as a request's."""
    def handle(delivery: Delivery) -> Any:
        close_old_connections()
        try:
            return handler(delivery)
        finally:
            close_old_connections()
    return handle


class Command(BaseCommand):  # type: ignore[misc]
    help = "Works on tarry's tasks until SIGTERM or Ctrl-C; then finishes what runs."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("queues", nargs="*", help="only these queues")
        parser.add_argument("--concurrency", type=int, default=given().get("CONCURRENCY", 4))
        parser.add_argument("--prefetch", type=int, default=given().get("PREFETCH", 64))

    def handle(self, *_: Any, **options: Any) -> None:
        said = problems()
        if said:
            raise CommandError(said[0])
        try:
            handlers = tasks.handlers(options["queues"])
            worker = Worker(tasks.client, {queue: with_connections(handler)
                                           for queue, handler in handlers.items()},
                            concurrency=options["concurrency"], prefetch=options["prefetch"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"working on {', '.join(handlers)}")
        counts = worker.run(signals=True)
        self.stdout.write(f"stopped: {counts}")
