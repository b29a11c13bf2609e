#!/usr/bin/env python3
"""tarry store acl: the line that it prints makes a user with which the program works."""

import shlex
import unittest

from program import UNREACHABLE, USAGE, ProgramTest, Server
from redis_server import RedisServer


class Acl(ProgramTest):
    def test_the_line_makes_a_user(self):
        redis = RedisServer(parent=self.directory)
        self.addCleanup(redis.close)
        redis.start()
        line = self.tarry("store", "acl", "--user", "shop", store=redis.url).out
        self.assertRegex(line, r"\AACL SETUSER shop reset on >PASSWORD [^\n]+\n\Z")
        (self.directory / "password").write_text("pw\n")
        url = f"{redis.url}?user=shop&password_file={self.directory}/password"
        # The user does not exist yet.
        self.tarry("push", "orders", "x", store=url, code=UNREACHABLE)
        redis.ask("ACL", "LOG", "RESET")
        self.assertEqual(redis.ask(*shlex.split(line.replace("PASSWORD", "pw"))), "OK")
        self.tarry("push", "orders", "x", "--key", "k", store=url)
        receipt = self.asked("claim", "orders", store=url)["messages"][0]["receipt"]
        self.tarry("ack", "orders", receipt, store=url)
        self.assertEqual(redis.ask("ACL", "LOG"), [])
        redis.ask("ACL", "SETUSER", "shop", "-evalsha")
        answer = self.tarry("queue", "info", "orders", store=url, code=UNREACHABLE)
        self.assertIn("does not let this user do that", answer.err)

    def test_what_the_url_needs(self):
        told = self.asked("store", "acl", store="redis+cluster://h/")
        self.assertEqual(told["user"], "tarry")
        self.assertEqual(told["command"],
                         f"ACL SETUSER tarry reset on >PASSWORD {' '.join(told['rules'])}")
        self.assertIn("+cluster|slots", told["rules"])
        self.assertIn("+ssubscribe", told["rules"])
        old = self.asked("store", "acl", "--redis", "6.2", store="redis+cluster://h/")["rules"]
        self.assertIn("+subscribe", old)
        self.assertNotIn("+ssubscribe", old)
        self.assertIn("+role", self.asked("store", "acl",
                                          store="redis+sentinel://h?master=m")["rules"])
        self.assertNotIn("+select", self.asked("store", "acl", store="redis://h")["rules"])
        self.assertIn("+select", self.asked("store", "acl", store="redis://h/3")["rules"])

    def test_without_a_url_it_is_for_a_single_server(self):
        told = self.asked("store", "acl", store="")["rules"]  # the same for every database
        self.assertEqual(told, self.asked("store", "acl", store="redis://h/3")["rules"])

    def test_a_server_of_ours_is_not_asked(self):
        with Server("memory:") as server:
            self.refused("store", "acl", store=server.url, code=USAGE,
                         says=f'store "{server.url}" is not in Redis')
        self.refused("store", "acl", store="http+unix:///run/shop.sock", code=USAGE,
                     says='store "http+unix:///run/shop.sock" is not in Redis')

    def test_bad_input(self):
        self.refused("store", "acl", code=USAGE, says="is not in Redis")
        self.refused("store", "acl", "--user", "a b", store="redis://h", code=USAGE, says='"a b"')
        self.refused("store", "acl", "--user", "", store="redis://h", code=USAGE, says='""')
        self.refused("store", "acl", "--redis", "5", store="redis://h", code=USAGE, says="5")


if __name__ == "__main__":
    unittest.main()
