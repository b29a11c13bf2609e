#!/usr/bin/env python3
"""tarry store backup: works beside a busy server, is complete each time, and is not changed later.
"""

import json
import os
import shutil
import tempfile
import threading
import unittest
import urllib.request
from pathlib import Path

from program import FAILED, UNREACHABLE, USAGE, ProgramTest, Server

# Small, so that segments are cleaned and their files used again.
SMALL = "?segment=1MiB&shards=2&sync=os"
ROUNDS = 6


def post(server, path, body):
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


class Churn(threading.Thread):
    """Pushes messages that stay and messages that are then claimed and acked, until it is
    stopped."""

    def __init__(self, server):
        super().__init__()
        self.server = server
        self.stopped = threading.Event()
        self.turned = threading.Event()  # another turn is complete
        self.staying = []                # keys whose pushes were confirmed
        self.error = None

    def run(self):
        turn = 0
        try:
            while not self.stopped.is_set():
                turn += 1
                stay = [{"key": f"stay:{turn}:{i}", "payload": "s" * 20, "delay": "30d"}
                        for i in range(3)]
                go = [{"payload": "g" * 4000} for _ in range(100)]
                post(self.server, "/v1/queues/q/messages", {"messages": stay + go})
                self.staying.extend(message["key"] for message in stay)
                claimed = post(self.server, "/v1/claim", {"queues": ["q"], "max": 100})["messages"]
                post(self.server, "/v1/settle", {"items": [
                    {"receipt": one["receipt"], "action": "ack"} for one in claimed]})
                self.turned.set()
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.error = error
            self.turned.set()


