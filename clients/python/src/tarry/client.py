"""Client and Queue, for threads."""

from __future__ import annotations

import os
import ssl
import threading
from datetime import timedelta
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

from . import tracing, verbs
from .address import Address, address_of
from .calls import Attempts, Call, Done, Lane
from .connection import Connection, Lost, NotSent, Pool
from .errors import TarryError, UnknownOutcome, error_of
from .http1 import Answer, common_head, request_bytes
from .joiner import Joiner
from .model import (
    Action,
    Bulk,
    Bytes,
    Changed,
    Claimed,
    History,
    IfExists,
    Message,
    Page,
    Pushed,
    QueueInfo,
    Result,
    Settled,
    State,
    Stored,
    Why,
)
from .moments import Duration, Moment
from .schedule_verbs import ScheduleVerbs
from .tasks import Function, R, Task, Tasks
from .version import __version__

if TYPE_CHECKING:
    from .delivery import Delivery

T = TypeVar("T")


def default_agent() -> str:
    """Names this process to operators: `tarry` shows it as a message's holder."""
    return f"tarry-python/{__version__} pid {os.getpid()}"


class Client(ScheduleVerbs):
    """A server's client: kept connections, and calls that are tried again where that is safe.

    Thread safe; a process that forks may use it on both sides.

    - `url`: `http://HOST:PORT`, `https://HOST:PORT` or `http+unix:///PATH`; else TARRY_URL, else
      http://127.0.0.1:7733.
    - `token`: else the environment's TARRY_TOKEN.
    - `ca`, `cert`, `key`: PEM files for https; or `tls`, an SSL context.
    - `timeout`: seconds for one answer, besides the wait of a claim.
    - `patience`: seconds for which a call goes on while nothing was done, because the server is
      away or refuses for the moment.
    """

    def __init__(self, url: Optional[str] = None, *, token: Optional[str] = None,
                 ca: Optional[str] = None, cert: Optional[str] = None, key: Optional[str] = None,
                 tls: Optional[ssl.SSLContext] = None, timeout: float = 30.0,
                 patience: float = 10.0, agent: Optional[str] = None) -> None:
        self.address: Address = address_of(url, ca, cert, key, tls)
        self.timeout = timeout
        self.patience = patience
        self.token = token or os.environ.get("TARRY_TOKEN") or None
        self.agent = agent or default_agent()
        self.head = common_head(self.address.host_header, self.agent, self.token)
        self.pool = Pool(self.address, min(timeout, 10.0))
        self.tasks = Tasks(self)
        """The tasks and handlers that `Queue.task` and `Queue.handler` have made."""
        self._joiner = Joiner(self._send_lane)
        self._closed = threading.Event()

    def close(self) -> None:
        """Closes the connections. Calls under way still end."""
        self._closed.set()
        self.pool.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def queue(self, name: str) -> Queue:
        """A handle. It asks the server nothing."""
        return Queue(self, name)

    # -- claims

    def claim(self, queues: Sequence[str], *, max: Optional[int] = None,
              max_bytes: Optional[int] = None, lease: Optional[Duration] = None,
              wait: Optional[timedelta] = None) -> Tuple[Claimed, ...]:
        """Claims due messages of one or more queues; waits for the first for up to `wait`.

        Measure their leases from before this call. The worker does it for you.
        """
        return self.run(verbs.claim(queues, max, max_bytes, lease, wait)).messages

    def settle(self, receipt: str, action: Union[Action, str] = Action.ACK, *,
               delay: Optional[Duration] = None, reason: Optional[str] = None,
               priority: Optional[int] = None) -> Settled:
        """Ends a claim. `stale`: it had ended before."""
        return self._single((verbs.SETTLE,
                             verbs.settle_body(receipt, action, delay, reason, priority)),
                            verbs.read_settled)

    def settle_many(self, items: Sequence[bytes]) -> List[Result[Settled]]:
        """Ends claims; the items are made by `verbs.settle_body`."""
        return self._batch([(verbs.SETTLE, item) for item in items], verbs.read_settled)

    def ack(self, receipt: str) -> Settled:
        return self.settle(receipt)

    def retry(self, receipt: str, delay: Optional[Duration] = None,
              reason: Optional[str] = None) -> Settled:
        return self.settle(receipt, Action.RETRY, delay=delay, reason=reason)

    def release(self, receipt: str) -> Settled:
        return self.settle(receipt, Action.RELEASE)

    def bury(self, receipt: str, reason: Optional[str] = None) -> Settled:
        return self.settle(receipt, Action.BURY, reason=reason)

    def extend(self, receipt: str, lease: Optional[Duration] = None) -> Settled:
        """The lease begins anew now. `stale`: it has ended."""
        return self._single((verbs.EXTEND, verbs.extend_body(receipt, lease)),
                            verbs.read_settled)

    def extend_many(self, receipts: Sequence[str], lease: Optional[Duration] = None
                    ) -> List[Result[Settled]]:
        return self._batch([(verbs.EXTEND, verbs.extend_body(receipt, lease))
                            for receipt in receipts], verbs.read_settled)

    # -- the server

    def queues(self) -> List[QueueInfo]:
        return self.run(verbs.queues())

    def stats(self, queue: Optional[str] = None) -> Dict[str, Any]:
        return self.run(verbs.stats(queue))

    def health(self) -> Dict[str, Any]:
        return self.run(verbs.health())

    def ready(self) -> Dict[str, Any]:
        """Raises Unavailable while the server cannot serve."""
        return self.run(verbs.ready())

    def advance(self, by: Duration) -> int:
        """Moves the clock of a server with --test-clock; milliseconds."""
        return self.run(verbs.advance(by))

    # -- how calls are carried out

    def run(self, call: Call[T], *, patience: Optional[float] = None,
            timeout: Optional[float] = None) -> T:
        """Carries out a call, again and again where that is safe. Raises TarryError."""
        attempts = Attempts(call.repeatable, self.patience if patience is None else patience)
        seconds = (self.timeout if timeout is None else timeout) + call.wait
        request = request_bytes(call.method, call.path, self.head, call.body)
        while True:
            try:
                answer = self.pool.ask(request, seconds)
            except NotSent as error:
                pause = attempts.again(error_of("unavailable", str(error)))
            except Lost as error:
                pause = attempts.lost(str(error))
            else:
                read = attempts.read(call, answer)
                if isinstance(read, Done):
                    return read.value
                pause = read
            if self._closed.wait(pause):
                raise error_of("closed", "the client was closed")

    def once(self, connection: Connection, call: Call[T]) -> Tuple[T, Answer]:
        """One try, on that connection. Raises TarryError."""
        request = request_bytes(call.method, call.path, self.head, call.body)
        try:
            answer = connection.ask(request, self.timeout + call.wait)
        except Lost as error:
            raise error_of("unknown_outcome", str(error)) from error
        read = Attempts(call.repeatable, 0).read(call, answer)
        assert isinstance(read, Done)  # without patience it raises
        return read.value, answer

    def _single(self, item: verbs.Item, read: Callable[[Any], T]) -> T:
        return self._joiner.ask(item[0], item[1], read)

    def _send_lane(self, lane: Lane, items: List[bytes], read: Callable[[Any], Any]
                   ) -> List[Result[Any]]:
        return self.run(lane.call(items, read))

    def _batch(self, items: Sequence[verbs.Item], read: Callable[[Any], T]) -> List[Result[T]]:
        results: List[Optional[Result[T]]] = [None] * len(items)
        for lane, indexes in verbs.by_lane(items).items():
            try:
                said = self.run(lane.call([items[index][1] for index in indexes], read))
            except UnknownOutcome as error:
                said = [error] * len(indexes)
            except TarryError as error:
                if len(indexes) == len(items):
                    raise
                said = [error] * len(indexes)
            for index, result in zip(indexes, said):
                results[index] = result
        return [result for result in results if result is not None]


