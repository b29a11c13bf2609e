#!/usr/bin/env python3
"""The surroundings of the process: links and other things in place of a store's files, a directory
that is removed during use, limits of file size and of memory. The error must be plain, and nothing
may be lost.
"""

import json
import os
import resource
import shutil
import unittest
import urllib.error
import urllib.request

from program import DONE, FAILED, ProgramTest, Server, eventually

DAMAGED = "is no|damaged|does not check|is missing|is none"


def post(server, path, body):
    """Returns the answer's status and its JSON."""
    request = urllib.request.Request(server.url + path, data=json.dumps(body).encode(),
                                     headers={"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=100) as page:
            return page.status, json.load(page)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def status(server, path):
    try:
        with urllib.request.urlopen(server.url + path, timeout=100) as page:
            return page.status
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


class Files(ProgramTest):

    def setUp(self):
        super().setUp()
        self.path = self.directory / "store"
        self.tarry("push", "orders", "a lamp", "--key", "order:42", "--in", "1h")
        self.segment, = (self.path / "shard-000").glob("*.seg")
        self.mine = self.directory / "mine"
        self.mine.write_text("this is\nmine\n")

    def refused_as_damage(self, what):
        """Every command that opens the store must refuse it, and change nothing in it."""
        for words in (("stats",), ("push", "orders", "x"), ("store", "backup", f"to-{what}")):
            said = self.tarry(*words, code=FAILED)
            self.assertRegex(said.err, DAMAGED, f"{what}: {words}")
        checked = self.tarry("store", "check", code=FAILED)
        self.assertRegex(checked.out + checked.err, DAMAGED, what)
        told = self.tarry("store", "info", code=None)
        self.assertRegex(told.out + told.err, "problems|unreadable", what)
        salvaged = self.tarry("store", "salvage", f"new-{what}", code=None)
        self.assertRegex(salvaged.out + salvaged.err, "lost|LOST|missing|no regular|header", what)

    def test_a_shards_only_segment_is_something_else(self):
        kept = self.segment.read_bytes()
        os.rename(self.segment, self.directory / "kept.seg")
        cases = {
            "missing": lambda: None,
            "zeros": lambda: self.segment.write_bytes(bytes(len(kept))),
            "garbage": lambda: self.segment.write_bytes(os.urandom(len(kept))),
            "empty": lambda: self.segment.write_bytes(b""),
            "a fifo": lambda: os.mkfifo(self.segment),
            "a directory": lambda: os.mkdir(self.segment),
            "zeros for ever": lambda: os.symlink("/dev/zero", self.segment),
            "a link to itself as it was": lambda: os.symlink(self.directory / "kept.seg",
                                                              self.segment),
        }
        for what, make in cases.items():
            make()
            with self.subTest(what):
                self.refused_as_damage(what.replace(" ", "-"))
            if self.segment.is_dir() and not self.segment.is_symlink():
                os.rmdir(self.segment)
            elif os.path.lexists(self.segment):
                os.unlink(self.segment)
        os.rename(self.directory / "kept.seg", self.segment)
        self.assertEqual(self.asked("get", "orders", "order:42")["payload"], "a lamp")

    def refused(self, *words):
        said = self.tarry(*words, code=None)
        self.assertNotEqual(said.code, DONE, words)
        return said

    def test_links_are_followed_nowhere(self):
        lock = self.path / "LOCK"
        lock.unlink()
        for target in (self.mine, self.directory / "none"):
            lock.symlink_to(target)
            said = self.refused("stats")
            self.assertIn("It is a link", said.err)
            lock.unlink()
        self.assertFalse((self.directory / "none").exists())
        os.link(self.mine, lock)
        self.assertIn("does not hold a lock's text", self.refused("stats").err)
        self.assertEqual(self.mine.read_text(), "this is\nmine\n")
        lock.unlink()
        store = self.path / "STORE"
        os.rename(store, self.directory / "STORE")
        store.symlink_to(self.directory / "STORE")
        self.assertIn("It is a link", self.refused("stats").err)
        store.unlink()
        os.rename(self.directory / "STORE", store)
        shard = self.path / "shard-000"
        os.rename(shard, self.directory / "elsewhere")
        shard.symlink_to(self.directory / "elsewhere")
        self.assertIn("It is a link", self.refused("stats").err)
        shard.unlink()
        os.rename(self.directory / "elsewhere", shard)
        # The store's own directory may be reached through a link.
        (self.directory / "by-link").symlink_to(self.path)
        self.assertEqual(self.asked("get", "orders", "order:42",
                                    store=f"file:{self.directory}/by-link")["payload"], "a lamp")


class Gone(ProgramTest):

    def goes(self, take_away, sync):
        store = f"{self.store}?sync={sync}"
        with Server(store) as server:
            self.assertEqual(post(server, "/v1/queues/q/messages", {"payload": "x"})[0], 200)
            self.assertEqual(status(server, "/readyz"), 200)
            take_away()
            # No push is needed: /readyz says so.
            eventually(lambda: status(server, "/readyz") == 503, "it is not ready")
            code, said = post(server, "/v1/queues/q/messages", {"payload": "x"})
            self.assertEqual((code, said["code"]), (500, "io_error"), said)
            self.assertEqual(status(server, "/healthz"), 503)
            eventually(lambda: "was removed or moved while the store was open" in server.log(),
                       "the log says why")
            self.assertIn("shard 0 stops: ", server.log())

    def test_a_store_that_is_removed_accepts_nothing(self):
        for sync in ("always", "100ms", "os"):
            with self.subTest(sync):
                self.goes(lambda: shutil.rmtree(self.directory / "store"), sync)

    def test_a_store_that_is_moved_accepts_nothing(self):
        self.goes(lambda: os.rename(self.directory / "store", self.directory / "aside"), "always")
        moved = f"file:{self.directory}/aside"
        self.assertEqual(self.asked("stats", store=moved)["queues"][0]["ready"], 1)


def limits(**wanted):
    """Limits for a process that is about to start."""
    def set_them():
        for name, most in wanted.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    return set_them


class Limits(ProgramTest):

    def fill(self, server, size, most):
        """Pushes until the store is full. Returns the keys that were accepted."""
        keys = []
        for i in range(most):
            code, said = post(server, "/v1/queues/q/messages",
                              {"key": str(i), "payload": "x" * size})
            if code != 200:
                self.assertIn(said["code"], ("no_space", "too_large"), said)
                self.assertEqual(said["code"], "no_space", said)
                return keys
            keys.append(str(i))
        self.fail(f"{most} messages fitted")

    def what_ends_messages_works(self, server, keys):
        code, cancelled = post(server, "/v1/queues/q/cancel", {"keys": keys[:1]})
        self.assertEqual((code, cancelled["results"][0]["outcome"]), (200, "cancelled"))
        code, claimed = post(server, "/v1/claim", {"queues": ["q"], "max": 2})
        self.assertEqual((code, len(claimed["messages"])), (200, 2))
        items = [{"receipt": message["receipt"], "action": "ack"}
                 for message in claimed["messages"]]
        code, settled = post(server, "/v1/settle", {"items": items})
        self.assertEqual(code, 200)
        self.assertEqual([item["outcome"] for item in settled["results"]], ["done", "done"])

    def drain(self, server):
        while True:
            code, claimed = post(server, "/v1/claim", {"queues": ["q"], "max": 50})
            self.assertEqual(code, 200, claimed)
            if not claimed["messages"]:
                return
            items = [{"receipt": message["receipt"], "action": "ack"}
                     for message in claimed["messages"]]
            code, settled = post(server, "/v1/settle", {"items": items})
            self.assertEqual(code, 200)
            self.assertEqual({item["outcome"] for item in settled["results"]}, {"done"})

    def accepts_again(self, server, size):
        eventually(lambda: post(server, "/v1/queues/q/messages",
                                {"key": "again", "payload": "x" * size,
                                 "if_exists": "keep"})[0] == 200, "there is room again")

    def test_segments_are_as_long_as_files_may_be(self):
        """A limit of file size does not limit the store."""
        with Server(self.store, before=limits(FSIZE=1 << 20)) as server:
            for i in range(40):
                code, said = post(server, "/v1/queues/q/messages", {"payload": "x" * 100_000})
                self.assertEqual(code, 200, said)
            self.drain(server)

    def test_what_no_file_can_hold_is_no_space(self):
        with Server(self.store, before=limits(FSIZE=300_000)) as server:
            code, said = post(server, "/v1/queues/q/messages", {"payload": "x" * 400_000})
            self.assertEqual((code, said["code"]), (503, "no_space"), said)
            self.assertIn("ulimit -f", said["detail"])
            self.assertEqual(post(server, "/v1/queues/q/messages", {"payload": "small"})[0], 200)

    def test_a_limit_that_comes_later_is_a_full_disk(self):
        with Server(self.store) as server:
            self.assertEqual(post(server, "/v1/queues/q/messages", {"payload": "x"})[0], 200)
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (5 << 20, 5 << 20))
            keys = self.fill(server, 200_000, 100)
            self.assertGreater(len(keys), 5)
            self.what_ends_messages_works(server, keys)
            self.drain(server)
            self.accepts_again(server, 200_000)
        with Server(self.store, before=limits(FSIZE=5 << 20)) as server:
            self.drain(server)

    def test_memory_that_ends_is_a_full_disk(self):
        with Server("memory:", before=limits(AS=700 << 20)) as server:
            keys = self.fill(server, 1_000_000, 1000)
            self.assertGreater(len(keys), 20)
            self.what_ends_messages_works(server, keys)
            self.drain(server)
            self.accepts_again(server, 1_000_000)
            self.assertEqual(status(server, "/readyz"), 200)
            self.assertNotIn("stops", server.log())


if __name__ == "__main__":
    unittest.main()
