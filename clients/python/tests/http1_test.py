"""HTTP answers, piece by piece."""

import unittest

from tarry.http1 import AnswerReader, BadAnswer, common_head, request_bytes

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello"
CHUNKS = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
          b"2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: t\r\n\r\n")


class Reading(unittest.TestCase):
    def whole(self, text):
        """The answer, and the same when it comes byte by byte."""
        at_once = AnswerReader().feed(text)
        slowly = AnswerReader()
        for index in range(len(text)):
            answer = slowly.feed(text[index:index + 1])
            self.assertEqual(answer is not None, index == len(text) - 1)
        self.assertEqual(answer, at_once)
        return at_once

    def test_a_length_and_chunks(self):
        for text in (PLAIN, CHUNKS, b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN):
            answer = self.whole(text)
            self.assertEqual((answer.status, answer.body, answer.keep), (200, b"hello", True))

    def test_a_connection_that_ends(self):
        close = PLAIN.replace(b"X-A: 1", b"Connection: close")
        self.assertFalse(self.whole(close).keep)
        self.assertFalse(self.whole(PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0")).keep)
        reader = AnswerReader()
        self.assertIsNone(reader.feed(b"HTTP/1.1 200 OK\r\n\r\nhel"))
        self.assertIsNone(reader.feed(b"lo"))
        self.assertEqual(reader.end().body, b"hello")

    def test_half_an_answer(self):
        for text in (PLAIN[:-1], PLAIN[:20], CHUNKS[:-2], b""):
            reader = AnswerReader()
            self.assertIsNone(reader.feed(text), text)
            with self.assertRaises(BadAnswer):
                reader.end()

    def test_what_is_no_http(self):
        for text in (b"\x00\x01", b"SSH-2.0\r\n", b"HTTP/1.1 abc\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                     CHUNKS.replace(b"2;x=y", b"z"), b"HTTP/1.1 200 OK\r\n" + b"x" * 70000):
            with self.assertRaises(BadAnswer, msg=text[:40]):
                AnswerReader().feed(text)

    def test_bytes_after_the_answer_end_the_connection(self):
        self.assertFalse(AnswerReader().feed(PLAIN + b"more").keep)


class Writing(unittest.TestCase):
    def test_a_request(self):
        head = common_head("h:1", "agent", "secret")
        self.assertEqual(request_bytes("POST", "/a", head, b"{}"),
                         b"POST /a HTTP/1.1\r\nHost: h:1\r\nUser-Agent: agent\r\n"
                         b"Authorization: Bearer secret\r\nContent-Type: application/json\r\n"
                         b"Content-Length: 2\r\n\r\n{}")
        self.assertTrue(request_bytes("GET", "/", head, None).endswith(b"secret\r\n\r\n"))


if __name__ == "__main__":
    unittest.main()