class Queue:
    """A queue of a client. Thread safe."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    def task(self, function: Function[R]) -> Task[R]:
        """A decorator: the function becomes a task of this queue; see `Tasks`."""
        return self.client.tasks.task(self.name)(function)

    def handler(self, function: Callable[[Delivery], T]) -> Callable[[Delivery], T]:
        """A decorator: the function handles all messages of this queue."""
        return self.client.tasks.handler(self.name)(function)

    def push(self, payload: Bytes = b"", *, key: Optional[Bytes] = None,
             delay: Optional[Duration] = None, due: Optional[Moment] = None,
             headers: Optional[Mapping[str, str]] = None, priority: Optional[int] = None,
             if_exists: Optional[Union[IfExists, str]] = None,
             max_attempts: Optional[int] = None, expire: Optional[Duration] = None,
             expire_at: Optional[Moment] = None, spread: Optional[Duration] = None) -> Pushed:
        """Pushes a message, due after `delay` or at `due`. A taken key is an outcome: look at it.

        Raises UnknownOutcome if the answer was lost; with a key you may push again.
        """
        return self.push_message(Message(payload, key, delay, due, headers, priority, if_exists,
                                         max_attempts, expire, expire_at, spread))

    def push_message(self, message: Message) -> Pushed:
        with tracing.sending("push", self.name) as trace:
            return self.client._single(verbs.push_item(self.name, message, trace),
                                       verbs.read_push)

    def push_many(self, messages: Sequence[Message]) -> List[Result[Pushed]]:
        """A result for each message, or its error."""
        with tracing.sending("push", self.name) as trace:
            return self.client._batch([verbs.push_item(self.name, message, trace)
                                       for message in messages], verbs.read_push)

    def get(self, key: Bytes) -> Stored:
        """Raises NotFound."""
        return self.client._single(verbs.get_item(self.name, key), verbs.read_stored)

    def get_many(self, keys: Sequence[Bytes]) -> List[Result[Stored]]:
        return self.client._batch([verbs.get_item(self.name, key) for key in keys],
                                  verbs.read_stored)

    def why(self, key: Bytes) -> Why:
        """Why the message has not been delivered, in one sentence. Raises NotFound."""
        return self.client.run(verbs.why(self.name, key))

    def history(self, key: Bytes) -> History:
        """What has happened to the message, if the queue has the setting history. Raises
        NotFound."""
        return self.client.run(verbs.history(self.name, key))

    def cancel(self, key: Bytes) -> Changed:
        return self.client._single(verbs.cancel_item(self.name, key), verbs.read_change)

    def cancel_many(self, keys: Sequence[Bytes]) -> List[Result[Changed]]:
        return self.client._batch([verbs.cancel_item(self.name, key) for key in keys],
                                  verbs.read_change)

    def reschedule(self, key: Bytes, *, delay: Optional[Duration] = None,
                   due: Optional[Moment] = None, priority: Optional[int] = None) -> Changed:
        return self.client._single(
            verbs.reschedule_item(self.name, key, delay, due, priority), verbs.read_change)

    def reschedule_many(self, items: Sequence[verbs.Item]) -> List[Result[Changed]]:
        """The items are made by `moved`."""
        return self.client._batch(items, verbs.read_change)

    def moved(self, key: Bytes, *, delay: Optional[Duration] = None,
              due: Optional[Moment] = None, priority: Optional[int] = None) -> verbs.Item:
        """An item for `reschedule_many`."""
        return verbs.reschedule_item(self.name, key, delay, due, priority)

    def claim(self, *, max: Optional[int] = None, max_bytes: Optional[int] = None,
              lease: Optional[Duration] = None, wait: Optional[timedelta] = None,
              keys: Optional[Sequence[Bytes]] = None, any_state: bool = False
              ) -> Tuple[Claimed, ...]:
        """As `Client.claim`; with `keys` only these messages, with `any_state` whatever their
        state."""
        return self.client.run(verbs.claim([self.name], max, max_bytes, lease, wait, keys,
                                           any_state)).messages

    def list_page(self, *, state: Optional[Union[State, str]] = None,
                  prefix: Optional[str] = None, limit: Optional[int] = None,
                  after: Optional[str] = None) -> Page:
        return self.client.run(verbs.list_page(self.name, state, prefix, limit, after))

    def list(self, *, state: Optional[Union[State, str]] = None, prefix: Optional[str] = None,
             limit: Optional[int] = None) -> Iterator[Stored]:
        """All messages, page after page of `limit`, without payloads."""
        after: Optional[str] = None
        while after != "":
            page = self.list_page(state=state, prefix=prefix, limit=limit, after=after)
            yield from page.messages
            after = page.next

    def dead(self) -> Iterator[Stored]:
        """The dead messages, with their reasons."""
        return self.list(state=State.DEAD)

    def revive(self, keys: Optional[Sequence[Bytes]] = None) -> int:
        """Revives dead messages: these, or all. How many there were."""
        return self.client.run(verbs.revive(self.name, keys))

    def bulk(self, action: str, *, prefix: Optional[str] = None,
             state: Optional[Union[State, str]] = None, due_from: Optional[Moment] = None,
             due_to: Optional[Moment] = None, headers: Optional[Mapping[str, str]] = None,
             reason: Optional[str] = None, due: Optional[Moment] = None,
             by: Optional[timedelta] = None, dry_run: bool = False) -> Bulk:
        """`cancel`, `reschedule`, `revive` or `remove` of all messages that match."""
        body = verbs.bulk_body(action, prefix, state, due_from, due_to, headers, reason, due, by,
                               dry_run)
        matched = failed = 0
        outcomes: Dict[str, int] = {}
        while True:
            page = self.client.run(verbs.bulk_page(self.name, body))
            matched += page["matched"]
            failed += page["failed"]
            for outcome, count in page["outcomes"].items():
                outcomes[outcome] = outcomes.get(outcome, 0) + count
            if not page.get("next"):
                return Bulk(matched, outcomes, failed)
            body["after"] = page["next"]

    def configure(self, **settings: Any) -> Dict[str, Any]:
        """Changes settings: lease, max_attempts, backoff_min, backoff_max, remember, dead_keep,
        if_exists, objective (such as "99% within 1s"), expire, on_expiry,
        max_leased, rate (such as "100/1s burst 20"), group (such as "header:tenant"),
        group_max_leased, history, group_order (due or push). Answers all of them."""
        return self.client.run(verbs.configure(self.name, settings))

    def info(self) -> QueueInfo:
        return self.client.run(verbs.info(self.name))

    def stats(self) -> Dict[str, Any]:
        return self.client.stats(self.name)

    def forecast(self, width: Optional[timedelta] = None, buckets: Optional[int] = None,
                 rate: Optional[float] = None, arrivals: Optional[float] = None
                 ) -> Dict[str, Any]:
        """How many messages fall due when. With a rate of claims a second, and of new messages a
        second, also the `projection`: when the backlog is drained, and how late messages come."""
        return self.client.run(
            verbs.forecast(self.name, width, buckets, rate, arrivals))

    def pause(self, until: Optional[Moment] = None) -> bool:
        return self.client.run(verbs.pause(self.name, until))

    def resume(self) -> bool:
        return self.client.run(verbs.resume(self.name))

    def purge(self) -> int:
        return self.client.run(verbs.purge(self.name))

    def remove(self, force: bool = False) -> int:
        return self.client.run(verbs.remove(self.name, force))
