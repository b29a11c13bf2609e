#!/usr/bin/env python3
"""Shows that the oracle can fail: for each invariant, a made-up history that breaks it is reported;
a correct history is not.
"""

import unittest

from history import FOREVER, UNAVAILABLE, Tallies
from oracle import judge
from redis_loss import Cut, LossyHistory
from tale import Tale


class OracleTest(unittest.TestCase):
    def fine(self, tale):
        verdict = judge(tale.history)
        self.assertEqual(verdict.violations, [], verdict.report())
        return verdict.figures

    def broken(self, tale, *invariants):
        verdict = judge(tale.history)
        found = {number for number, _ in verdict.violations}
        self.assertEqual(found, set(invariants), verdict.report())


class Fine(OracleTest):
    """Histories of a correct store."""

    def test_one_life(self):
        tale = Tale()
        push = tale.push()
        tale.settle(tale.claim(push))
        tale.list(final=True)
        figures = self.fine(tale)
        self.assertEqual(figures["pushed"], 1)
        self.assertEqual(figures["delivered"], 1)
        self.assertEqual(figures["acked"], 1)

    def test_everything_once(self):
        tale = Tale()
        kept = tale.push("kept", delay=100_000)
        gone = tale.push("gone", delay=100_000)
        tale.cancel(gone)
        move = tale.reschedule(kept, 0)
        first = tale.claim(kept, due_ms=move.due_ms)
        tale.extend(first, 5000)
        retry = tale.settle(first, "retry", delay=20)
        tale.wait(20)
        second = tale.claim(kept, 2, due_ms=retry.due_ms)
        tale.settle(second, "release")
        third = tale.claim(kept, 3, due_ms=retry.due_ms, releases=1)
        tale.settle(third, "bury")
        dead = {"due_ms": retry.due_ms, "attempt": 2, "tallies": Tallies(3, 0, 1, 1)}
        tale.list((kept, "dead", dead))
        tale.revive()
        due = tale.now - 9
        last = tale.claim(kept, 4, due_ms=due, attempt=1, tallies=Tallies(4, 0, 1, 1, 1))
        tale.settle(last)
        tale.list(final=True)
        self.fine(tale)

    def test_each_unanswered_request_either_way(self):
        for done in (False, True):
            tale = Tale()
            push = tale.push(known=False)
            push.due_ms = int(push.sent) + 1
            tale.crash()
            if done:
                tale.counters["accepted"] += 1
                tale.list((push, "ready"))
                claim = tale.claim(push)
                tale.settle(claim, known=False)
                tale.crash()
                tale.counters["acked"] += 1
            push.due_ms = None
            tale.list(final=True)
            figures = self.fine(tale)
            self.assertEqual(figures["of these accepted"], int(done))

    def test_cancel_and_ack_without_answer(self):
        for done in (False, True):
            tale = Tale()
            cancelled, acked = tale.push("a", delay=60_000), tale.push("b")
            claim = tale.claim(acked)
            tale.cancel(cancelled, known=False)
            tale.settle(claim, known=False)
            tale.crash()
            if done:
                tale.counters["cancelled"] += 1
                tale.counters["acked"] += 1
                tale.list()
            else:
                leased = {"attempt": 1, "tallies": Tallies(1)}
                tale.list((cancelled, "scheduled"), (acked, "leased", leased))
            self.fine(tale)

    def test_redelivery_for_each_cause(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push, lease=100)
        tale.wait(100)
        claim = tale.claim(push, 2, tallies=Tallies(2, 1))
        retry = tale.settle(claim, "retry", known=False)
        tale.crash()
        claim = tale.claim(push, 3, due_ms=int(retry.sent) + 1, tallies=Tallies(3, 1))
        tale.claim(known=False, lease=50)
        tale.settle(claim, "release", known=False)
        tale.crash()
        tale.wait(100)
        claim = tale.claim(push, 5, due_ms=int(retry.sent) + 1, attempt=4,
                           tallies=Tallies(5, 2, 1))
        tale.settle(claim)
        figures = self.fine(tale)
        self.assertEqual(figures["redelivered"], 3)
        self.assertEqual(figures["cause: lease ran out"], 1)
        self.assertEqual(figures["cause: claim answer lost"], 1)
        self.assertEqual(figures["cause: crash before the answer to a retry"], 1)

    def test_stopping(self):
        tale = Tale()
        push = tale.push()
        claim = tale.claim(push)
        tale.cancel(push, "stopping")
        leased = {"stopping": True, "attempt": 1, "tallies": Tallies(1)}
        tale.list((push, "leased", leased))
        tale.settle(claim, "retry").due_ms = None
        tale.counters["retries"] -= 1
        tale.counters["cancelled"] += 1
        tale.list(final=True)
        self.fine(tale)

    def test_key_used_again(self):
        tale = Tale()
        first = tale.push("k", delay=60_000)
        tale.push("k", outcome="exists").id = first.token
        tale.push("k", outcome="replaced", rule="replace")
        tale.counters["replaced"] += 1
        third = tale.push("k", known=False)
        tale.crash()
        tale.push("k", outcome="exists").id = 3
        tale.claim(tale.history.pushes[2])
        tale.push("k", outcome="in_flight").id = 3
        self.assertTrue(third.token)
        self.fine(tale)

    def test_remembered(self):
        tale = Tale(remember=1000)
        push = tale.push()
        tale.settle(tale.claim(push))
        tale.push(outcome="settled")
        tale.list(remembered=[(push, "acked")], final=True)
        tale.wait(1000)
        tale.push()
        self.fine(tale)

    def test_remembered_cancel(self):
        tale = Tale(remember=1000)
        push = tale.push(delay=60_000)
        tale.cancel(push)
        tale.push(outcome="settled")
        tale.cancel(push, outcome="settled")
        tale.list(remembered=[(push, "cancelled")], final=True)
        tale.wait(1000)
        tale.push()
        self.fine(tale)

    def test_acked_again(self):
        tale = Tale(remember=1000)
        claim = tale.claim(tale.push(), lease=100)
        tale.settle(claim, known=False)
        tale.settle(claim)
        tale.wait(500)
        tale.settle(claim)
        tale.counters["acked"] = 1
        tale.list(final=True)
        self.fine(tale)


