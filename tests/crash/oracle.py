"""The oracle: judges the life of a store by what its clients asked and were told, and nothing else.

Invariants, by the numbers under which violations are reported:

  1  an accepted push is never lost
  2  nothing is delivered early
  3  no delivery begins after a confirmed cancel, or before a confirmed reschedule's new time
  4  no phantom; payload, headers, key, id are what was pushed
  5  every redelivery has a cause; one live lease a message; a receipt is good while its claim lives
     and is refused after that
  6  no delivery after a confirmed ack
  7  what an unanswered request did never flips once seen
  8  due time, attempts, state and leases are unchanged by a restart
  9  once nothing is killed any more, everything that is due is delivered
 13  the figures add up
"""

from collections import Counter
from dataclasses import dataclass, field

from books import Books
from history import NO_SPACE, NOT_DONE
from stories import Stories

# Both clocks of the store are read in whole milliseconds.
SLACK_MS = 5


@dataclass
class Verdict:
    violations: list = field(default_factory=list)  # of (invariant, text)
    figures: Counter = field(default_factory=Counter)

    def of(self, invariant):
        return [text for number, text in self.violations if number == invariant]

    def report(self, most=20):
        shown = [f"invariant {number}: {text}" for number, text in self.violations[:most]]
        if len(self.violations) > most:
            shown.append(f"and {len(self.violations) - most} more")
        return "\n".join(shown)


def judge(history):
    """The violations, and figures."""
    return _Judge(history).run()


