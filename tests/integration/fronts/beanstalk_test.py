#!/usr/bin/env python3
"""beanstalkd's protocol: the same commands to Debian's beanstalkd and to tarry, on each engine."""

import itertools
import os
import random
import time
import unittest

from beanstalk_pair import IS_1_12, Connection, Pair, Reference, Tarry
from redis_server import RedisServer

SEED = int(os.environ.get("TARRY_BEANSTALK_SEED", "1"))
RANDOM_COMMANDS = int(os.environ.get("TARRY_BEANSTALK_COMMANDS", "12000"))

NO_TIME_OUTS = (b"reserve-with-timeout ", b"reserve-with-timeout x", b"reserve-with-timeout \t0")


class Servers(unittest.TestCase):
    """Both servers, empty."""

    def tarry(self, *flags, **options):
        tarry = Tarry(*flags, **options)
        self.addCleanup(lambda: self.assertEqual(tarry.stop(), 0))
        return tarry

    def both(self, *flags):
        tarry, reference = self.tarry(*flags), Reference()
        self.addCleanup(reference.stop)
        pair = Pair(reference, tarry)
        self.addCleanup(pair.close)
        return pair


class Random(Servers):
    """Random commands of three clients on two tubes, while another client keeps the tubes.

    Left out, because tarry differs there as its guide says: the order of jobs with the same
    priority that were delayed or kicked (here no two priorities are equal), the order among
    several watched tubes (who watches two here does not reserve), and what makes tarry close the
    connection."""

    TUBES = (b"default", b"t1", b"t2")
    COMMANDS = RANDOM_COMMANDS

    def setUp(self):
        self.pair = self.both(*self.store())
        self.random = random.Random(SEED)
        self.priorities = iter(self.random.sample(range(3000), 3000))
        self.watched = {}
        self.jobs = []
        self.count = 0
        self.delays = itertools.count(1000, 10)  # tarry has the order of equal times to the ms

    def store(self):
        """The URL of tarry's store, unless it is the usual one."""
        return ()

    def priority(self):
        return next(self.priorities, None)

    def job(self):
        if not self.jobs or self.random.random() < 0.03:
            return b"{none}"
        recent = self.jobs[-12:] if self.random.random() < 0.8 else self.jobs
        return b"{%s}" % self.random.choice(recent)

    def one(self, client):
        """A random command, or None."""
        pick, tube = self.random.random(), self.random.choice(self.TUBES)
        if pick < 0.22:
            self.count += 1
            delay = self.random.choice((0, 0, 0, next(self.delays)))
            body = self.random.randbytes(self.random.choice((0, 1, 5, 5, 300))).replace(b"{", b"\n")
            return b"put %d %d %d %d\r\n%s\r\n" % (
                self.next, delay, self.random.choice((100, 100, 500)), len(body), body)
        if pick < 0.40 and len(self.watched[client]) == 1:
            return b"reserve-with-timeout 0\r\n"
        for limit, made in (
                (0.49, lambda: b"delete %s\r\n" % self.job()),
                (0.57, lambda: b"release %s %d %d\r\n" % (
                    self.job(), self.next,
                    self.random.choice((0, 0, next(self.delays))))),
                (0.63, lambda: b"bury %s %d\r\n" % (self.job(), self.next)),
                (0.66, lambda: b"touch %s\r\n" % self.job()),
                (0.69, lambda: b"kick %d\r\n" % self.random.choice((0, 1, 2, 100))),
                (0.72, lambda: b"kick-job %s\r\n" % self.job()),
                (0.75, lambda: b"reserve-job %s\r\n" % self.job()),
                (0.78, lambda: b"peek %s\r\n" % self.job()),
                (0.82, lambda: b"peek-%s\r\n" % self.random.choice(
                    (b"ready", b"delayed", b"buried"))),
                (0.86, lambda: b"stats-job %s\r\n" % self.job()),
                (0.89, lambda: b"stats-tube %s\r\n" % tube),
                (0.90, lambda: b"stats\r\n"),
                (0.91, lambda: self.random.choice(
                    (b"list-tubes\r\n", b"list-tube-used\r\n", b"list-tubes-watched\r\n"))),
                (0.94, lambda: b"use %s\r\n" % tube),
                (0.96, lambda: self.watch(client, tube)),
                (0.98, lambda: self.ignore(client, tube)),
                (0.99, lambda: self.random.choice(
                    (b"nonsense\r\n", b"\r\n", b"delete x\r\n", b"touch\r\n", b"stats x\r\n",
                     b"kick\r\n", b"release 1\r\n", b"bury 1 2 3\r\n", b"use -x\r\n")))):
            if pick < limit:
                return made()
        return None

    def watch(self, client, tube):
        self.watched[client].add(tube)
        return b"watch %s\r\n" % tube

    def ignore(self, client, tube):
        if len(self.watched[client]) > 1:
            self.watched[client].discard(tube)
        return b"ignore %s\r\n" % tube

    def test_they_answer_the_same(self):
        for tube in self.TUBES:
            self.pair.ask("keeper", b"watch %s\r\n" % tube)
        said = 0
        while said < self.COMMANDS:
            client = self.random.choice("abc")
            self.watched.setdefault(client, {b"default"})
            self.next = self.priority()
            if self.next is None:
                self.start_anew()
                continue
            command = self.one(client)
            if command is None:
                self.pair.close(client)
                self.watched.pop(client)
                self.gone()
                continue
            name = b"j%d" % self.count
            reply = self.pair.ask(client, command, name)
            if reply.startswith(b"INSERTED"):
                self.jobs.append(name)
            if reply.startswith(b"BURIED"):
                self.tick()
            said += 1

    def tick(self):
        """tarry keeps the order of burials to the millisecond."""
        begun = time.monotonic()
        while time.monotonic() < begun + 0.002:
            pass

    def gone(self):
        """Until both servers have noticed; what a client had reserved is ready then. Both are asked
        equally often, because they count it."""
        counts = [b"current-connections: %d\n" % len(side.clients) for side in self.pair.sides]
        for _ in range(10_000):
            texts = [side.client("keeper").ask(b"stats\r\n") for side in self.pair.sides]
            if all(count in text for count, text in zip(counts, texts)):
                return
        self.fail(f"{texts!r} have not {counts!r}")

    def start_anew(self):
        """No job is left, and all priorities are free again."""
        for name in self.jobs:
            for client in "abc":
                self.watched.setdefault(client, {b"default"})
                self.pair.ask(client, b"delete {%s}\r\n" % name)
        self.jobs = []
        self.priorities = iter(self.random.sample(range(3000), 3000))


