"""Tasks: functions that are called when their time has come.

A task's message is JSON, `{"task": NAME, "args": [...], "kwargs": {...}}`, in the queue that the
task was made with.
"""

from __future__ import annotations

import importlib
import json
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Generic,
    List,
    Mapping,
    Optional,
    Sequence,
    TypeVar,
    Union,
)

from .calls import encode
from .model import Message, Pushed
from .moments import Duration, Moment
from .verdicts import retry, settlement_of

if TYPE_CHECKING:
    from .client import Client
    from .delivery import Delivery
    from .worker import Worker

R = TypeVar("R")
Function = Callable[..., R]


class Task(Generic[R]):
    """A function, and how its calls are put into its queue. Calling it calls the function."""

    def __init__(self, tasks: Tasks, queue: str, name: str, function: Function[R],
                 options: Mapping[str, Any]) -> None:
        self._tasks = tasks
        self._options = dict(options)
        self.queue = queue
        self.name = name
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> R:
        return self.function(*args, **kwargs)

    def options(self, **options: Any) -> Task[R]:
        """The same task with other options of its pushes: `key`, `headers`, `priority`,
        `if_exists`, `max_attempts`."""
        return Task(self._tasks, self.queue, self.name, self.function,
                    {**self._options, **options})

    def now(self, *args: Any, **kwargs: Any) -> Pushed:
        """Called by a worker as soon as one is free."""
        return self._push(Message(**self._options), args, kwargs)

    def delay(self, delay: Duration, *args: Any, **kwargs: Any) -> Pushed:
        """Called after `delay`, a timedelta or text such as "30m"."""
        return self._push(Message(delay=delay, **self._options), args, kwargs)

    def at(self, due: Moment, *args: Any, **kwargs: Any) -> Pushed:
        """Called at `due`, a datetime with a time zone or RFC 3339 text."""
        return self._push(Message(due=due, **self._options), args, kwargs)

    def apply_async(self, args: Sequence[Any] = (), kwargs: Optional[Mapping[str, Any]] = None, *,
                    countdown: Optional[float] = None, eta: Optional[datetime] = None,
                    **options: Any) -> Pushed:
        """As Celery has it: `countdown` in seconds, or `eta`."""
        task = self.options(**options) if options else self
        if eta is not None:
            return task.at(eta, *args, **(kwargs or {}))
        return task.delay(timedelta(seconds=countdown or 0), *args, **(kwargs or {}))

    def _push(self, message: Message, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Pushed:
        payload = encode({"task": self.name, "args": list(args), "kwargs": dict(kwargs)})
        whole = Message(payload, message.key, message.delay, message.due, message.headers,
                        message.priority, message.if_exists, message.max_attempts,
                        message.expire, message.expire_at, message.spread)
        return self._tasks.client.queue(self.queue).push_message(whole)


def _module_of(function: Function[Any]) -> str:
    """The name by which others import its module, also if Python runs it as a program."""
    main = sys.modules.get("__main__")
    if function.__module__ != "__main__" or main is None:
        return function.__module__
    if main.__spec__ is not None:
        return main.__spec__.name
    file = getattr(main, "__file__", None)
    return Path(file).stem if file else "__main__"


class Tasks:
    """The tasks and handlers of a program, by queue."""

    def __init__(self, client: Union[Client, Callable[[], Client]]) -> None:
        self._client = client
        self._tasks: Dict[str, Dict[str, Task[Any]]] = {}
        self._handlers: Dict[str, Callable[[Delivery], Any]] = {}

    @property
    def client(self) -> Client:
        return self._client() if callable(self._client) else self._client

    def task(self, queue: str, *, name: Optional[str] = None, **options: Any
             ) -> Callable[[Function[R]], Task[R]]:
        """Makes a function a task of that queue. `options` as in `Task.options`."""

        def make(function: Function[R]) -> Task[R]:
            chosen = name or f"{_module_of(function)}.{function.__qualname__}"
            task = Task(self, queue, chosen, function, options)
            if queue in self._handlers:
                raise ValueError(f"queue {queue} has a handler, and so no tasks")
            self._tasks.setdefault(queue, {})[chosen] = task
            return task

        return make

    def handler(self, queue: str) -> Callable[[Callable[[Delivery], R]],
                                              Callable[[Delivery], R]]:
        """Makes a function the handler of all messages of that queue."""

        def make(function: Callable[[Delivery], R]) -> Callable[[Delivery], R]:
            if queue in self._tasks or queue in self._handlers:
                raise ValueError(f"queue {queue} has a handler or tasks already")
            self._handlers[queue] = function
            return function

        return make

    @property
    def queues(self) -> List[str]:
        return [*self._tasks, *self._handlers]

    def handlers(self, queues: Sequence[str] = ()) -> Dict[str, Callable[[Delivery], Any]]:
        """What a worker runs, for these queues or all."""
        found = {**{queue: self._caller(queue) for queue in self._tasks}, **self._handlers}
        unknown = [queue for queue in queues if queue not in found]
        if unknown:
            raise ValueError(f"queue {unknown[0]} has no task; known: {', '.join(found)}")
        return {queue: found[queue] for queue in (queues or found)}

    def worker(self, queues: Sequence[str] = (), **options: Any) -> Worker:
        """A worker for these queues, or all. `options` as in WorkerOptions."""
        from .worker import Worker
        return Worker(self.client, self.handlers(queues), **options)

    def work_off(self) -> int:
        """For tests: handles all messages that are due, here and now; how many there were.

        Messages that become due meanwhile are handled too.
        """
        from .delivery import Delivery
        handlers = self.handlers()
        count = 0
        while True:
            messages = self.client.claim(list(handlers), max=100)
            if not messages:
                return count
            for message in messages:
                try:
                    result = handlers[message.queue](Delivery(message))
                except Exception as error:
                    result = error
                self.client.settle_many([settlement_of(message.receipt, result)[1]])
                count += 1

    def _caller(self, queue: str) -> Callable[[Delivery], Any]:
        def call(delivery: Delivery) -> Any:
            said = json.loads(delivery.payload)
            task = self._tasks[queue].get(said.get("task"))
            if task is None:
                # Perhaps a newer program pushed it, and its worker is about to start.
                return retry(reason=f"this worker has no task {said.get('task')}")
            return task.function(*said.get("args", ()), **said.get("kwargs", {}))

        return call


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """tarry-worker MODULE:CLIENT [QUEUE...]: works on the tasks of that module's client."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    concurrency = 4
    if len(words) > 2 and words[0] == "--concurrency":
        concurrency = int(words[1])
        words = words[2:]
    if not words or ":" not in words[0] or words[0].startswith("-"):
        print("usage: tarry-worker [--concurrency N] MODULE:CLIENT [QUEUE...]", file=sys.stderr)
        return 2
    module, _, name = words[0].partition(":")
    sys.path.insert(0, "")
    found = getattr(importlib.import_module(module), name)
    tasks: Tasks = getattr(found, "tasks", found)
    tasks.worker(words[1:], concurrency=concurrency).run(signals=True)
    return 0
