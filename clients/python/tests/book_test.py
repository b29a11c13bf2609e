"""The lease protocol, with a clock of our own."""

import unittest

from tarry.book import Book
from tarry.errors import InvalidRequest, Unavailable, UnknownOutcome
from tarry.model import Action, Claim, Claimed, Outcome, Settled

DONE, STALE = Settled(Outcome.DONE), Settled(Outcome.STALE)
AWAY = Unavailable("away", "unavailable")
LOST = UnknownOutcome("lost", "unknown_outcome")


def message(receipt, lease_ms=30000):
    return Claimed("q", "1", "k", b"", {}, receipt, 1, lease_ms, 0, 0, 1024)


class Leases(unittest.TestCase):
    def setUp(self):
        self.book = Book()

    def test_a_lease_counts_from_the_claim_and_is_extended_after_a_third(self):
        held = self.book.hold(message("r"), 100.0)
        self.assertEqual((held.end, self.book.next_extension()), (130.0, 110.0))
        self.assertEqual(self.book.extensions(109.9), [])
        self.assertEqual(self.book.extensions(110.0), [held])
        self.assertEqual(self.book.extensions(110.0), [])  # one request at a time
        self.assertEqual(self.book.extended([held], [DONE], 110.0, 115.0), [])
        self.assertEqual(held.end, 140.0)

    def test_an_extension_that_fails_is_tried_again_soon(self):
        held = self.book.hold(message("r"), 0.0)
        batch = self.book.extensions(10.0)
        self.book.extended(batch, [AWAY], 10.0, 11.0)
        self.assertEqual((held.end, held.extend_at), (30.0, 12.0))

    def test_an_extension_that_is_refused_is_not_tried_again(self):
        held = self.book.hold(message("r"), 0.0)
        self.book.extended(self.book.extensions(10.0), [InvalidRequest("no", "unsupported")],
                           10.0, 11.0)
        self.assertIsNone(self.book.next_extension())
        held.begun = True
        self.assertEqual(self.book.next_extension(), 30.0)

    def test_a_stale_extension_is_a_lost_claim_and_is_not_settled(self):
        held = self.book.hold(message("r"), 0.0)
        self.assertEqual(self.book.extended(self.book.extensions(10.0), [STALE], 10.0, 11.0),
                         [held])
        self.book.end(held, Action.ACK)
        self.assertFalse(self.book.has_settlements)
        self.assertEqual(self.book.counts.stale, 1)

    def test_a_delivery_whose_lease_ends_without_an_answer_is_told_once(self):
        held = self.book.hold(message("r"), 0.0)
        held.begun = True
        self.assertEqual(self.book.overdue(29.9), [])
        self.assertEqual(self.book.overdue(30.0), [held])
        self.assertEqual(self.book.overdue(31.0), [])


class Settling(unittest.TestCase):
    def setUp(self):
        self.book = Book()
        self.held = [self.book.hold(message(f"r{n}"), 0.0) for n in range(3)]

    def test_settlements_gather_while_one_request_is_under_way(self):
        self.book.end(self.held[0], Action.ACK)
        first = self.book.settlements()
        self.book.end(self.held[1], Action.RETRY)
        self.book.end(self.held[2], Action.BURY)
        self.assertFalse(self.book.has_settlements)
        self.assertTrue(self.book.settled(first, [DONE], 1.0))
        second = self.book.settlements()
        self.assertEqual(len(second), 2)
        self.book.settled(second, [DONE, STALE], 1.0)
        counts = self.book.counts
        self.assertEqual((counts.acked, counts.retried, counts.stale), (1, 1, 1))
        self.assertFalse(self.book.is_settling)

    def test_it_is_sent_again_while_the_lease_holds(self):
        for error in (AWAY, LOST):
            self.book.end(self.held.pop(), Action.ACK)
            self.assertFalse(self.book.settled(self.book.settlements(), [error], 29.0))
            self.assertTrue(self.book.has_settlements)
            self.book.settled(self.book.settlements(), [error], 30.0)
            self.assertFalse(self.book.has_settlements)
        self.assertEqual(self.book.counts.stale, 2)

    def test_after_a_stop_for_ten_seconds(self):
        self.book.stop(5.0)
        self.book.end(self.held[0], Action.ACK)
        self.book.settled(self.book.settlements(), [AWAY], 14.9)
        self.assertTrue(self.book.has_settlements)
        self.book.settled(self.book.settlements(), [AWAY], 15.1)
        self.assertFalse(self.book.is_settling)

    def test_a_refusal_is_kept_to_be_told(self):
        self.book.end(self.held[0], Action.BURY)
        refusal = InvalidRequest("no dead here", "unsupported")
        self.assertTrue(self.book.settled(self.book.settlements(), [refusal], 1.0))
        self.assertEqual(self.book.refusals, [refusal])


class Joining(unittest.TestCase):
    """Settlements that go with a claim."""

    def setUp(self):
        self.book = Book()
        for n in range(2):
            self.book.end(self.book.hold(message(f"r{n}"), 0.0), Action.ACK)
        self.batch = self.book.joined()

    def test_no_other_request_has_them_meanwhile(self):
        self.assertEqual(len(self.batch), 2)
        self.assertFalse(self.book.has_settlements)
        self.assertIsNone(self.book.claimed(self.batch, Claim((), 0, (DONE, STALE)), 1.0))
        self.assertEqual((self.book.counts.acked, self.book.counts.stale), (1, 1))

    def test_a_claim_that_failed_after_them_is_told(self):
        error = self.book.claimed(self.batch, Claim((), 0, (DONE, DONE), AWAY), 1.0)
        self.assertIs(error, AWAY)
        self.assertFalse(self.book.is_settling)

    def test_settlements_that_fail_for_the_moment_hold_the_next_claim_up(self):
        self.assertIs(self.book.claimed(self.batch, Claim((), 0, (DONE, AWAY)), 1.0), AWAY)
        self.assertTrue(self.book.has_settlements)

    def test_a_refusal_leaves_them_in_their_order(self):
        self.assertIs(self.book.claimed(self.batch, AWAY, 50.0), AWAY)
        self.assertEqual(self.book.joined(), self.batch)

    def test_a_lost_answer_is_repeated_while_the_lease_holds(self):
        self.assertIs(self.book.claimed(self.batch, LOST, 29.0), LOST)
        again = self.book.joined()
        self.assertEqual(again, self.batch)
        self.book.claimed(again, LOST, 30.0)
        self.assertEqual(self.book.counts.stale, 2)

    def test_an_older_server_is_asked_for_claims_alone(self):
        refusal = InvalidRequest("unknown field settle", "invalid_argument")
        self.assertIsNone(self.book.claimed(self.batch, refusal, 1.0))
        self.assertEqual(self.book.joined(), [])
        self.assertTrue(self.book.has_settlements)
        self.assertIs(self.book.claimed([], refusal, 1.0), refusal)


if __name__ == "__main__":
    unittest.main()
