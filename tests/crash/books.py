"""Compares the store's figures with what its clients saw: invariant 13."""

PENDING = ("scheduled", "ready", "leased", "dead")


class Books:
    """Calls `broken(13, text, None)` for each figure that does not add up."""

    def __init__(self, history, stories, broken):
        self.history = history
        self.stories = stories
        self.broken = broken

    def audit(self):
        for snapshot in self.history.snapshots:
            self._snapshot(snapshot)

    def _snapshot(self, snapshot):
        stories = [s for s in self.stories.by_token.values() if not s.refused]
        for name in self.history.queues:
            mine = [s for s in stories if s.push.queue == name]
            shown = snapshot.after.get(name)
            if shown is None:
                if any(s.accepted_by() <= snapshot.sent for s in mine):
                    self.broken(13, f"{snapshot.why}: there is no queue {name}", None)
                continue
            self._queue(snapshot, name, shown, mine)

    def _queue(self, snapshot, name, shown, mine):
        def check(what, value, low, high):
            if not low <= value <= high:
                self.broken(13, f"{snapshot.why}, queue {name}: {what} is {value}, and must be "
                                f"from {low} to {high}", None)

        c = shown["counters"]
        there = sum(shown[state] for state in PENDING)
        check("accepted", c["accepted"], *[there + c["acked"] + c["cancelled"] + c["replaced"] +
                                           c["expired"] + c["purged"] + c["moved_away"]] * 2)
        for quiet in ("expired", "purged", "moved_away", "damaged"):
            check(quiet, c[quiet], 0, 0)
        before = snapshot.before.get(name, shown)
        was = sum(before[state] for state in PENDING)
        listed = sum(1 for i in snapshot.items if i.queue == name and i.state != "remembered")
        check("messages listed", listed, there, was)

        done = snapshot.ended
        accepted = sum(1 for s in mine if s.accepted and s.push.sent < done)
        # A push that became doubtful by a loss may be in the file, and may have ended before
        # anybody saw it, because of other operations that the same loss made doubtful.
        doubted = sum(1 for s in mine if not s.accepted and not s.refused and s.push.sent < done
                      and getattr(s.push, "doubted", False))
        check("accepted, as clients saw it", c["accepted"], accepted, accepted + doubted)
        # An ack that nobody answered was done if the message is gone and nothing else took it.
        acks = [e for s in mine for e in s.live_ends() if e.kind == "acked" and e.sent < done]
        sure = sum(1 for e in acks if e.definite)
        check("acked", c["acked"], sure, len(acks))
        for what, low, high in self._verbs(name, done):
            check(what, c[what], low, high)

    def _verbs(self, name, done):
        """(counter, least, most): from the answers, and from the operations without an answer."""
        def of(operations):
            return [o for o in operations if o.queue == name and o.sent < done]

        def sure(operations, *outcomes):
            return sum(1 for o in operations if o.outcome in outcomes)

        def unsure(operations):
            return sum(1 for o in operations if not o.known)

        pushes, cancels = of(self.history.pushes), of(self.history.cancels)
        moves, revives = of(self.history.reschedules), of(self.history.revives)
        replacing = [p for p in pushes if p.rule == "replace"]
        moving = [p for p in pushes if p.rule in ("earlier", "later")]
        gone = sure(cancels, "cancelled")
        yield "cancelled", gone, gone + sure(cancels, "stopping") + unsure(cancels)
        replaced = sure(pushes, "replaced", "revived")
        yield "replaced", replaced, replaced + unsure(replacing)
        moved = sure(moves, "rescheduled") + sure(pushes, "moved")
        yield "reschedules", moved, moved + unsure(moves) + unsure(moving)
        revived = sum(r.count for r in revives if r.known) + sure(moves, "revived")
        yield "revives", revived, revived + unsure(moves)

        claims = [c for c in self.history.claims if c.sent < done]
        claimed = sum(1 for c in claims for d in c.deliveries if d.queue == name)
        lost = [c for c in self.history.lost_claims() if c.sent < done and name in c.queues]
        yield "claims", claimed, claimed + sum(c.max for c in lost)
        settles = [o for o in self.history.settles if o.sent < done and
                   o.receipt in self.stories.by_receipt and
                   self.stories.by_receipt[o.receipt][0].push.queue == name]
        for what, action in (("retries", "retry"), ("releases", "release"), ("buries", "bury")):
            among = [o for o in settles if o.action == action]
            least = sum(1 for o in among if o.outcome == "done" and self._counted(o))
            most = sure(among, "done") + unsure(among)
            if action == "release":
                most += sum(c.max for c in claims if c.hung_up)
            yield what, least, most

    def _counted(self, operation):
        """Whether a settle surely counts as its verb; not if it only ended a cancelled message."""
        story = self.stories.by_receipt[operation.receipt][0]
        if any(end.kind in ("stopping", "cancelled") for end in story.ends):
            return False
        return operation.action != "retry" or operation.due_ms is not None