class _Judge:
    def __init__(self, history):
        self.history = history
        self.verdict = Verdict()
        self.lost_claims = history.lost_claims()

    def broken(self, invariant, text, story):
        told = "" if story is None else "\n" + story.tell()
        self.verdict.violations.append((invariant, text + told))

    def run(self):
        self.stories = Stories(self.history, self.broken)
        for story in self.stories.by_token.values():
            if story.refused:
                continue
            self.absences(story)
            self.sights(story)
            self.chain(story)
            for leased in story.deliveries:
                self.delivery(story, leased)
                self.receipt(story, leased)
        for operation in self.history.pushes + self.history.reschedules + self.history.settles:
            self.answered_due(operation)
        for claim in self.history.claims:
            self.order(claim)
        Books(self.history, self.stories, self.broken).audit()
        self.count()
        return self.verdict

    # -- answered due times

    MOVES = ("pushed", "replaced", "revived", "moved", "rescheduled", "done")

    def answered_due(self, operation):
        timed = operation.delay is not None or operation.due is not None
        if operation.due_ms is None or operation.outcome not in self.MOVES or not timed:
            return
        low, high = operation.range()
        if not low <= operation.due_ms <= high:
            self.broken(8, f"the due time is answered as {operation.due_ms}, and not from "
                           f"{low:.3f} to {high:.3f}: {operation}", None)

    # -- lost, or back from the dead

    def absences(self, story):
        for absent in story.absent:
            if story.surely_alive(absent.sent, absent.ended):
                self.broken(1, f"lost: not there ({absent.where})", story)
                break
        for absent in story.absent:
            for seen in story.seen:
                if seen.sent > absent.ended:
                    self.broken(7, f"absent ({absent.where}), and there again ({seen.where})",
                                story)
                    return

    BACK = {"acked": (6, "acked"), "cancelled": (3, "cancelled"), "replaced": (4, "replaced")}

    def sights(self, story):
        for end in story.ends:
            if not end.definite:
                continue
            for seen in story.seen:
                if seen.sent <= end.ended:
                    continue
                if end.kind == "stopping":
                    if not seen.leased or seen.begins:
                        self.broken(3, f"cancelled while leased, and still there ({seen.where})",
                                    story)
                        break
                else:
                    invariant, how = self.BACK[end.kind]
                    self.broken(invariant, f"{how}, and there again ({seen.where})", story)
                    break
        for seen in story.seen:
            if seen.item is not None:
                self.item(story, seen)
                if seen.final:
                    self.broken(9, "never delivered: still there at the end", story)

    def item(self, story, seen):
        """A listed message must be as its story says."""
        item = seen.item
        self.due(story, seen.sent, seen.ended, item.due_ms, seen.where)
        self.tallies(story, item, seen.sent, seen.ended, seen.where)
        running = story.leased_between(seen.sent, seen.ended)
        if running is not None and (item.state != "leased" or
                                    item.tallies.claims != running.number):
            self.broken(8, f"{seen.where}: claim {running.number} runs, and the state is "
                           f"{item.state} of claim {item.tallies.claims}", story)
        buries = [s for l in story.deliveries for s in l.ended_by_hand(seen.ended)
                  if s.kind == "bury"]
        if item.state == "dead":
            most = self.history.queues[item.queue].max_attempts
            if not buries and item.attempt < most:
                self.broken(8, f"{seen.where}: dead after {item.attempt} attempts of {most}, and "
                               f"never buried", story)
        elif any(s.operation.known and s.operation.ended < seen.sent and
                 not any(r.ended > s.operation.sent for r in story.revived) for s in buries):
            self.broken(8, f"{seen.where}: it was buried, and is {item.state}", story)

    # -- due times and attempts

    def due(self, story, start, end, due_ms, where):
        possible = story.possible_dues(start, end)
        if any(setter.fits(due_ms) for setter in possible):
            return
        late = all(due_ms > setter.high for setter in possible)
        last = max(possible, key=lambda setter: setter.sent, default=None)
        invariant = 3 if last is not None and last.kind == "reschedule" and not late else 8
        self.broken(invariant, f"{where}: it is due at {due_ms}, which nobody asked for; possible "
                               f"are {[(s.kind, s.low, s.high) for s in possible]}", story)

    def tallies(self, story, thing, start, end, where):
        """Checks that no claim, release or attempt was forgotten or invented."""
        tallies = thing.tallies
        if tallies.revives == 0 and thing.attempt != tallies.claims - tallies.releases:
            self.broken(8, f"{where}: attempt {thing.attempt} after {tallies.claims} claims, "
                           f"{tallies.releases} of them released", story)
        least = max((l.number for l in story.deliveries if l.delivery.claim.ended < start),
                    default=0)
        last = max((l for l in story.deliveries if l.delivery.claim.sent < end),
                   key=lambda l: l.number, default=None)
        since = story.push.sent if last is None else last.delivery.claim.sent
        most = 0 if last is None else last.number
        most += sum(1 for c in self.lost_claims if c.sent < end and c.ended > since)
        if not least <= tallies.claims <= most:
            self.broken(8, f"{where}: {tallies.claims} claims, and it must have from {least} to "
                           f"{most}", story)
        releases = [s.operation for l in story.deliveries for s in l.settlings
                    if s.kind == "release" and s.operation.outcome in (None, "done")]
        least = sum(1 for r in releases if r.known and r.ended < start)
        most = sum(1 for r in releases if r.sent < end)
        most += sum(1 for c in self.lost_claims if c.hung_up and c.sent < end)
        # A release of a message that was cancelled meanwhile ends it, and does not count as a
        # release.
        if any(e.kind in ("stopping", "cancelled") for e in story.ends):
            least = 0
        if not least <= tallies.releases <= most:
            self.broken(8, f"{where}: {tallies.releases} releases, and it must have from {least} "
                           f"to {most}", story)

    # -- deliveries

    def delivery(self, story, leased):
        delivery, claim = leased.delivery, leased.delivery.claim
        where = f"delivery {leased.number}"
        if delivery.claimed_ms < delivery.due_ms:
            self.broken(2, f"{where}: claimed at {delivery.claimed_ms}, due at {delivery.due_ms}",
                        story)
        if claim.ended < delivery.due_ms:
            self.broken(2, f"{where}: here at {claim.ended:.3f}, due at {delivery.due_ms}", story)
        if not claim.sent - 1 <= delivery.claimed_ms <= claim.ended:
            self.broken(2, f"{where}: claimed at {delivery.claimed_ms}, but asked for at "
                           f"{claim.sent:.3f} and here at {claim.ended:.3f}", story)
        start = max(claim.sent, delivery.claimed_ms)
        self.due(story, start, claim.ended, delivery.due_ms, where)
        self.tallies(story, delivery, start, claim.ended, where)
        for end in story.ends:
            if end.definite and end.kind == "acked" and leased.number > end.claims:
                self.broken(6, f"{where}, though claim {end.claims} was acked", story)
        for earlier in story.deliveries:
            for settling in earlier.settlings:
                operation = settling.operation
                if settling.kind == "bury" and operation.outcome == "done" and \
                        earlier.number < leased.number and \
                        not any(r.ended > operation.sent for r in story.revived):
                    self.broken(5, f"{where}, though claim {earlier.number} was buried", story)

    def chain(self, story):
        """Checks why each delivery after the first one was made."""
        before = None
        for leased in story.deliveries:
            number = leased.number
            known = 0 if before is None else before.number
            if number <= known:
                self.broken(5, f"two deliveries are both claim {number}", story)
                continue
            missing = number - known - 1
            decided = leased.delivery.claimed_ms
            lost = []
            if missing:
                since = story.push.sent if before is None else before.delivery.claim.sent
                lost = [c for c in self.lost_claims
                        if c.sent < leased.delivery.claim.ended and c.ended > since]
                if missing > len(lost):
                    self.broken(5, f"{missing} claims before delivery {number} that nobody made",
                                story)
                elif not any(c.hung_up or decided >= c.sent + c.lease - SLACK_MS for c in lost):
                    self.broken(5, f"delivery {number}, while the lease of a claim whose answer "
                                   f"was lost still ran", story)
            if before is not None:
                start, end = decided, leased.delivery.claim.ended
                if missing:
                    start, end = min((c.sent for c in lost), default=start), \
                        max((c.ended for c in lost), default=end)
                self.redelivered(story, before, leased, start, end, lost)
            before = leased

    def redelivered(self, story, before, leased, start, end, lost):
        """The previous claim had ended sometime between start and end, by a request or by time."""
        count = self.verdict.figures
        count["redelivered"] += 1
        if lost:
            count["cause: claim answer lost"] += 1
        by_hand = before.ended_by_hand(end)
        known = [s.kind for s in by_hand if s.operation.known]
        if "retry" in known or "release" in known or "bury" in known:
            if not lost:
                count["cause: " + known[0].replace("bury", "revive")] += 1
            return
        low, _ = before.lease_end(start, end)
        if (end if lost else start) >= low - SLACK_MS:
            if not lost:
                unknown = any(not s.operation.known for s in by_hand)
                count["cause: crash before the ack" if unknown else "cause: lease ran out"] += 1
            return
        if any(s.kind in ("retry", "release", "bury") for s in by_hand):
            if not lost:
                count["cause: crash before the answer to a " + by_hand[0].kind] += 1
            return
        self.broken(5, f"delivery {leased.number} at {start:.3f} has no cause: the lease of claim "
                       f"{before.number} ran until {low:.3f} at least", story)

    # -- receipts

    def receipt(self, story, leased):
        after = [l for l in story.deliveries if l.number > leased.number]
        for settling in leased.settlings:
            operation = settling.operation
            if not operation.known or operation.outcome in NOT_DONE:
                continue
            low, high = leased.lease_end(operation.sent, operation.ended)
            others = [s for s in leased.settlings if s is not settling and s.kind != "extend"
                      and s.operation.outcome in (None, "done")]
            where = f"{settling.kind} of claim {leased.number}"
            remember = self.history.queues[story.push.queue].remember
            if operation.outcome == "done":
                if settling.kind == "ack" and leased.acked_before(settling, remember):
                    continue  # an ack that was repeated
                if operation.sent <= high + SLACK_MS:
                    pass
                elif self.history.lets_leases_go_on(high, operation.sent):
                    self.verdict.figures["done after a lease that went on, for want of room"] += 1
                else:
                    self.broken(5, f"{where} was done after its lease", story)
                if any(s.operation.known and s.operation.ended < operation.sent for s in others):
                    self.broken(5, f"{where} was done though it had been settled", story)
                if any(l.delivery.claim.ended < operation.sent for l in after):
                    self.broken(5, f"{where} was done in spite of a later delivery", story)
            elif operation.outcome == "stale":
                if operation.ended < low - SLACK_MS and \
                        not any(s.operation.sent < operation.ended for s in others):
                    self.broken(5, f"{where} was refused while its lease ran", story)
            else:
                self.broken(5, f"{where} was answered {operation.outcome}", story)

    # -- order

    def order(self, claim):
        if self.history.shards != 1 or len(claim.queues) != 1:
            return
        order = [(d.priority, d.due_ms, d.id if self.history.ties_in_push_order else 0)
                 for d in claim.deliveries]
        if order != sorted(order):
            self.broken(8, f"a claim's messages are out of order: {order}", None)

    # -- figures for the report

    def count(self):
        count = self.verdict.figures
        stories = [s for s in self.stories.by_token.values() if not s.refused]
        count["pushed"] += sum(1 for s in stories if s.accepted)
        count["refused pushes"] += len(self.stories.by_token) - len(stories)
        count["pushes without an answer"] += sum(1 for s in stories if not s.push.known)
        count["of these accepted"] += sum(1 for s in stories if not s.push.known and s.accepted)
        count["delivered"] += sum(len(s.deliveries) for s in stories)
        count["acked"] += sum(1 for s in stories for e in s.ends
                              if e.kind == "acked" and e.definite)
        count["cancelled"] += sum(1 for s in stories for e in s.ends
                                  if e.kind in ("cancelled", "stopping") and e.definite)
        count["rescheduled"] += sum(1 for r in self.history.reschedules
                                    if r.outcome == "rescheduled")
        count["stale receipts refused"] += sum(1 for s in self.history.settles
                                               if s.outcome == "stale")
        count["operations without an answer"] += sum(1 for o in self.history.operations()
                                                     if not o.known)
        count["refused for want of space"] += sum(1 for o in self.history.operations()
                                                  if getattr(o, "outcome", None) == NO_SPACE)
        count["kills"] += len(self.history.kills)
        count["lost"] += len(self.verdict.of(1))
        count["early"] += len(self.verdict.of(2)) + len(self.verdict.of(3))
