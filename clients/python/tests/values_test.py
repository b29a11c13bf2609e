"""What callers give: durations, times, addresses, and mistakes that are told at once."""

import os
import pickle
import unittest
from datetime import datetime, timedelta, timezone
from unittest import mock

import tarry
from tarry.address import address_of
from tarry.errors import error_of, problem_of


class Values(unittest.TestCase):
    def test_durations_round_up(self):
        self.assertEqual(tarry.Message(delay=timedelta(microseconds=1)).body()["delay_ms"], 1)
        self.assertEqual(tarry.Message(delay=timedelta(seconds=1.5)).body()["delay_ms"], 1500)
        self.assertEqual(tarry.Message(delay="30m").body()["delay"], "30m")

    def test_times_round_up_and_need_a_zone(self):
        due = datetime(2030, 1, 31, 9, 0, 0, 1, tzinfo=timezone(timedelta(hours=1)))
        self.assertEqual(tarry.Message(due=due).body()["due_ms"], 1896076800001)
        with self.assertRaisesRegex(ValueError, "without a time zone"):
            tarry.Message(due=datetime(2030, 1, 31)).body()

    def test_a_number_is_refused_since_it_has_no_unit(self):
        with self.assertRaisesRegex(TypeError, "seconds or milliseconds"):
            tarry.Message(delay=30).body()

    def test_a_delay_and_a_time(self):
        with self.assertRaisesRegex(ValueError, "one of them"):
            tarry.Message(delay="1s", due="2030-01-31T09:00:00Z").body()

    def test_an_expiry(self):
        self.assertEqual(tarry.Message(expire=timedelta(seconds=2)).body()["expire_ms"], 2000)
        at = datetime(2030, 1, 31, tzinfo=timezone.utc)
        self.assertEqual(tarry.Message(expire_at=at).body()["expire_at_ms"], 1896048000000)
        with self.assertRaisesRegex(ValueError, "one of them"):
            tarry.Message(expire="1s", expire_at=at).body()

    def test_bytes(self):
        self.assertEqual(tarry.Message(b"\xff", "k").body(),
                         {"key": "k", "payload_base64": "/w=="})


class Addresses(unittest.TestCase):
    def test_forms(self):
        address = address_of("http://[::1]:99")
        self.assertEqual((address.host, address.port, address.host_header),
                         ("::1", 99, "[::1]:99"))
        self.assertEqual(address_of("http+unix:///run/tarry%20x.sock").path, "/run/tarry x.sock")
        self.assertEqual(address_of("https://queue.example").port, 443)
        with mock.patch.dict(os.environ, {"TARRY_URL": "http://a:1"}):
            self.assertEqual(address_of(None).url, "http://a:1")

    def test_what_is_refused(self):
        for url in ("redis://a", "a:1", "http://user@a:1", "http://a/b", "http+unix://a/b",
                    "http+unix://", "http://"):
            with self.assertRaisesRegex(ValueError, "URL", msg=url):
                address_of(url)
        with self.assertRaisesRegex(ValueError, "no TLS"):
            address_of("http://a", ca="x")


class Errors(unittest.TestCase):
    def test_each_names_the_next_step(self):
        for code, kind, step in (("invalid_argument", tarry.InvalidRequest, "fix_the_input"),
                                 ("no_space", tarry.NoSpace, "make_room"),
                                 ("closing", tarry.Unavailable, "retry_later"),
                                 ("damaged", tarry.ServerFailure, "page_someone")):
            error = error_of(code, "m", 1)
            self.assertIs(type(error), kind)
            self.assertEqual(error.next_step, step)
            self.assertIn(error.advice, str(error))
            self.assertEqual(pickle.loads(pickle.dumps(error)).code, code)

    def test_a_status_without_a_code(self):
        for status, code in ((400, "invalid_argument"), (404, "not_found"), (418,
                             "invalid_argument"), (429, "unavailable"), (502, "unknown_outcome"),
                             (503, "unavailable"), (302, "unknown_outcome")):
            self.assertEqual(problem_of(status, None, "R").code, code)


class Workers(unittest.TestCase):
    def test_options_out_of_range(self):
        client = tarry.Client("http://127.0.0.1:1")
        for name, value in (("concurrency", 0), ("concurrency", 1025), ("prefetch", -1)):
            with self.assertRaisesRegex(ValueError, f"{name} {value} must be from"):
                tarry.Worker(client, {"q": print}, **{name: value})
        with self.assertRaisesRegex(ValueError, "at least one queue"):
            tarry.Worker(client, {})


if __name__ == "__main__":
    unittest.main()
