#!/usr/bin/env python3
"""tarry token new, ls, check: the tokens file, from the command line."""

import hashlib
import os
import stat
import subprocess
import unittest

from program import (CONFLICT, DONE, FAILED, PROGRAM, UNKNOWN, USAGE, ProgramTest, Server,
                     environment)


class Token(ProgramTest):
    """One tokens file."""

    def setUp(self):
        super().setUp()
        self.file = self.directory / "tokens"
        self.at = ("--tokens-file", str(self.file))

    def new(self, name, *flags, scopes="read", queues="*"):
        """The token, which is all of standard output."""
        answer = self.tarry("token", "new", name, "--scopes", scopes, "--queues", queues, *flags,
                            "--tokens-file", str(self.file))
        self.assertIn("the only time that the token is shown", answer.err)
        self.assertRegex(answer.out, r"\Atarry_[A-Za-z0-9_-]{43}\n\Z")
        return answer.out.strip()

    def mode(self):
        """The permissions of the file."""
        return stat.S_IMODE(self.file.stat().st_mode)

    def test_a_new_token_is_shown_once_and_kept_as_a_hash(self):
        first = self.new("scraper")
        self.assertEqual(self.mode(), 0o600)
        self.file.chmod(0o640)
        before = self.file.read_text() + "# a comment stays\n"
        self.file.write_text(before)
        second = self.new("shop", "--end", "2190-01-01T00:00:00+01:00", scopes="consume,push",
                          queues="shop.*,mails")
        self.assertNotEqual(first, second)
        self.assertEqual(self.mode(), 0o640)
        digest = [hashlib.sha256(token.encode()).hexdigest() for token in (first, second)]
        self.assertEqual(self.file.read_text(),
                         f"scraper read * sha256:{digest[0]}\n# a comment stays\nshop push,consume "
                         f"shop.*,mails sha256:{digest[1]} 2189-12-31T23:00:00.000Z\n")
        self.assertEqual(os.listdir(self.directory), ["tokens"])
        with Server("memory:", *self.at) as server:
            self.tarry("queue", "ls", store=server.url, TARRY_TOKEN=first)
            self.tarry("push", "mails", "x", store=server.url, TARRY_TOKEN=second)
            self.tarry("push", "mails", "x", store=server.url, TARRY_TOKEN=first, code=FAILED)

    def test_json(self):
        made = self.asked("token", "new", "a", "--scopes", "read,admin", "--queues", "q,r*",
                          "--for", "2h", *self.at)
        listed, = self.asked("token", "ls", TARRY_TOKENS_FILE=str(self.file))["tokens"]
        self.assertEqual((listed["name"], listed["scopes"], listed["queues"], listed["ended"]),
                         ("a", ["read", "admin"], ["q", "r*"], False))
        self.assertEqual((listed["line"], listed["end_ms"]), (1, made["end_ms"]))
        self.assertEqual((made["file"], made["name"]), (str(self.file), "a"))
        shown = self.asked("token", "check", "-", *self.at, stdin=made["token"].encode())
        self.assertEqual((shown["name"], shown["scopes"]), ("a", ["read", "admin"]))
        self.assertEqual(self.asked("token", "check", *self.at),
                         {"file": str(self.file), "tokens": 1})
        for answer in (listed, shown):
            self.assertNotIn("token", answer)

    def test_tables(self):
        self.new("scraper")
        shop = self.new("shop", scopes="push", queues="shop.*,mails")
        out = self.tarry("token", "ls", *self.at).out
        self.assertRegex(out, r"NAME +SCOPES +QUEUES +END\nscraper +read +\* *\n"
                              r"shop +push +shop\.\*,mails *\n")
        self.assertNotIn("sha256", out)
        out = self.tarry("token", "check", "-", *self.at, stdin=f"{shop}\n".encode()).out
        self.assertRegex(out, r"name +shop\nscopes +push\nqueues +shop\.\*,mails\n")
        self.tarry("token", "new", "brief", "--scopes", "read", "--queues", "*",
                   "--end", "2190-01-01T00:00:00Z", *self.at)
        out = self.tarry("token", "check", "--tokens-file", str(self.file)).out
        self.assertIn("tokens\" is valid: 3 tokens\n", out)

    def test_what_check_finds(self):
        self.new("scraper")
        self.refused("token", "check", "-", *self.at, stdin=b"tarry_another\n", code=UNKNOWN,
                     says="the token is not in ")
        self.refused("token", "check", "-", *self.at, stdin=b"a b\n", says="is no token")
        self.refused("token", "check", "-", *self.at, stdin=b"", says="is no token")
        shown = self.refused("token", "check", "tarry_a-secret", *self.at, says="is shown by ps")
        self.assertNotIn("tarry_a-secret", shown.err)
        past = hashlib.sha256(b"past").hexdigest()
        with self.file.open("a") as file:
            file.write(f"past read * sha256:{past} 2020-01-01T00:00:00Z\n")
        self.refused("token", "check", *self.at,
                     says=f'{self.file}:2: the token "past" ended at 2020-01-01T00:00:00.000Z')
        self.refused("token", "check", "-", *self.at, stdin=b"past", code=FAILED,
                     says='the token "past" ended at')
        self.assertIn("2020-01-01T00:00:00.000Z (ended)", self.tarry("token", "ls", *self.at).out)
        with self.file.open("a") as file:
            file.write("x\ny\n")
        for command in ("ls", "check"):
            answer = self.refused("token", command, *self.at, says=f"{self.file}:3: 1 word")
            self.assertEqual(len(answer.err.splitlines()), 2)
        self.file.chmod(0o644)
        self.refused("token", "ls", *self.at, says="chmod o-r")
        self.file.unlink()
        self.refused("token", "check", *self.at, says="No such file")

    def test_what_new_refuses(self):
        self.new("scraper")
        before = self.file.read_text()

        def refuses(says, name="a", code=USAGE, scopes="read", queues="*", flags=()):
            self.refused("token", "new", name, "--scopes", scopes, "--queues", queues, *flags,
                         *self.at, says=says, code=code)
            self.assertEqual(self.file.read_text(), before)

        refuses(f'{self.file}:1: the token "scraper" exists', name="scraper", code=CONFLICT)
        refuses('scope "reed" is not read, push, consume or admin; did you mean "read"?',
                scopes="reed")
        refuses('pattern "a*b"', queues="a*b")
        refuses('token name "a b"', name="a b")
        refuses('"token_file" is that of the token in server.token_file', name="token_file")
        refuses("the end 2020-01-01T00:00:00.000Z has passed",
                flags=("--end", "2020-01-01T00:00:00Z"))
        refuses("--end", flags=("--end", "2190-01-01T00:00:00Z", "--for", "1d"))
        self.refused("token", "new", "a", "--queues", "*", *self.at, says="--scopes")
        self.refused("token", "new", "a", "--scopes", "read", *self.at, says="--queues")
        self.refused("token", "new", "a", "--scopes", "read", "--queues", "*",
                     says="there is no tokens file: give --tokens-file")
        link = self.directory / "link"
        link.symlink_to(self.file)
        self.refused("token", "new", "a", "--scopes", "read", "--queues", "*", "--tokens-file",
                     str(link), says="it is a link; name the file itself")
        with self.file.open("a") as file:
            file.write("x\n")
        self.refused("token", "new", "a", "--scopes", "read", "--queues", "*", *self.at,
                     says=f"{self.file}:2: 1 word")

    def test_several_at_once_lose_none(self):
        makers = [subprocess.Popen(
            [PROGRAM, "token", "new", f"t{i}", "--scopes", "read", "--queues", "*", *self.at],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
                  for i in range(20)]
        tokens = [maker.communicate(timeout=60)[0].decode().strip() for maker in makers]
        self.assertEqual([maker.returncode for maker in makers], [DONE] * 20)
        self.assertEqual(len(set(tokens)), 20)
        listed = self.asked("token", "ls", *self.at)["tokens"]
        self.assertEqual({token["name"] for token in listed}, {f"t{i}" for i in range(20)})


if __name__ == "__main__":
    unittest.main()