class Backup(ProgramTest):
    def keys_of(self, store):
        lines = self.tarry("store", "export", store=store).out.splitlines()
        messages = [json.loads(line).get("message") for line in lines]
        return {message["key"] for message in messages if message}

    def segments(self):
        return {str(path) for path in (self.directory / "store").glob("shard-*/*.seg")}

    def test_under_load_each_is_whole_and_stays_so(self):
        with Server(self.store + SMALL) as server:
            ballast = [{"key": f"ballast:{i}", "payload": "b" * 4000, "delay": "30d"}
                       for i in range(1000)]
            post(server, "/v1/queues/q/messages", {"messages": ballast})
            churn = Churn(server)
            churn.staying.extend(message["key"] for message in ballast)
            churn.start()
            try:
                confirmed = []
                first = self.segments()
                for i in range(ROUNDS):
                    # Enough must happen between two backups for files to be used again.
                    for _ in range(12):
                        churn.turned.clear()
                        self.assertTrue(churn.turned.wait(60))
                    confirmed.append(list(churn.staying))
                    told = self.asked("store", "backup", str(self.directory / f"backup{i}"))
                    self.assertGreater(told["linked"], 0)
                    self.assertEqual(told["copied"], 2)
                self.assertTrue(first - self.segments(), "nothing was cleaned")
            finally:
                churn.stopped.set()
                churn.join()
            self.assertIsNone(churn.error)
            self.assertTrue(any(path.stat().st_nlink > 1
                                for path in self.directory.glob("backup*/shard-*/*.seg")))
            for i in range(ROUNDS):
                self.check_backup(f"file:{self.directory}/backup{i}", confirmed[i])
        # The backups were opened and closed; the store that shares files with them has lost
        # nothing.
        self.tarry("store", "check", "--deep")
        self.assertLessEqual(set(churn.staying), self.keys_of(self.store))

    def check_backup(self, store, confirmed):
        self.tarry("store", "check", "--deep", store=store)
        self.assertLessEqual(set(confirmed), self.keys_of(store))
        self.assertTrue(self.asked("store", "audit", store=store)["balanced"])

    def test_the_two_do_not_disturb_each_other(self):
        with Server(self.store + SMALL) as server:
            for turn in range(10):
                post(server, "/v1/queues/q/messages", {"messages": [
                    {"key": f"k:{turn}:{i}", "payload": "x" * 4000, "delay": "30d"}
                    for i in range(100)]})
            backup = f"file:{self.directory}/backup"
            self.tarry("store", "backup", backup)
            keys = self.keys_of(server.url)
            with Server(backup + SMALL) as other:
                for one in (server, other):
                    churn = Churn(one)
                    churn.start()
                    for _ in range(15):
                        churn.turned.clear()
                        self.assertTrue(churn.turned.wait(60))
                    churn.stopped.set()
                    churn.join()
                    self.assertIsNone(churn.error)
                self.assertLessEqual(keys, self.keys_of(other.url))
            self.assertLessEqual(keys, self.keys_of(server.url))
        for store in (self.store, backup):
            self.tarry("store", "check", "--deep", store=store)

    def test_onto_another_file_system_it_is_copied(self):
        elsewhere = Path("/dev/shm")
        if not os.access(elsewhere, os.W_OK) or \
                elsewhere.stat().st_dev == self.directory.stat().st_dev:
            self.skipTest("there is no other file system to write to")
        target = Path(tempfile.mkdtemp(dir=elsewhere, prefix="tarry-test-"))
        self.addCleanup(shutil.rmtree, target)
        with Server(self.store + SMALL) as server:
            for turn in range(10):
                post(server, "/v1/queues/q/messages", {"messages": [
                    {"key": f"k:{turn}:{i}", "payload": "x" * 4000, "delay": "30d"}
                    for i in range(100)]})
            answer = self.tarry("store", "backup", str(target))
            self.assertIn("0 segments shared", answer.out)
            self.assertIn("they were copied", answer.err)
            keys = self.keys_of(server.url)
        self.check_backup(f"file:{target}", keys)

    def test_what_happened_to_a_message_is_in_it(self):
        self.make_store()
        self.tarry("queue", "set", "q", "--history", "20", "--group", "key", "--group-order",
                   "push")
        for key in ("{g}1", "{g}2"):
            self.tarry("push", "q", "x", "--key", key)
        claimed, = self.asked("claim", "q", "--max", "10")["messages"]
        self.tarry("retry", "q", claimed["receipt"], "--in", "1h", "--reason", "no answer")
        told = self.asked("history", "q", "{g}1")
        self.assertEqual([one["event"] for one in told["events"]],
                         ["pushed", "claimed", "retried"])
        backup = f"file:{self.directory}/backup"
        self.tarry("store", "backup", backup)
        self.assertEqual(self.asked("history", "q", "{g}1", store=backup), told)
        # The second message waits for the first one there, too.
        self.assertEqual(self.asked("claim", "q", store=backup)["messages"], [])

    def test_a_store_that_nobody_has_open(self):
        self.tarry("push", "q", "x", "--key", "k", "--in", "1h")
        told = self.asked("store", "backup", f"file:{self.directory}/backup")
        self.assertEqual(told["messages"], 1)
        self.check_backup(f"file:{self.directory}/backup", ["k"])

    def test_a_server_makes_none_and_its_directory_gives_one(self):
        with Server(self.store) as server:
            self.tarry("push", "q", "x", "--key", "k", "--in", "1h", store=server.url)
            self.refused("store", "backup", str(self.directory / "backup"), store=server.url,
                         says=("the store's directory", "--store file:PATH"))
            self.assertFalse((self.directory / "backup").exists())
            self.tarry("store", "backup", str(self.directory / "backup"))
        self.check_backup(f"file:{self.directory}/backup", ["k"])

    def test_what_is_refused(self):
        self.tarry("push", "q", "x", "--key", "k", "--in", "1h")
        full = self.directory / "full"
        full.mkdir()
        (full / "file").touch()
        for url in ("redis://127.0.0.1/0", "memory:", "http://127.0.0.1:7733"):
            refused = self.tarry("store", "backup", url, code=USAGE)
            self.assertIn(f'DIRECTORY "{url}"', refused.err)
        self.assertIn("is not empty; a backup needs a new directory",
                      self.tarry("store", "backup", str(full), code=USAGE).err)
        self.assertEqual([path.name for path in full.iterdir()], ["file"])
        # This concerns the backup's directory, so the exit code does not say that a store is
        # unreachable.
        self.assertIn("cannot make", self.tarry("store", "backup", "/proc/x", code=FAILED).err)
        within = str(self.directory / "store" / "within")
        self.assertIn("lies in the store",
                      self.tarry("store", "backup", within, code=USAGE).err)
        for store, said in (("http://127.0.0.1:1", "run it on that machine"),
                            ("http+unix:///no/such.sock", "run it on that machine"),
                            ("memory:", "only a store on this machine's disk"),
                            ("redis://127.0.0.1:1", "only a store on this machine's disk")):
            self.assertIn(said, self.tarry("store", "backup", str(self.directory / "new"),
                                           store=store, code=USAGE).err)
        self.assertIn("there is no store", self.tarry(
            "store", "backup", str(self.directory / "new"), store=f"file:{self.directory}/none",
            code=UNREACHABLE).err)
        self.assertFalse((self.directory / "new").exists())


if __name__ == "__main__":
    unittest.main()
