#!/usr/bin/env python3
"""beanstalkd's front as part of the server: tokens and scopes, limits, the drain, and the stores
that it refuses."""

import signal
import threading
import unittest

from beanstalk_pair import Connection, Tarry
from program import ProgramTest, eventually
from token_files import line_of, secret

FORBIDDEN = b"FORBIDDEN\r\n"
UNAUTHORIZED = b"UNAUTHORIZED\r\n"
NOT_FOUND = b"NOT_FOUND\r\n"  # said of a job or a tube that the token must not see


class Beanstalk(ProgramTest):
    def serve(self, *flags, store="memory:"):
        tarry = Tarry(store, *flags)
        self.addCleanup(tarry.stop)
        return tarry

    def connect(self, tarry):
        connection = Connection(tarry.port)
        self.addCleanup(connection.close)
        return connection

    def tokens(self, **rights):
        """Serves with a tokens file. Returns the server, and a function that connects with a token
        of that name."""
        file = self.directory / "tokens"
        file.touch(mode=0o600)
        secrets = {name: secret() for name in rights}
        file.write_text("".join(line_of(name, scopes, queues, secrets[name]) + "\n"
                                for name, (scopes, queues) in rights.items()))
        tarry = self.serve("--tokens-file", str(file))

        def enter(name):
            client = self.connect(tarry)
            self.assertEqual(client.ask(b"auth %s\r\n" % secrets[name].encode()),
                             b"AUTHORIZED\r\n")
            return client

        return tarry, enter

    def test_without_a_token_nobody_gets_in(self):
        tarry, enter = self.tokens(one=("read", "*"))
        client = self.connect(tarry)
        for command in (b"put 0 0 1 1\r\nx\r\n", b"reserve\r\n", b"stats\r\n", b"use a\r\n",
                        b"nonsense\r\n"):
            self.assertEqual(client.ask(command), UNAUTHORIZED, command)
        self.assertEqual(client.ask(b"auth wrong\r\n"), UNAUTHORIZED)
        self.assertEqual(client.reply(), b"")  # it is closed
        self.assertTrue(enter("one").ask(b"stats\r\n").startswith(b"OK"))

    def test_each_scope_has_its_commands(self):
        scopes = ("read", "push", "consume", "admin")
        _, enter = self.tokens(**{scope: (scope, "t") for scope in scopes})
        clients = {scope: enter(scope) for scope in scopes}
        for client in clients.values():
            client.ask(b"use t\r\n")
            client.ask(b"watch t\r\n")
            client.ask(b"ignore default\r\n")
        job = clients["push"].ask(b"put 0 3600 60 1\r\nx\r\n").split()[1]
        for command, scope in ((b"put 0 3600 60 1\r\nx\r\n", "push"),
                               (b"put-key k 0 3600 60 1\r\nx\r\n", "push"),
                               (b"reschedule-key k 5000\r\n", "push"),
                               (b"cancel-key k\r\n", "push"), (b"kick 0\r\n", "push"),
                               (b"reserve-with-timeout 0\r\n", "consume"),
                               (b"peek %s\r\n" % job, "read"), (b"peek-delayed\r\n", "read"),
                               (b"stats-job %s\r\n" % job, "read"),
                               (b"stats-tube t\r\n", "read"), (b"pause-tube t 0\r\n", "admin"),
                               (b"delete %s\r\n" % job, "push")):
            for name in sorted(scopes, key=lambda name: name == scope):  # the one that may, last
                reply = clients[name].ask(command)
                (self.assertNotIn if name == scope else self.assertIn)(
                    reply, (FORBIDDEN, NOT_FOUND), (command, name))
        clients["push"].ask(b"use other\r\n")
        self.assertEqual(clients["push"].ask(b"put 0 0 1 1\r\nx\r\n"), FORBIDDEN)

    def test_limits_answer_and_keep_the_connection(self):
        tarry = self.serve("--limit-requests-per-peer", "5")
        client = self.connect(tarry)
        replies = [client.ask(b"put 0 0 60 1\r\nx\r\n") for _ in range(30)]
        self.assertIn(b"OUT_OF_MEMORY\r\n", replies)
        self.assertTrue(replies[0].startswith(b"INSERTED"))
        eventually(lambda: client.ask(b"put 0 0 60 1\r\nx\r\n").startswith(b"INSERTED"),
                   "a second later there is room again")

    def test_a_connection_too_many_is_closed(self):
        tarry = self.serve("--limit-connections-per-peer", "2")
        ask = b"list-tube-used\r\n"
        first = self.connect(tarry)
        # The connection that looked whether the server is there may linger.
        eventually(lambda: (second := self.connect(tarry)) and second.ask(ask).startswith(b"USING"),
                   "two are served")
        third = self.connect(tarry)
        self.assertEqual(third.ask(ask), b"OUT_OF_MEMORY\r\n")
        self.assertEqual(third.reply(), b"")
        self.assertEqual(first.ask(ask), b"USING default\r\n")

    def test_a_drain_takes_no_more_jobs_and_gives_back_what_was_reserved(self):
        tarry = self.serve(store=self.store)
        worker, waits, puts = (self.connect(tarry) for _ in range(3))
        worker.ask(b"put 0 0 60 1\r\nx\r\n")
        reserved = worker.ask(b"reserve\r\n")
        waits.send(b"reserve\r\n")
        # A reply proves that the server has read the beginning of the command after it, too.
        puts.ask(b"list-tube-used\r\nput 0 0 60 10\r\n01234")
        tarry.server.process.send_signal(signal.SIGTERM)
        eventually(lambda: "stopping" in tarry.server.log(), "the drain begins")
        self.assertEqual(waits.reply(), b"")
        puts.send(b"56789\r\n")
        self.assertEqual(puts.reply(), b"DRAINING\r\n")
        self.assertEqual(tarry.stop(), 0)
        again = self.connect(self.serve(store=self.store))
        self.assertEqual(again.ask(b"reserve-with-timeout 0\r\n"), reserved)
        self.assertEqual(again.ask(b"reserve-with-timeout 0\r\n"), b"TIMED_OUT\r\n")

    def test_a_drain_that_begins_while_replies_are_sent_answers_the_commands_behind_them(self):
        tarry = self.serve()
        client = self.connect(tarry)
        many = 20_000  # more replies than the buffers between the two take
        commands = threading.Thread(
            target=client.send, args=(b"stats\r\n" * many + b"put 0 3600 60 10\r\n01234",))
        commands.start()
        self.assertTrue(client.reply().startswith(b"OK "))
        tarry.server.process.send_signal(signal.SIGTERM)
        eventually(lambda: "stopping" in tarry.server.log(), "the drain begins")
        for at in range(1, many):
            self.assertTrue(client.reply().startswith(b"OK "), at)
        commands.join()
        # What is sent now comes too late.
        client.send(b"56789\r\n" + b"put 0 3600 60 10\r\n01234")
        self.assertEqual(client.reply(), b"DRAINING\r\n")
        self.assertEqual(client.reply(), b"")
        self.assertEqual(tarry.stop(), 0)

    def test_stores_that_cannot_serve_it_are_refused_before_they_are_opened(self):
        """Nobody listens at these addresses, so an open store would be another error."""
        for store, engine in (("amqp://127.0.0.1:1", "rabbitmq"),
                              ("redis://127.0.0.1:1?layout=plain&zset=q", "redis plain")):
            for front in ("beanstalk", "sqs"):
                self.refused("serve", "--listen", "127.0.0.1:0", f"--{front}", "127.0.0.1:0",
                             store=store, says=(f"server.{front}", engine))
            self.refused("serve", "--listen", "127.0.0.1:0", "--sqs-on-http", store=store,
                         says=("sqs.on_http", engine))


if __name__ == "__main__":
    unittest.main(verbosity=2)