class RandomOnRedis(Random):
    """The same on a store in Redis."""

    COMMANDS = RANDOM_COMMANDS // 6

    def store(self):
        redis = RedisServer()
        self.addCleanup(redis.close)
        redis.start()
        return (f"{redis.url}?max_payload=65535",)


class Recorded(Servers):
    """What clients say, and what they say wrong."""

    def setUp(self):
        self.pair = self.both()

    def say(self, *commands, client="a"):
        return [self.pair.ask(client, command, b"j%d" % number)
                for number, command in enumerate(commands)]

    def test_lines_that_are_wrong(self):
        for line in (b"", b" put 1", b"Put 0 0 1 0", b"reservex", b"reserve ", b"reserve-job",
                     b"reserve-job x", b"delete", b"delete ", b"delete -1", b"delete 1 ",
                     b"delete 1x", b"delete 18446744073709551615", b"delete 18446744073709551616",
                     b"release 1 2", b"release 1 2 3x", b"release 1 4294967296 0", b"bury 1",
                     b"kick", b"kick x", b"kick 99999999999999999999", b"kick 3x", b"kick  0",
                     b"kick-job", b"touch x", b"peek", b"peek x", b"peek-ready ", b"peek-readyx",
                     b"peek-delayed 1", b"peek-buried 1", b"stats ", b"stats-job x",
                     b"stats-tube", b"stats-tube ", b"stats-tube a b", b"stats-tube none",
                     b"use", b"use ", b"use a b", b"use a%b", b"use -a", b"use  a", b"watch ",
                     b"ignore ", b"ignore unknown", b"list-tubes ", b"list-tube-used 1",
                     b"list-tubes-watched ", b"list-tube", b"pause-tube", b"pause-tube none 1",
                     b"pause-tube a", b"pause-tube default x", b"pause-tube default 1x",
                     b"reserve-with-timeout", b"reserve-with-timeout 0x",
                     b"reserve-with-timeout 99999999999999999999", b"delete 1\0", b"\0",
                     b"x" * 222, b"x" * 300, b"use " + b"t" * 201, b"x" * 5000,
                     *(NO_TIME_OUTS if IS_1_12 else ())):
            with self.subTest(line=line):
                self.say(line + b"\r\n")
        self.say(b"stats\r\n")

    def test_tubes(self):
        self.say(b"use emails\r\n", b"list-tube-used\r\n", b"watch emails\r\n",
                 b"watch emails\r\n", b"watch c\r\n", b"watch d\r\n", b"ignore default\r\n",
                 b"list-tubes-watched\r\n", b"ignore emails\r\n", b"list-tubes-watched\r\n",
                 b"ignore d\r\n", b"ignore c\r\n", b"stats-tube emails\r\n",
                 b"stats-tube d\r\n", b"pause-tube emails 100\r\n", b"stats-tube emails\r\n",
                 b"pause-tube emails 0\r\n", b"stats-tube emails\r\n")

    def test_jobs_that_are_too_large(self):
        self.say(b"put 0 0 60 65535\r\n" + b"x" * 65535 + b"\r\n", b"delete {j0}\r\n",
                 b"put 0 0 60 65536\r\n" + b"delete 1\r\n" * 6553 + b"123456" + b"\r\n",
                 b"put 0 0 60 100000 garbage\r\n" + b"x" * 100000 + b"\r\n",
                 b"put 0 0 60 3\r\nabc\r\n", b"delete {j4}\r\n", b"stats-tube default\r\n")

    def test_many_commands_at_once(self):
        puts = b"".join(b"put %d 0 100 %d\r\n%s\r\n" % (i, len(str(i)), str(i).encode())
                        for i in range(500, 0, -1))
        self.pair.send("a", puts + b"use u\r\nlist-tube-used\r\nput 1 0 100 1\r\nu\r\n")
        for i in range(500, 0, -1):
            self.pair.reply("a", b"j%d" % i)
        for name in (b"", b"", b"u"):
            self.pair.reply("a", name)
        self.pair.send("a", b"reserve\r\n" * 300 + b"reserve-with-timeout 0\r\n" * 201)
        for _ in range(501):
            self.pair.reply("a")
        kinds = (b"delete {j%d}\r\n", b"release {j%d} 7 0\r\n", b"bury {j%d} 9\r\n",
                 b"touch {j%d}\r\n", b"delete {j%d}\r\ndelete {j%d}\r\n")
        said = b"".join(kinds[i % 5].replace(b"%d", str(i).encode()) for i in range(1, 501))
        self.pair.send("a", said + b"stats-tube default\r\n")
        for _ in range(500 + 100 + 1):
            self.pair.reply("a")
        self.pair.close("a")
        self.pair.send("b", b"".join(b"delete {j%d}\r\n" % i for i in range(1, 501))
                       + b"delete {u}\r\nstats-tube default\r\n")
        for _ in range(501):
            self.pair.reply("b")

    def test_what_comes_in_pieces(self):
        for data in (b"pu", b"t 1 0 60 1", b"0\r", b"\n01234", b"56789\r", b"\n"):
            self.pair.send("a", data)
        self.pair.reply("a", b"j")
        self.pair.send("a", b"delete {j}\r\ndele")
        self.pair.reply("a")
        self.pair.send("a", b"te {j}\r\n")
        self.pair.reply("a")

    def test_time(self):
        """Several clients at once, so that their waits are one."""
        self.say(b"use w\r\n", b"watch w\r\n", b"ignore default\r\n",
                 b"put 1 1 60 1\r\nd\r\n", client="delayed")
        self.say(b"use x\r\n", b"watch x\r\n", b"ignore default\r\n",
                 b"put 1 0 1 3\r\nttr\r\n", b"reserve\r\n", client="late")
        self.say(b"watch y\r\n", b"ignore default\r\n", client="timed")
        self.say(b"use z\r\n", b"watch z\r\n", b"ignore default\r\n",
                 b"put 1 0 60 1\r\nz\r\n", b"pause-tube z 1\r\n",
                 b"reserve-with-timeout 0\r\n", client="paused")
        self.say(b"watch v\r\n", b"ignore default\r\n", client="waits")
        for client, data in (("delayed", b"reserve-with-timeout 10\r\n"),
                             ("late", b"reserve\r\nreserve\r\n"),
                             ("timed", b"reserve-with-timeout 1\r\n"),
                             ("paused", b"reserve\r\n"), ("waits", b"reserve\r\n")):
            self.pair.send(client, data)
        self.assertEqual(self.pair.reply("late"), b"DEADLINE_SOON\r\n")
        self.pair.ask("giver", b"use v\r\n")
        self.pair.ask("giver", b"put 5 0 60 2\r\nhi\r\n", b"given")
        self.assertIn(b"hi", self.pair.reply("waits"))
        self.assertEqual(self.pair.reply("timed"), b"TIMED_OUT\r\n")
        self.assertIn(b"d\r\n", self.pair.reply("delayed"))
        self.assertIn(b"z\r\n", self.pair.reply("paused"))