class Lost(OracleTest):
    def test_absent_from_a_list(self):
        tale = Tale()
        tale.push(delay=60_000)
        tale.list(accepted=0)
        self.broken(tale, 1, 13)

    def test_key_is_free_again(self):
        tale = Tale()
        tale.push("k", delay=60_000)
        tale.push("k")
        self.broken(tale, 1)

    def test_verb_says_unknown(self):
        for verb in ("cancel", "reschedule"):
            tale = Tale()
            push = tale.push(delay=60_000)
            if verb == "cancel":
                tale.cancel(push, "unknown")
            else:
                tale.reschedule(push, 0, "unknown")
            self.broken(tale, 1)

    def test_seen_once_and_lost_then(self):
        tale = Tale()
        push = tale.push(known=False)
        tale.crash()
        push.due_ms = int(push.sent) + 1
        tale.counters["accepted"] += 1
        tale.list((push, "ready"))
        push.due_ms = None
        tale.list(accepted=0)
        self.broken(tale, 1, 13)

    def test_ack_that_was_not_done_is_no_excuse(self):
        tale = Tale()
        push = tale.push()
        tale.settle(tale.claim(push, lease=50), known=False)
        tale.crash()
        tale.list((push, "ready", {"attempt": 1, "tallies": Tallies(1, 1)}))
        tale.list(accepted=0)
        self.broken(tale, 1, 13)

    def test_still_there_at_the_end(self):
        tale = Tale()
        push = tale.push()
        tale.list((push, "ready"), final=True)
        self.broken(tale, 9)


class Early(OracleTest):
    def test_before_its_due_time(self):
        tale = Tale()
        push = tale.push(delay=1000)
        tale.claim(push)
        self.broken(tale, 2)

    def test_by_the_clients_clock(self):
        tale = Tale()
        push = tale.push(delay=100)
        tale.claim(push, at=push.due_ms + 1)
        self.broken(tale, 2)

    def test_a_due_time_of_its_own(self):
        tale = Tale()
        push = tale.push(delay=1000)
        tale.claim(push, due_ms=push.due_ms - 990)
        self.broken(tale, 8)

    def test_due_time_rounded_down(self):
        tale = Tale()
        push = tale.push(delay=1000)
        push.due_ms = int(push.sent) + 998
        self.broken(tale, 8)


