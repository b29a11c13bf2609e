#!/usr/bin/env python3
"""Layout `redisson` beside the real Redisson, in old versions and the newest ones, with their
default codecs and others, on the same keys as tarry. Both sides push, consume and remove messages,
and are killed. tests/redisson/ has the Java side. TARRY_REDISSON_MESSAGES: how many messages go
each way while sides are killed; 200.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from kept import JAVAC
from ports import free_port
from program import PROGRAM, SOURCE, UNKNOWN, USAGE, ProgramTest, Server, eventually
from redis_server import RedisServer

MESSAGES = int(os.environ.get("TARRY_REDISSON_MESSAGES", "200"))
# Version, and `decode=` of its default codec. 3.10.5 and 3.16.8 know only the old form of entries.
FST, MARSHALLING, KRYO = ("3.10.5", "fst"), ("3.16.8", "marshalling"), ("3.52.0", "kryo5")
NEWEST = ("4.7.0", "kryo5")
STRING, JACKSON = "org.redisson.client.codec.StringCodec", "org.redisson.codec.JsonJacksonCodec"
# Packages whose private parts FST and Marshalling access.
OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in (
    "java.lang", "java.math", "java.util", "java.util.concurrent", "java.net", "java.text",
    "java.io")]
FOLDER = SOURCE / "tests" / "redisson"
BUILT = Path(PROGRAM).resolve().parent / "tests" / "redisson"


def prepared(version):
    """The class path of a driver with that version; built once per build directory."""
    built = BUILT / version
    path = built / "classpath"
    if not path.exists():
        built.mkdir(parents=True, exist_ok=True)
        # Maven first runs offline with the files of an earlier run, so that an unreachable registry
        # stops nothing.
        for offline in (["-o"], []):
            words = ["mvn", "-q", "-B", *offline, "-f", str(FOLDER / "pom.xml"),
                     f"-Dredisson.version={version}", "dependency:build-classpath",
                     f"-Dmdep.outputFile={built / 'fetched'}"]
            told = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False)
            if told.returncode == 0:
                break
        else:
            raise AssertionError(f"{words}: {told.stdout[-2000:]} {told.stderr[-2000:]}")
        (built / "fetched").rename(path)
    libraries = path.read_text()
    if not (built / "Driver.class").exists() or \
            (built / "Driver.class").stat().st_mtime < (FOLDER / "Driver.java").stat().st_mtime:
        subprocess.run([*JAVAC, "-nowarn", "-Xlint:-options", "-cp", libraries, "-d", str(built),
                        str(FOLDER / "Driver.java")], check=True, capture_output=True, timeout=100)
    return f"{built}:{libraries}"


class Java:
    """A Java client of one queue. Use it in a `with`."""

    def __init__(self, version, port, queue, codec="default", log=None):
        self._log = open(log or os.devnull, "ab")
        self.process = subprocess.Popen(
            ["java", "-Xmx200m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *OPENS, "-cp",
             prepared(version), "Driver", f"redis://127.0.0.1:{port}", queue, codec],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            encoding="utf-8")
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError(f"Redisson {version} does not start")

    def tell(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline().removesuffix("\n")

    def ask(self, *words):
        self.tell(*words)
        return self.line()

    def lines(self, *words):
        """Says the words to the client. Returns its lines up to "done", or until it is dead."""
        self.tell(*words)
        while (line := self.line()) not in ("done", ""):
            yield line

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=60)
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self._log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


class RedissonTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for program in ("java", "javac", "mvn"):
            self.assertTrue(shutil.which(program), f"{program} is missing: scripts/setup test")
        self.port = free_port()
        self.redis = RedisServer("--port", str(self.port), parent=self.directory)
        self.redis.start()
        self.addCleanup(self.redis.bury)
        self.addCleanup(self.redis.shoot)
        self.store = f"{self.redis.url}?layout=redisson"

    def java(self, version, queue="dest", codec="default"):
        return Java(version, self.port, queue, codec, self.directory / "java.log")

    def sizes(self, queue="dest"):
        return (self.redis.ask("ZCARD", f"redisson_delay_queue_timeout:{{{queue}}}"),
                self.redis.ask("LLEN", f"redisson_delay_queue:{{{queue}}}"),
                self.redis.ask("LLEN", queue))

    def claimed(self, wait="60s", **more):
        return self.asked("claim", "dest", "--wait", wait, **more)["messages"]


class SameKeys(RedissonTest):
    def common(self, version, option, codec="default"):
        """Every version and codec must do this, beginning with a queue that never existed."""
        self.redis.ask("FLUSHALL")
        says = f"{self.store}&decode={option}"
        if option in ("string", "json") and version in (FST[0], MARSHALLING[0]):
            says += "&entry=old"
        with self.java(version, codec=codec) as java:
            # Nothing shows the codec, so the push is refused, and the error names the options.
            refused = self.tarry("push", "dest", "x", code=USAGE)
            for named in (option, "decode="):
                self.assertIn(named, refused.err)
            self.asked("push", "dest", "from tarry", store=says)
            self.assertEqual(java.ask("poll", 60000), "string:from tarry")

            # Java's texts, numbers and booleans; the texts cover all kinds of Java strings.
            texts = ["order:42", "x", "", "gr\u00fc\u00dfe", "\u65e5\u672c \U0001f600", "z" * 40,
                     "y" * 300, '{"a":1}']
            values = [f"string:{text}" for text in texts] + ["int:42", "int:-7", "long:5000000000",
                                                             "double:2.5", "bool:true"]
            for i, value in enumerate(values):
                self.assertEqual(java.ask("offer", value, 3_600_000 + i), "done")
            listed = [m["key"] for m in self.asked("ls", "dest")["messages"]]
            seen = [self.asked("get", "dest", key)["payload"] for key in listed]
            self.assertEqual(seen, [value.partition(":")[2] for value in values])
            for value in values[:2] + values[3:]:
                self.asked("cancel", "dest", value.partition(":")[2])
            self.asked("cancel", "dest", "none", code=UNKNOWN)
            self.assertEqual(java.ask("all"), "string:")
            self.assertEqual(java.ask("remove", "string:"), "true")
            self.assertEqual(self.sizes(), (0, 0, 0))

            # The queue is empty; tarry writes in the form of the last value.
            self.asked("push", "dest", "again", "--in", "1h")
            self.assertEqual(java.ask("all"), "string:again")
            self.assertEqual(java.ask("remove", "string:again"), "true")
            if codec == "default":
                java.ask("offer", "bool:true", 3_600_000)
                self.asked("push", "dest", "false", "--in", "2h")
                self.tarry("push", "dest", "text", code=USAGE)
                self.assertEqual(java.ask("all"), "bool:true\tbool:false")
                self.asked("cancel", "dest", "true")
                self.asked("cancel", "dest", "false")
            # Java's `remove` finds the values that tarry wrote, and can read past them.
            for i, text in enumerate(t for t in texts if t and "{" not in t):
                java.ask("offer", f"string:seen {i}", 3_600_000)
                self.asked("push", "dest", text, "--in", "1h")
                self.assertEqual(java.ask("all"), f"string:seen {i}\tstring:{text}")
                if option != "json" or "\U0001f600" not in text:  # Jackson escapes surrogate pairs
                    self.assertEqual(java.ask("remove", f"string:{text}"), "true")
                for key in ("redisson_delay_queue_timeout:{dest}", "redisson_delay_queue:{dest}"):
                    self.redis.ask("DEL", key)

            # tarry has claimed it and released it, and Java's timer has moved it.
            java.ask("offer", "string:given back", 1)
            message, = self.claimed()
            self.assertEqual(message["payload"], "given back")
            self.asked("release", "dest", message["receipt"])
            self.assertEqual(java.ask("poll", 60000), "string:given back")
            self.assertEqual(self.sizes(), (0, 0, 0))

    def test_the_default_codecs(self):
        for version, option in (FST, MARSHALLING, KRYO, NEWEST):
            with self.subTest(version=version):
                self.common(version, option)

    def test_other_codecs(self):
        for version, option, codec in ((FST[0], "string", STRING), (KRYO[0], "json", JACKSON)):
            with self.subTest(version=version, codec=codec):
                self.common(version, option, codec)


class Exchange(RedissonTest):
    """Messages go both ways at the same time, and each side is killed once."""

    def setUp(self):
        super().setUp()
        self.lock = threading.Lock()
        self.server = None
        self.handled = []  # values that tarry has handled
        self.threw = []
        self.errors = []

    def post(self, route, body):
        """Returns nothing if the server died meanwhile."""
        server = self.server
        request = urllib.request.Request(server.url + route, data=json.dumps(body).encode(),
                                         headers={"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{route} {body}: {error.read()}") from error
        except OSError:
            eventually(lambda: self.server is not server, "the server is back")
            return None
        except Exception as error:  # an answer that was cut off
            if server.process.poll() is None and self.server is server:
                raise AssertionError(f"{route}: {error!r}") from error
            eventually(lambda: self.server is not server, "the server is back")
            return None

    def is_there(self, queue, value):
        got = None
        while got is None:
            got = self.post(f"/v1/queues/{queue}/get", {"keys": [value]})
        return "payload" in got["results"][0]

    def consume(self, count):
        """tarry's side of Java's messages, until it has handled `count` of them."""
        try:
            while len(set(self.handled)) < count and not self.errors:
                answer = self.post("/v1/claim", {"queues": ["to-tarry"], "max": 20, "wait": "1s",
                                                 "lease": "8s"})
                for message in answer["messages"] if answer else []:
                    self.settle(message)
        except BaseException as error:  # pylint: disable=broad-except
            self.errors.append(error)

    def settle(self, message):
        item = {"receipt": message["receipt"], "action": "ack"}
        settled = self.post("/v1/settle", {"items": [item]})
        while settled is None:
            settled = self.post("/v1/settle", {"items": [item]})
            # The answer to an earlier ack was lost: either the ack was done, or the message is
            # delivered again.
            if settled and settled["results"][0]["outcome"] == "stale" and \
                    not self.is_there("to-tarry", message["payload"]):
                settled["results"][0]["outcome"] = "done"
        if settled["results"][0]["outcome"] == "done":
            with self.lock:
                self.handled.append(message["payload"])

    def produce(self, values, unsure):
        """tarry's messages for Java. If the answer to a batch is lost, its messages are
        `unsure`."""
        try:
            for at in range(0, len(values), 20):
                some = values[at:at + 20]
                pushed = self.post("/v1/queues/to-java/messages", {
                    "messages": [{"payload": value, "delay": "100ms"} for value in some]})
                if pushed is None:
                    unsure += some
                    continue
                for result in pushed["results"]:
                    if result.get("outcome") != "pushed":
                        raise AssertionError(f"push: {result}")
        except BaseException as error:  # pylint: disable=broad-except
            self.errors.append(error)

    def offer(self, version, count):
        """Java's messages for tarry. The client is killed in the middle of its work, half way."""
        java = self.java(version, "to-tarry")
        offered = -1
        for line in java.lines("offers", "J", 0, count, 100):
            self.keep(line)
            offered = int(line.split()[1])
            if offered == count // 2:
                break
        java.kill()
        # Java's next message may have arrived. tarry has it until it says that it has handled it.
        self.redis.ask("PING")
        more = offered + 1
        while more < count and not self.errors:
            value = f"J{more}"
            with self.lock:
                done = value in self.handled
            moved = self.redis.ask("LLEN", "to-tarry") > 0
            if not done and not moved and not self.is_there("to-tarry", value):
                with self.lock:
                    if value not in self.handled:
                        break
                continue
            if done or self.is_there("to-tarry", value):
                more += 1
        with self.java(version, "to-tarry") as java:
            for line in java.lines("offers", "J", more, count, 100):
                self.keep(line)
            eventually(lambda: self.sizes("to-tarry") == (0, 0, 0) or self.errors,
                       "tarry takes them", 200)

    def keep(self, line):
        if line.startswith("threw"):
            self.threw.append(line)

    def drain(self, version, values, unsure, producer):
        """Java's side of tarry's messages. It is killed once, when it has taken half of them."""
        taken = []
        java = self.java(version, "to-java")
        killed = False
        while True:
            some = list(java.lines("drain", 50, 300))
            for line in some:
                self.keep(line)
                taken.append(line.removeprefix("took string:"))
            if self.errors:
                break
            if not killed and len(taken) >= len(values) // 2:
                java.kill()
                java = self.java(version, "to-java")
                killed = True
            if some or producer.is_alive() or self.sizes("to-java") != (0, 0, 0):
                continue
            lost = [value for value in unsure if value not in taken]
            unsure.clear()
            if not lost:
                break
            self.produce(lost, unsure)
        java.kill()
        self.assertTrue(killed or self.errors)
        return taken

    def exchange(self, version, count):
        # tarry has now seen the form of this version.
        for queue in ("to-tarry", "to-java"):
            with self.java(version, queue) as java:
                java.ask("offer", "string:first", 1)
                message, = self.asked("claim", queue, "--wait", "60s")["messages"]
                self.assertEqual(message["payload"], "first")
                self.asked("ack", queue, message["receipt"])
        self.server = Server(self.store)
        self.addCleanup(lambda: self.server.stop())  # pylint: disable=unnecessary-lambda
        values, unsure, taken = [f"T{i}" for i in range(count)], [], []
        producer = threading.Thread(target=self.produce, args=(values, unsure))
        consumer = threading.Thread(target=self.consume, args=(count,))
        drainer = threading.Thread(target=lambda: taken.extend(self.guarded(
            self.drain, version, values, unsure, producer) or []))
        offerer = threading.Thread(target=self.guarded, args=(self.offer, version, count))
        for thread in (producer, consumer, drainer, offerer):
            thread.start()
        eventually(lambda: len(self.handled) > count // 4 or self.errors, "a quarter is handled",
                   200)
        self.server.stop(9)
        self.server = Server(self.store)
        for thread in (producer, offerer, drainer, consumer):
            thread.join()
        self.assertEqual(self.errors, [])
        both = {"T": (taken, values), "J": (self.handled, [f"J{i}" for i in range(count)])}
        for got, sent in both.values():
            self.assertEqual(sorted(set(sent) - set(got)), [], "lost")
            self.assertEqual(len(got), len(set(got)), "twice")
            self.assertEqual(sorted(set(got) - set(sent)), [], "made up")
        self.assertEqual(self.threw, [])
        print(f"Redisson {version}: {count} each way, lost 0, twice 0, thrown 0", file=sys.stderr)

    def guarded(self, run, *words):
        try:
            return run(*words)
        except BaseException as error:  # pylint: disable=broad-except
            self.errors.append(error)
            return None

    def test_the_old_form(self):
        self.exchange(FST[0], MESSAGES)

    def test_the_newest_3(self):
        self.exchange(KRYO[0], MESSAGES)

    def test_the_newest_4(self):
        self.exchange(NEWEST[0], MESSAGES)


if __name__ == "__main__":
    unittest.main()
