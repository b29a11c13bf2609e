"""One case of the table: its servers, its driver, its steps."""

import tempfile
import time
from pathlib import Path

from match import Mismatch, filled, match
from rogue import Rogue
from servers import Server

FIELDS = {"case", "steps", "server", "clock", "open", "faults", "stores", "transports", "needs",
          "file"}
OPEN = {"patience_ms": 5000, "timeout_ms": 20000}
RUNNER_STEPS = {"begin", "answer", "event", "no_event", "server", "driver", "store", "until",
                "seen", "faults", "closed", "together"}


def leaves_something(case):
    """Whether the driver still has something of the case afterwards: it was halted, a handler that
    holds may yet be signalled, or nobody has stopped its worker."""
    ops = [name for step in case["steps"] for name in step]
    return ("driver" in ops or ops.count("work") > ops.count("stop_work")
            or any("hold" in str(step.get("push")) for step in case["steps"]))


class Skipped(Exception):
    """The case does not apply, and why."""


def kind_of(store):
    return store.partition(":")[0].partition("+")[0]


def why_not(case, store, transport):
    """Why the case is not for this store or transport, or None."""
    unknown = set(case) - FIELDS
    if unknown:
        raise ValueError(f"{case['case']}: unknown fields {sorted(unknown)}")
    if kind_of(store) not in case.get("stores", [kind_of(store)]):
        return f"not for {kind_of(store)}:"
    if transport not in case.get("transports", [transport]):
        return f"not over {transport}"
    if _faulty(case) and transport != "tcp":
        return "the proxy speaks TCP"
    if kind_of(store) == "redis" and any(_moves_clock(step) for step in case["steps"]):
        return "no test clock over Redis"
    return None


def _faulty(case):
    return "faults" in case or any(
        name in step for name in ("faults", "seen", "closed") for step in case["steps"])


def _moves_clock(step):
    return "advance" in step or "advance" in step.get("store", {})


class Run:
    """A case on its own server, with a driver of the pool."""

    def __init__(self, case, drivers, store, transport, certificates, shown=None):
        self._case = case
        self._names = {
            "large": "x" * 1000000, "over_limit": "x" * (1024 * 1024 + 1),
            "fifty_pushes": [{"push": {"queue": "q", "message": {"key": f"k{n}"}}}
                             for n in range(50)],
            "ca": certificates and certificates.ca}
        for name, file in (certificates.client if certificates else {}).items():
            self._names[f"client_{name}"] = file
        self._pending = []
        self._shown = shown
        self.server = self.proxy = self.driver = None
        self._place = tempfile.TemporaryDirectory(prefix="tarry-conformance-")
        self._certificates = certificates
        self._url = store
        self._transport = transport
        self._drivers = drivers

    def run(self):
        """Raises Mismatch, DriverGone or Skipped."""
        try:
            self._prepare()
            for number, step in enumerate(self._case["steps"], 1):
                try:
                    self._step(step)
                except Mismatch as error:
                    raise Mismatch(f"step {number}: {error}") from error
            self._part()
        finally:
            for one in (self.driver, self.server):
                if one:
                    one.stop()
            if self.proxy:
                self.proxy.close()
            self._place.cleanup()

    def _part(self):
        """Gives the driver back, unless it still does something for this case."""
        if not self._pending and not leaves_something(self._case):
            self._compare({}, self._ask("close", {}))
            self._drivers.give_back(self.driver)
            self.driver = None

    def _prepare(self):
        flags = self._case.get("server", [])
        if flags != "none":
            token = Path(self._place.name) / "token"
            token.write_text("conformance-conformance\n", encoding="utf-8")
            token.chmod(0o600)
            flags = filled(flags, {**self._names, "token_file": str(token)})
            real = self._case.get("clock") == "real" or kind_of(self._url) == "redis"
            self.server = Server(self._url, self._transport, self._certificates,
                                  [*flags, *([] if real else ["--test-clock"])])
            self._names["url"] = url = self.server.url
            if _faulty(self._case):
                self.proxy = Rogue(lambda: ("127.0.0.1", self.server.port))
                self.proxy.add(self._case.get("faults", []))
                url = f"http://127.0.0.1:{self.proxy.port}"
        else:
            url = f"http{'s' if self._transport == 'tls' else ''}://127.0.0.1:1"
        self.driver = self._drivers.take(self._shown)
        given = filled(self._case.get("open", {}), self._names)
        opened = {"url": url, **OPEN, **given}
        if self._transport == "tls":
            opened.setdefault("ca", self._certificates.ca)
        for op in ["open", *self._case.get("needs", [])]:
            answer = self._ask(op, opened if op == "open" else {})
            if answer.get("error", {}).get("code") == "no_such_op":
                raise Skipped(f"the driver has no {op}")
            if op == "open":
                match({"ok": {}}, answer, self._names)

    def _ask(self, op, fields):
        number, = self.driver.send((op, fields))
        return self.driver.answer(number)

    def _step(self, step):
        step = dict(step)
        expected = {name: filled(step.pop(name), self._names)
                    for name in ("ok", "error") if name in step}
        (what, given), = step.items()
        given = filled(given, self._names)
        if what in RUNNER_STEPS:
            getattr(self, "_" + what)(given, expected)
        else:
            self._compare(expected, self._ask(what, given))

    def _compare(self, expected, answer):
        if answer.get("error", {}).get("code") == "no_such_op":
            raise Skipped("the driver lacks an op")
        match(expected or {"ok": "*"}, answer, self._names)

    # -- the runner's own steps

    def _begin(self, given, _):
        self._pending += self.driver.send(*given.items())

    def _answer(self, given, _):
        self._compare(given, self.driver.answer(self._pending.pop(0)))

    def _together(self, given, expected):
        sent = self.driver.send(*(step for call in given["calls"] for step in call.items()))
        match(expected["ok"], [self.driver.answer(number) for number in sent], self._names)

    def _event(self, given, _):
        self.driver.event(lambda event: self._fits(given, event), given)

    def _no_event(self, given, _):
        if self.driver.has_event(lambda event: self._fits(given, event)):
            raise Mismatch(f"an event {given}")

    def _fits(self, given, event):
        try:
            match(given, event, self._names)
        except Mismatch:
            return False
        return True

    def _server(self, given, _):
        self.server.act(given)

    def _driver(self, given, _):
        self.driver.signal(given)

    def _store(self, given, expected):
        (op, fields), = given.items()
        match(expected.get("ok", "*"), self.server.ask(op, fields or {}), self._names)

    def _until(self, given, expected):
        deadline = time.monotonic() + 30
        while True:
            try:
                return self._store(given, expected)
            except Mismatch:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _seen(self, given, _):
        count = self.proxy.seen(given["path"])
        least = given.get("times", given.get("at_least", 0))
        most = given.get("times", given.get("at_most", count))
        if not least <= count <= most:
            raise Mismatch(f"{given['path']} was asked {count} times: {given}")

    def _faults(self, given, _):
        self.proxy.add(given)

    def _closed(self, _given, _):
        deadline = time.monotonic() + 30
        while not self.proxy.is_quiet():
            if time.monotonic() > deadline:
                raise Mismatch("the proxy still has connections")
            time.sleep(0.02)