class CancelAndReschedule(OracleTest):
    def test_delivery_after_cancel(self):
        tale = Tale()
        push = tale.push()
        tale.cancel(push)
        tale.claim(push)
        self.broken(tale, 3)

    def test_claim_that_waited_through_the_cancel(self):
        tale = Tale()
        push = tale.push()
        waiting = tale.claim(push, at=tale.now + 20)
        waiting.ended += 100
        tale.cancel(push)
        self.broken(tale, 3)

    def test_cancelled_and_listed(self):
        tale = Tale()
        push = tale.push(delay=60_000)
        tale.cancel(push)
        tale.counters["cancelled"] = 0
        tale.list((push, "scheduled"))
        self.broken(tale, 3, 13)

    def test_delivery_after_stopping(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push, lease=50)
        tale.cancel(push, "stopping")
        tale.wait(100)
        tale.claim(push, 2, tallies=Tallies(2, 1))
        self.broken(tale, 3)

    def test_pending_after_stopping(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push, lease=50)
        tale.cancel(push, "stopping")
        tale.wait(100)
        tale.list((push, "ready", {"attempt": 1, "tallies": Tallies(1, 1)}))
        self.broken(tale, 3)

    def test_delivery_before_the_new_time(self):
        tale = Tale()
        push = tale.push()
        tale.reschedule(push, 60_000)
        tale.claim(push)
        self.broken(tale, 3)

    def test_cancelled_while_leased(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push)
        tale.cancel(push, "cancelled")
        self.broken(tale, 5)


class Phantom(OracleTest):
    def changed(self, *invariants, **changes):
        tale = Tale()
        push = tale.push()
        tale.claim(push, **changes)
        self.broken(tale, *(invariants or (4,)))

    def test_payload(self):
        self.changed(payload=b"1:y")

    def test_headers(self):
        self.changed(headers=(("token", b"1"), ("more", b"x")))

    def test_key(self):
        self.changed(key="other")

    def test_queue(self):
        self.changed(queue="other")

    def test_priority(self):
        self.changed(priority=1)

    def test_id(self):
        self.changed(id=77)

    def test_never_pushed(self):
        self.changed(token=77)

    def test_push_that_was_refused(self):
        tale = Tale()
        tale.push("k", delay=60_000)
        refused = tale.push("k", outcome="exists")
        tale.claim(refused)
        self.broken(tale, 4)

    def test_two_with_one_id(self):
        tale = Tale()
        tale.push("a")
        tale.push("b").id = 1
        self.broken(tale, 4)

    def test_exists_without_anything(self):
        tale = Tale()
        push = tale.push("k")
        tale.settle(tale.claim(push))
        tale.push("k", outcome="exists")
        self.broken(tale, 4)

    def test_twice_in_one_list(self):
        tale = Tale()
        push = tale.push(delay=60_000)
        tale.list((push, "scheduled"), (push, "scheduled"), accepted=2)
        self.broken(tale, 4, 13)


class Duplicates(OracleTest):
    def test_two_live_leases(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push, lease=1000)
        tale.wait(900)
        tale.claim(push, 2, tallies=Tallies(2, 1))
        self.broken(tale, 5)

    def test_lease_that_was_extended(self):
        tale = Tale()
        push = tale.push()
        claim = tale.claim(push, lease=100)
        tale.extend(claim, 1000)
        tale.wait(900)
        tale.claim(push, 2, tallies=Tallies(2, 1))
        self.broken(tale, 5)

    def test_one_claim_delivered_twice(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push, lease=10)
        tale.wait(100)
        tale.claim(push, receipt="another")
        self.broken(tale, 5)

    def test_one_receipt_twice(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push, lease=10)
        tale.wait(100)
        tale.claim(push, 2, tallies=Tallies(2, 1), receipt="r1.1")
        self.broken(tale, 5)

    def test_claims_that_nobody_made(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push, 3)
        self.broken(tale, 5)

    def test_more_claims_than_anybody_made(self):
        tale = Tale()
        push = tale.push()
        tale.list((push, "ready", {"attempt": 1, "tallies": Tallies(1)}))
        self.broken(tale, 8)

    def test_lease_of_a_lost_answer(self):
        tale = Tale()
        push = tale.push()
        tale.claim(known=False, lease=1000)
        tale.crash()
        tale.claim(push, 2, tallies=Tallies(2, 1))
        self.broken(tale, 5)

    def test_old_receipt_after_a_new_delivery(self):
        tale = Tale()
        push = tale.push()
        first = tale.claim(push, lease=100)
        tale.wait(100)
        tale.claim(push, 2, tallies=Tallies(2, 1))
        tale.settle(first)
        self.broken(tale, 5, 6)

    def test_receipt_used_twice(self):
        tale = Tale()
        push = tale.push()
        claim = tale.claim(push)
        tale.settle(claim, "release")
        tale.settle(claim)
        self.broken(tale, 5)

    def test_receipt_after_the_lease(self):
        tale = Tale()
        push = tale.push()
        claim = tale.claim(push, lease=100)
        tale.wait(200)
        tale.settle(claim)
        self.broken(tale, 5)

    def test_lease_that_goes_on_while_the_disk_is_full(self):
        for ended, invariants in ((FOREVER, ()), (-10_000, (5,))):
            tale = Tale()
            push = tale.push()
            claim = tale.claim(push, lease=100)
            tale.wait(200)
            tale.settle(claim)
            tale.history.cramped = (0, tale.now + ended)
            self.broken(tale, *invariants)

    def test_live_receipt_refused(self):
        tale = Tale()
        push = tale.push()
        tale.settle(tale.claim(push), outcome="stale")
        self.broken(tale, 5)

    def test_live_receipt_cannot_be_extended(self):
        tale = Tale()
        push = tale.push()
        tale.extend(tale.claim(push), 100, outcome="stale")
        self.broken(tale, 5)

    def test_delivery_from_the_dead(self):
        tale = Tale()
        push = tale.push()
        tale.settle(tale.claim(push), "bury")
        tale.claim(push, 2, tallies=Tallies(2, 0, 0, 1))
        self.broken(tale, 5)

    def test_cancelled_and_forgotten_too_soon(self):
        tale = Tale(remember=1000)
        tale.cancel(tale.push(delay=60_000))
        tale.push()
        self.broken(tale, 5)

    def test_acked_again_when_it_is_forgotten(self):
        tale = Tale(remember=100)
        claim = tale.claim(tale.push())
        tale.settle(claim)
        tale.wait(100)
        tale.settle(claim)
        self.broken(tale, 5)

    def test_forgotten_too_soon(self):
        tale = Tale(remember=1000)
        push = tale.push()
        tale.settle(tale.claim(push))
        tale.push()
        self.broken(tale, 5)