class Own(Servers):
    """What tarry does otherwise, or besides."""

    def connect(self, tarry):
        connection = Connection(tarry.port)
        self.addCleanup(connection.close)
        return connection

    def test_a_body_is_never_run(self):
        tarry = self.tarry()
        keeper = self.connect(tarry)
        job = keeper.ask(b"put 1 0 60 1\r\nx\r\n").split()[1]
        delete = b"delete " + job + b"\r\n"
        for attack, reply in ((b"put 0 0 60 3\r\nabcd\r\n", b"EXPECTED_CRLF\r\n"),
                              (b"put 0 0 60 1\r\n", b"EXPECTED_CRLF\r\n"),
                              (b"put 0 0 60 x\r\n", b"BAD_FORMAT\r\n"),
                              (b"put 0 0 60 -5\r\n", b"BAD_FORMAT\r\n"),
                              (b"put 0 0 60 5 6\r\n", b"BAD_FORMAT\r\n"),
                              (b"put 0 0 60 99999999999\r\n", b"BAD_FORMAT\r\n"),
                              (b"put 0 0 60 5\0\r\n", b"BAD_FORMAT\r\n"),
                              (b"put " + b"0" * 500 + b"\r\n", b"BAD_FORMAT\r\n")):
            with self.subTest(attack=attack):
                client = self.connect(tarry)
                client.send(attack + delete * 3)
                self.assertEqual(client.reply(), reply)
                self.assertEqual(client.reply(), b"")
                self.assertTrue(keeper.ask(b"peek " + job + b"\r\n").startswith(b"FOUND"))
        self.assertEqual(keeper.ask(delete), b"DELETED\r\n")

    def test_keys(self):
        client = self.connect(self.tarry())
        client.ask(b"use keys\r\n")
        reply = client.ask(b"put-key order:42 1 100 60 2\r\nhi\r\n")
        self.assertRegex(reply, rb"^INSERTED \d+\r\n$")
        job = reply.split()[1]
        for command, answer in ((b"put-key order:42 1 100 60 2\r\nho\r\n", b"EXISTS\r\n"),
                                (b"peek " + job + b"\r\n", b"FOUND " + job + b" 2\r\nhi\r\n"),
                                (b"reschedule-key order:42 0\r\n", b"RESCHEDULED\r\n"),
                                (b"peek-ready\r\n", b"FOUND " + job + b" 2\r\nhi\r\n"),
                                (b"cancel-key order:42\r\n", b"CANCELLED\r\n"),
                                (b"cancel-key order:42\r\n", b"NOT_FOUND\r\n"),
                                (b"reschedule-key order:42 1\r\n", b"NOT_FOUND\r\n")):
            self.assertEqual(client.ask(command), answer, command)


if __name__ == "__main__":
    unittest.main(verbosity=2)
