#!/usr/bin/env python3
"""A store whose files were damaged: it is refused, `check` says where, and `salvage` saves the
rest.
"""

import ctypes
import hashlib
import json
import re
import shutil
import signal
import struct
import subprocess
import unittest
import urllib.request

from program import (DONE, FAILED, PROGRAM, UNREACHABLE, USAGE, Answer, ProgramTest, Server,
                     environment)

PAYLOAD = "x" * 900
MESSAGES = 300
SEGMENT_HEADER, BATCH_HEADER = 96, 48
LIBC = ctypes.CDLL(None)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def give_up_rights():
    """Call this before root starts a program: the modes of files then apply to the program too."""
    for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        LIBC.prctl(PR_CAPBSET_DROP, right, 0, 0, 0)


def crc32c(data):
    """The checksum of docs/formats/journal.md, computed bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def batches(segment):
    """Where each batch begins, and where its body ends."""
    at = SEGMENT_HEADER
    while segment[at:at + 4] == b"TRYB":
        body, = struct.unpack_from("<I", segment, at + 8)
        end = at + BATCH_HEADER + body
        yield at, end
        at = end + -end % 8


class Salvage(ProgramTest):

    def setUp(self):
        super().setUp()
        self.path = self.directory / "store"
        self.new = self.directory / "new"

    def fill(self, shards=1):
        """A store of several segments in each shard."""
        self.url = f"{self.store}?segment=65536&shards={shards}"
        lines = [json.dumps({"key": f"key {i}", "payload": f"{i} {PAYLOAD}", "delay": "1h"})
                 for i in range(MESSAGES * shards)]
        self.tarry("push", "orders", "--jsonl", "-", store=self.url,
                   stdin="\n".join(lines).encode())
        self.made = self.asked("push", "orders", "mine", "--in", "2h", store=self.url)["key"]

    def segments(self, shard=0):
        """The closed segments, oldest first."""
        found = sorted((self.path / f"shard-{shard:03}").glob("*.seg"))
        self.assertGreater(len(found), 2)
        return found[:-1]

    def flip(self, path, offset):
        data = bytearray(path.read_bytes())
        data[offset] ^= 0x40
        path.write_bytes(data)

    def sums(self):
        return {path: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(self.path.rglob("*")) if path.is_file()}

    def salvage(self, *words, code=DONE):
        before = self.sums()
        answer = self.asked("store", "salvage", str(self.new), *words, code=code)
        self.assertEqual(self.sums(), before)
        return answer

    def kept(self):
        store = f"file:{self.new}"
        self.assertTrue(self.asked("store", "audit", store=store)["balanced"])
        check = self.asked("store", "check", "--deep", store=store)
        self.assertEqual(check["problems"], 0)
        listed = self.asked("ls", "orders", "--limit", "10000", store=store)["messages"]
        keys = [message["key"] for message in listed]
        named = [key for key in keys if key.startswith("key ")]
        if named:
            # The first key is given twice, so that the answer is a list even for one message.
            found = self.asked("get", "orders", *named, named[0], store=store)["results"]
            self.assertEqual([message["payload"] for message in found[:-1]],
                             [f"{key[4:]} {PAYLOAD}" for key in named])
        return set(keys)

    def test_a_byte_in_a_closed_segment(self):
        self.fill()
        damaged = self.segments()[1]
        self.flip(damaged, 20_000)
        for words in (["stats"], ["store", "check"], ["store", "check", "--deep"]):
            answer = self.tarry(*words, code=FAILED)
            self.assertRegex(answer.err, rf"{damaged.name} offset \d+: ")
        self.assertRegex(self.tarry("store", "info").out, r"problems +1: .*`tarry store check`")
        answer = self.salvage()
        shard = answer["per_shard"][0]
        self.assertFalse(shard["sound"])
        self.assertGreater(shard["lost_batches"], 0)
        loss = shard["losses"][0]
        self.assertEqual(loss["file"], str(damaged))
        self.assertLessEqual(loss["offset"], 20_000)
        self.assertGreater(loss["offset"] + loss["bytes"], 20_000)
        kept = self.kept()
        self.assertEqual(len(kept), answer["messages"])
        self.assertGreater(len(kept), 0)
        self.assertLess(len(kept), MESSAGES + 1)
        self.assertIn(self.made, kept)
        # The result is a normal store: its old keys work, and new ones too.
        store = f"file:{self.new}"
        self.asked("cancel", "orders", self.made, store=store)
        self.asked("push", "orders", "after", "--key", "after", store=store)
        self.assertTrue(self.asked("store", "audit", store=store)["balanced"])

    def test_a_shard_that_cannot_be_read(self):
        """The table still has the other shards, and the error still says what is wrong with
        them."""
        self.fill(shards=3)
        damaged = self.segments(1)[1]
        self.flip(damaged, 20_000)
        lost = self.segments(0)[0]
        lost.chmod(0)
        answer = self.bound("store", "check")
        self.assertRegex(answer.err, rf"shard 0 cannot be read: .*{re.escape(str(lost))}")
        self.assertRegex(answer.err, rf"{damaged} offset \d+: ")
        self.assertRegex(answer.out, r"(?m)^ *0 .* - +not read$")
        self.assertRegex(answer.out, r"(?m)^ *2 .* clean +0$")
        answer = self.bound("store", "check", "-o", "json")
        shards = answer.json["per_shard"]
        self.assertEqual(["unreadable" in shard for shard in shards], [True, False, False])
        self.assertIn(str(lost), shards[0]["unreadable"])
        self.assertEqual([len(shard["problems"]) for shard in shards], [0, 1, 0])
        self.assertGreater(shards[2]["messages"], 0)
        info = self.bound("store", "info")
        self.assertRegex(info.out, r"unreadable +1 of 3 shards: ")
        self.assertIn(str(lost), info.err)
        self.bound("store", "info", "-o", "json")
        self.flip(damaged, 20_000)  # intact again: the file only needed other rights
        self.bound("store", "check", code=UNREACHABLE)
        self.bound("store", "info", code=UNREACHABLE)

    def bound(self, *words, code=FAILED):
        """Runs the program without root's rights, so that modes of files apply."""
        answer = Answer(subprocess.run(
            [PROGRAM, *words], capture_output=True, timeout=100, cwd=self.directory, check=False,
            env=environment(TARRY_STORE=self.store), preexec_fn=give_up_rights))
        self.assertEqual(answer.code, code, answer)
        return answer

    def test_a_segment_that_is_a_directory(self):
        """This counts as damage of its shard, like any other."""
        self.fill(shards=2)
        lost = self.segments(0)[0]
        lost.unlink()
        lost.mkdir()
        answer = self.tarry("store", "check", "-o", "json", code=FAILED)
        shards = answer.json["per_shard"]
        self.assertFalse(any("unreadable" in shard for shard in shards))
        self.assertEqual([len(shard["problems"]) for shard in shards], [1, 0])
        self.assertIn(str(lost), shards[0]["problems"][0])
        self.assertIn(str(lost), answer.err)
        self.assertGreater(shards[1]["messages"], 0)
        losses = self.salvage()["per_shard"][0]["losses"]
        self.assertEqual([(loss["file"], loss["what"]) for loss in losses],
                         [(str(lost), "is no regular file")])

    def test_what_only_a_deep_check_finds(self):
        """A payload that was wrong before its batch's checksum was computed, as a fault of the
        memory may cause."""
        for payload in ("a lamp", "two lamps"):
            self.tarry("push", "orders", payload, "--in", "1h")
        damaged = self.path / "shard-000" / "0000000001.seg"
        data = bytearray(damaged.read_bytes())
        at = data.index(b"a lamp")
        begin, end = next((begin, end) for begin, end in batches(data) if begin <= at < end)
        sealed = crc32c(data[begin + 8:end])
        self.assertEqual(data[begin + 4:begin + 8], struct.pack("<I", sealed))
        data[at] ^= 0x40
        struct.pack_into("<I", data, begin + 4, crc32c(data[begin + 8:end]))
        damaged.write_bytes(data)
        before = self.sums()
        self.assertEqual(self.asked("store", "check")["problems"], 0)
        answer = self.tarry("store", "check", "--deep", "-o", "json", code=FAILED)
        self.assertEqual(answer.json["problems"], 1)
        # The record lies before its payload, and after the batch's header.
        found = re.search(rf"{damaged.name} offset (\d+): message \d+ does not check", answer.err)
        self.assertTrue(begin + BATCH_HEADER <= int(found[1]) < at, answer)
        self.assertIn(found[0], self.tarry("store", "check", "--deep", code=FAILED).err)
        self.assertEqual(self.sums(), before)

    def test_batches_behind_a_tear(self):
        """With sync=os, nothing proves the bytes after a damaged one to be durable. Recovery cuts
        them and says so, and salvage keeps them."""
        server = Server(f"{self.store}?segment=65536&sync=os")
        self.addCleanup(server.stop, signal.SIGKILL)
        for begin in range(0, MESSAGES, 10):
            body = {"messages": [{"key": f"key {i}", "payload": f"{i} {PAYLOAD}", "delay": "1h"}
                                 for i in range(begin, begin + 10)]}
            urllib.request.urlopen(urllib.request.Request(
                server.url + "/v1/queues/orders/messages", json.dumps(body).encode(),
                {"Content-Type": "application/json"}), timeout=60).close()
        server.stop(signal.SIGKILL)
        torn = self.segments()[1]
        begin, end = list(batches(torn.read_bytes()))[2]
        self.flip(torn, end - 1)
        check = self.tarry("store", "check", "-o", "json", code=FAILED)
        shard = check.json["per_shard"][0]
        self.assertEqual(check.json["problems"], 0)
        self.assertGreater(shard["cut_batches"], 0)
        told = (rf"cuts? a torn tail of {shard['torn_bytes']} bytes from {torn.name} offset "
                rf"{begin} on, and with it {shard['cut_batches']} batches behind it that check")
        self.assertRegex(check.err, told)
        self.assertRegex(self.tarry("store", "check", code=FAILED).err, told)
        self.assertFalse(self.salvage()["per_shard"][0]["sound"])
        self.assertEqual(len(self.kept()), MESSAGES - 10)
        self.assertRegex(self.tarry("stats").err, told)
        self.assertEqual(self.asked("store", "check")["per_shard"][0]["cut_batches"], 0)

    def test_in_words(self):
        self.fill()
        damaged = self.segments()[1]
        self.flip(damaged, 20_000)
        answer = self.tarry("store", "salvage", f"file:{self.new}")
        self.assertIn("damaged", answer.out)
        self.assertRegex(answer.err, rf"lost: .*{damaged.name} offset \d+, ")
        self.assertRegex(answer.err, r"may have been settled, cancelled or changed")

    def test_a_sound_store_is_copied_whole(self):
        self.fill(shards=2)
        answer = self.salvage()
        self.assertTrue(all(shard["sound"] and not shard["losses"]
                            for shard in answer["per_shard"]))
        kept = self.kept()
        self.assertEqual(kept, {f"key {i}" for i in range(2 * MESSAGES)} | {self.made})

    def test_a_segment_and_a_shard_that_are_gone(self):
        self.fill(shards=2)
        gone = self.segments(0)[1]
        gone.unlink()
        shutil.rmtree(self.path / "shard-001")
        self.assertIn(gone.name, self.refused_check())
        answer = self.salvage()
        self.assertEqual([loss["what"] for shard in answer["per_shard"]
                          for loss in shard["losses"]], ["is missing", "is missing"])
        self.assertGreater(len(self.kept()), 0)
        shutil.rmtree(self.new)
        (self.path / "shard-001").write_bytes(b"")
        self.assertEqual([loss["what"] for loss in self.salvage()["per_shard"][1]["losses"]],
                         ["is no directory"])

    def refused_check(self):
        """The error says what is wrong with the first shard, although the second is missing."""
        (self.path / "shard-001").mkdir()
        said = self.tarry("store", "check", code=FAILED).err
        (self.path / "shard-001").rmdir()
        return said

    def test_the_file_that_says_which_store_it_is(self):
        self.fill()
        self.flip(self.path / "STORE", 25)
        for words in (["stats"], ["store", "check"]):
            self.refused(*words, code=FAILED, says="STORE")
        self.assertIn("store_file", self.salvage())
        self.assertEqual(len(self.kept()), MESSAGES + 1)

    def test_what_it_does_not_touch(self):
        self.fill()
        for target in (self.path, self.path / "within", self.directory / "link" / "within"):
            if "link" in target.parts:
                (self.directory / "link").symlink_to(self.path)
            before = self.sums()
            self.refused("store", "salvage", str(target))
            self.assertEqual(self.sums(), before)
            self.assertEqual(sorted(p.name for p in self.path.iterdir() if p.is_dir()),
                             ["shard-000"])
        self.new.mkdir()
        (self.new / "thesis.txt").write_text("all my work")
        self.refused("store", "salvage", str(self.new), says="not empty")
        (self.new / "thesis.txt").unlink()
        with Server(self.store) as server:
            answer = self.refused("store", "salvage", str(self.new), code=UNREACHABLE)
            self.assertIn(str(server.process.pid), answer.err)
        self.assertEqual(list(self.new.iterdir()), [])
        self.refused("store", "salvage", "x", store="memory:", code=USAGE)
        self.refused("store", "salvage", "http://127.0.0.1:7733", code=USAGE,
                     says='DIRECTORY "http://127.0.0.1:7733"')
        self.refused("store", "salvage", "x", store="file:nothing", code=UNREACHABLE)
        self.assertFalse((self.directory / "x").exists())

    def test_what_was_cut_short_is_no_store(self):
        self.fill()
        self.salvage()
        (self.new / "STORE").unlink()
        for by in ("salvage", "backup"):
            (self.new / by.upper()).write_bytes(b"")
            for words in (["stats"], ["push", "q", "x"], ["store", "check"],
                          ["store", "salvage", str(self.directory / "again")]):
                answer = self.refused(*words, store=f"file:{self.new}", code=USAGE,
                                      says=f"a {by} that did not end")
                self.assertNotIn("store salvage DIRECTORY", answer.err)
            (self.new / by.upper()).unlink()


if __name__ == "__main__":
    unittest.main()