class Acked(OracleTest):
    def test_delivered_again(self):
        tale = Tale()
        push = tale.push()
        tale.settle(tale.claim(push, lease=10))
        tale.crash()
        tale.wait(100)
        tale.claim(push, 2)
        self.broken(tale, 6)

    def test_there_again(self):
        tale = Tale()
        push = tale.push()
        tale.settle(tale.claim(push, lease=10))
        tale.crash()
        tale.counters["acked"] = 0
        tale.list((push, "ready", {"attempt": 1, "tallies": Tallies(1, 1)}))
        self.broken(tale, 6, 13)


class Flips(OracleTest):
    def test_absent_and_there_again(self):
        tale = Tale()
        push = tale.push(known=False)
        tale.crash()
        tale.list()
        push.due_ms = int(push.sent) + 1
        tale.counters["accepted"] = 1
        tale.list((push, "ready"))
        push.due_ms = None
        self.broken(tale, 7, 13)


class Restart(OracleTest):
    """One message that was retried once and is due much later, and how a list shows it after a
    crash."""

    def told(self):
        tale = Tale()
        push = tale.push()
        retry = tale.settle(tale.claim(push), "retry", delay=60_000)
        tale.crash()
        return tale, push, {"due_ms": retry.due_ms, "attempt": 1, "tallies": Tallies(1)}

    def test_unchanged(self):
        tale, push, item = self.told()
        tale.list((push, "scheduled", item))
        self.fine(tale)

    def test_due_time(self):
        for by in (-1, 1):
            tale, push, item = self.told()
            tale.list((push, "scheduled", item | {"due_ms": item["due_ms"] + by}))
            self.broken(tale, 8)

    def test_attempts(self):
        tale, push, item = self.told()
        tale.list((push, "scheduled", item | {"attempt": 0}))
        self.broken(tale, 8)

    def test_claims_forgotten(self):
        tale, push, item = self.told()
        tale.list((push, "scheduled", item | {"attempt": 0, "tallies": Tallies(0)}))
        self.broken(tale, 8)

    def test_lease_forgotten(self):
        tale = Tale()
        push = tale.push()
        tale.claim(push, lease=60_000)
        tale.crash()
        tale.list((push, "ready", {"attempt": 1, "tallies": Tallies(1, 1)}))
        self.broken(tale, 8)

    def test_buried_and_pending(self):
        tale = Tale()
        push = tale.push()
        tale.settle(tale.claim(push), "bury")
        tale.crash()
        tale.list((push, "ready", {"attempt": 1, "tallies": Tallies(1, 0, 0, 1)}))
        self.broken(tale, 8)

    def test_dead_without_cause(self):
        tale, push, item = self.told()
        tale.list((push, "dead", item))
        self.broken(tale, 8)

    def test_release_forgotten(self):
        tale = Tale()
        push = tale.push()
        tale.settle(tale.claim(push), "release")
        tale.list((push, "ready", {"attempt": 1, "tallies": Tallies(1)}))
        self.broken(tale, 8)

    def test_order(self):
        tale = Tale()
        first, second = tale.push("a"), tale.push("b")
        one, two = tale.claim(second), tale.claim(first)
        one.deliveries += two.deliveries
        two.deliveries[0].claim = one
        two.deliveries = []
        one.ended = two.ended
        self.broken(tale, 8)

    def test_remembered_as_what_it_was_not(self):
        tale = Tale(remember=1000)
        push = tale.push()
        tale.settle(tale.claim(push))
        tale.list(remembered=[(push, "cancelled")])
        self.broken(tale, 8)


class Figures(OracleTest):
    def off(self, **counters):
        tale = Tale()
        kept = tale.push("kept", delay=60_000)
        tale.cancel(tale.push("gone", delay=60_000))
        tale.settle(tale.claim(tale.push("done")))
        tale.list((kept, "scheduled"), **counters)
        self.broken(tale, *([13] if counters else []))

    def test_right(self):
        self.off()

    def test_accepted(self):
        self.off(accepted=2)
        self.off(accepted=4)

    def test_balanced_and_wrong(self):
        self.off(accepted=4, cancelled=2)
        self.off(acked=2, cancelled=0)
        self.off(acked=0, cancelled=2)
        self.off(acked=0, replaced=1)

    def test_damaged(self):
        self.off(damaged=1)

    def test_counters_of_verbs(self):
        for counter in ("retries", "releases", "buries", "reschedules", "revives"):
            self.off(**{counter: 1})
        for claims in (0, 2):
            self.off(claims=claims)

    def test_list_and_figures_differ(self):
        tale = Tale()
        push = tale.push(delay=60_000)
        shown = tale.list((push, "scheduled"))
        shown.before["q"]["scheduled"] = shown.after["q"]["scheduled"] = 2
        shown.after["q"]["counters"]["accepted"] = 2
        self.broken(tale, 13)


class Redis(OracleTest):
    """Additional rules for histories of stores in Redis."""

    def half_lost(self, shards):
        tale = Tale(shards, kind=LossyHistory)
        push = tale.push()
        claim = tale.claim(lease=50)
        tale.history.engine_died(claim.sent + 1, claim.ended - 1)
        tale.wait(100)
        tale.counters["claims"] += 1
        tale.settle(tale.claim(push, 2, tallies=Tallies(2, 1)))
        tale.list(final=True)
        return tale

    def test_a_claim_may_have_lost_what_another_shard_gave(self):
        self.fine(self.half_lost(shards=2))
        self.broken(self.half_lost(shards=1), 5, 13)

    def test_what_is_unavailable_was_not_done(self):
        tale = Tale(kind=LossyHistory)
        push = tale.push()
        claim = tale.claim(push)
        tale.settle(claim, outcome=UNAVAILABLE)
        tale.settle(claim)
        tale.cancel(push, outcome=UNAVAILABLE)
        tale.list(final=True)
        self.fine(tale)

    def lost(self, back):
        """A message is pushed and another one acked; then both are undone, or only one is."""
        tale = Tale(kind=LossyHistory)
        old = tale.push("old")
        cut = Cut(tale.now, tale.now, 0)
        tale.wait(1)
        tale.settle(tale.claim(old))
        tale.push("new")
        tale.history.rewind(cut, tale.now, tale.now + 5)
        tale.wait(50)
        tale.counters |= {"accepted": 1, "acked": 0, "claims": 0}
        tale.list(*[(old, "ready")] * back)
        return tale, old

    def test_what_is_undone_is_there_again(self):
        tale, old = self.lost(back=1)
        self.assertEqual(tale.history.undone, {"push": 1, "settle": 1, "delivery": 1})
        tale.settle(tale.claim(old))
        tale.list(final=True)
        self.fine(tale)

    def test_what_was_confirmed_before_that_is_not_undone(self):
        self.broken(self.lost(back=0)[0], 1, 13)

    def test_the_receipt_of_an_undone_claim_is_refused(self):
        for outcome in ("stale", "done"):
            tale, old = self.lost(back=1)
            undone = Tale().claim(old)
            undone.deliveries[0].receipt = "undone"
            tale.settle(undone, outcome=outcome)
            tale.counters["acked"] = 0
            tale.settle(tale.claim(old))
            tale.list(final=True)
            if outcome == "done":
                self.broken(tale, 5)
            else:
                self.fine(tale)


if __name__ == "__main__":
    unittest.main()
