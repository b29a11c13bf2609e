"""Builds the stories of messages from a history."""

from history import NOT_DONE, Cancel, Push, Reschedule, Revive
from story import Absent, End, Leased, Seen, Setter, Settling, Story


class Stories:
    """Builds the stories. If something fits no story, calls `broken(invariant, text, story)`."""

    def __init__(self, history, broken):
        self.history = history
        self.broken = broken
        self.by_token = {push.token: Story(push) for push in history.pushes}
        self.by_receipt = {}
        self.by_id = {}
        self._given_again()
        for story in self.by_token.values():
            if story.id is not None and not story.refused:
                self._name(story, story.id, story.key, "push")
        self._deliveries()
        self._snapshots()
        self._settlings()
        self._revives()
        for story in self.by_token.values():
            story.sort()
        self._timelines()
        self._remembered()
        for story in self.by_token.values():
            story.sort()

    def _given_again(self):
        """If the id of a doubtful push was given to a later one, the push was undone: its story has
        neither id nor key."""
        last = {}
        for push in sorted(self.history.pushes, key=lambda push: push.sent):
            story = self.by_token[push.token]
            if story.id is None or story.refused:
                continue
            before = last.get(story.id)
            if before is not None and not before.push.known:
                before.id, before.key = None, before.push.key or None
            last[story.id] = story

    def _name(self, story, id_, key, where):
        """The message was seen under this id and key. They must always be the same, and no other
        message may have the id."""
        if story.id is None:
            story.id = id_
        if story.key is None:
            story.key = key
        if story.id != id_:
            self.broken(4, f"{where}: the id is {id_}, and was {story.id}", story)
        if story.key != key:
            self.broken(4, f"{where}: the key is {key!r}, and was {story.key!r}", story)
        other = self.by_id.setdefault(id_, story)
        if other is not story:
            self.broken(4, f"{where}: the id {id_} is also that of token {other.push.token}", story)

    def _identify(self, thing, where):
        """The story of a delivery or an item. Checks that it is what was pushed."""
        story = self.by_token.get(thing.token)
        if story is None:
            self.broken(4, f"{where}: a message that nobody pushed: {thing}", None)
            return None
        push = story.push
        if story.refused:
            self.broken(4, f"{where}: its push was answered {push.outcome}", story)
        for name, found, pushed in (("queue", thing.queue, push.queue),
                                    ("headers", thing.headers, push.headers),
                                    ("priority", thing.priority, push.priority)):
            if found != pushed:
                self.broken(4, f"{where}: the {name} is {found!r}, and was pushed as {pushed!r}",
                            story)
        self._name(story, thing.id, thing.key, where)
        return story

    def _deliveries(self):
        for claim in self.history.claims:
            for delivery in claim.deliveries:
                story = self._identify(delivery, "delivery")
                if story is None:
                    continue
                if delivery.payload != story.push.payload:
                    self.broken(4, f"the payload's {len(delivery.payload)} bytes differ from the "
                                   f"{len(story.push.payload)} pushed", story)
                leased = Leased(delivery)
                if delivery.receipt in self.by_receipt:
                    self.broken(5, f"two deliveries have the receipt {delivery.receipt}", story)
                self.by_receipt[delivery.receipt] = (story, leased)
                story.deliveries.append(leased)
                story.seen.append(Seen(max(claim.sent, delivery.claimed_ms), claim.ended,
                                       f"delivery {leased.number}", leased=True, begins=True))

    def _snapshots(self):
        for snapshot in self.history.snapshots:
            present = set()
            for item in snapshot.items:
                if item.state == "remembered":
                    continue
                story = self._identify(item, f"list {snapshot.why}")
                if story is None:
                    continue
                if item.token in present:
                    self.broken(4, f"list {snapshot.why}: it is there twice", story)
                present.add(item.token)
                story.seen.append(Seen(snapshot.sent, snapshot.ended, snapshot.why, item,
                                       item.state == "leased", final=snapshot.final))
            for token, story in self.by_token.items():
                if token not in present and story.push.sent < snapshot.ended:
                    story.absent.append(Absent(snapshot.sent, snapshot.ended, snapshot.why))

    def _remembered(self):
        """Only the key of these messages is left."""
        kinds = {"acked": ("acked",), "cancelled": ("cancelled", "stopping")}
        for snapshot in self.history.snapshots:
            for item in snapshot.items:
                if item.state != "remembered":
                    continue
                story = self.by_id.get(item.id)
                if story is None or (story.push.queue, story.key) != (item.queue, item.key):
                    self.broken(4, f"list {snapshot.why}: remembered, and nobody pushed it: {item}",
                                story)
                elif not any(end.kind in kinds[item.how] and end.sent < snapshot.ended
                             for end in story.ends):
                    self.broken(8, f"list {snapshot.why}: remembered as {item.how}, which it was "
                                   f"not", story)

    def _settlings(self):
        for settle in self.history.settles + self.history.extends:
            story, leased = self.by_receipt.get(settle.receipt, (None, None))
            if story is None or settle.ended < leased.delivery.claim.sent:
                self._of_no_claim(settle)
                continue
            kind = getattr(settle, "action", "extend")
            settling = Settling(settle, kind)
            leased.settlings.append(settling)
            if settle.outcome not in (None, "done"):
                continue
            if kind == "ack":
                remember = self.history.queues[story.push.queue].remember
                if any(ack.known for ack in leased.acked_before(settling, remember)):
                    continue  # an ack that was repeated
                story.ends.append(
                    End("acked", settle.sent, settle.ended, settle.known, leased.number))
            elif kind == "retry" and (settle.due_ms is not None or not settle.known):
                low, high = settle.range()
                if settle.due_ms is not None:
                    low = high = settle.due_ms
                story.setters.append(
                    Setter("retry", settle.sent, settle.ended, settle.known, low, high))

    def _of_no_claim(self, settle):
        """The store lost the claim that gave this receipt."""
        if settle.known and settle.outcome == "done":
            self.broken(5, f"done with the receipt of a claim that was undone: {settle}", None)

    def _revives(self):
        for revive in self.history.revives:
            for story in self.by_token.values():
                if story.push.queue == revive.queue and story.push.sent < revive.ended:
                    story.revived.append(revive)
                    # Not definite, because only messages that were dead at that time are revived.
                    story.setters.append(Setter("revive", revive.sent, revive.ended, False,
                                                revive.sent - 1, revive.ended + 2))

    # -- operations by key

    def _timelines(self):
        lines = {}
        for story in self.by_token.values():
            if story.key is not None:
                lines.setdefault((story.push.queue, story.key), []).append(story.push)
        for operation in self.history.cancels + self.history.reschedules:
            lines.setdefault((operation.queue, operation.key), []).append(operation)
        for operations in lines.values():
            operations.sort(key=lambda operation: operation.sent)
            self._walk(operations)

    def _walk(self, operations):
        """Finds which messages may have had the key at which time, and checks each answer against
        that."""
        # The newest message that may have the key, and older ones that may still have it.
        holders = []
        involved = []
        for operation in operations:
            for story in involved:
                story.key_operations.append(operation)
            if operation.outcome in NOT_DONE:
                continue
            alive = [s for s in holders if s.possibly_alive(operation.sent)]
            if isinstance(operation, Push):
                story = self.by_token[operation.token]
                self._remembers(operation, involved)
                holders = self._push(operation, story, alive)
                involved.append(story)
            elif isinstance(operation, Cancel):
                holders = self._cancel(operation, alive)
            elif isinstance(operation, Reschedule):
                holders = self._reschedule(operation, alive)

    def _remembers(self, push, before):
        """A key whose message was acked or cancelled stays known for the queue's `remember`."""
        remember = self.history.queues[push.queue].remember
        if push.outcome != "pushed" or push.rule == "replace":
            return
        last = [story for story in before if not story.refused][-1:]
        for end in last[0].ends if last else ():
            if end.kind in ("acked", "cancelled") and end.definite and end.ended < push.sent and \
                    push.ended < end.sent + remember:
                self.broken(5, f"{end.kind}, not remembered for {remember} ms: pushed again",
                            last[0])

    def _gone(self, stories, operation, kind, definite=True):
        for story in stories:
            story.ends.append(End(kind, operation.sent, operation.ended, definite))

    def _not_there(self, stories, operation, where):
        for story in stories:
            story.absent.append(Absent(operation.sent, operation.ended, where))

    def _there(self, stories, operation, where, leased=False):
        """A message has the key; if only one message is possible, it is that one."""
        if not stories:
            self.broken(4, f"{where}, and no message can have had that key: {operation}", None)
        elif len(stories) == 1:
            stories[0].seen.append(Seen(operation.sent, operation.ended, where, leased=leased))
            self._not_leased(stories[0], operation, where, leased)

    def _not_leased(self, story, operation, where, leased):
        running = story.leased_between(operation.sent, operation.ended)
        if running is not None and not leased:
            self.broken(5, f"{where}, while claim {running.number} runs", story)
        if not leased or any(l.delivery.claim.sent < operation.ended for l in story.deliveries):
            return
        if not any(c.sent < operation.ended for c in self.history.lost_claims()):
            self.broken(4, f"{where}, and nobody has claimed it", story)

    def _moved(self, stories, operation, kind, definite):
        low, high = operation.range()
        if operation.due_ms is not None:
            low = high = operation.due_ms
        for story in stories:
            story.setters.append(Setter(kind, operation.sent, operation.ended,
                                        definite and len(stories) == 1, low, high))

    def _push(self, push, story, alive):
        where = f"push ({push.rule}) was answered {push.outcome}"
        if not push.known:
            if push.rule == "replace":
                self._gone(alive, push, "replaced", False)
            if push.rule in ("earlier", "later"):
                self._moved(alive, push, "push", False)
            return alive + [story]
        if push.outcome == "pushed":
            self._not_there(alive, push, where)
            return [story]
        if push.outcome in ("replaced", "revived"):
            self._there(alive, push, where)
            self._gone(alive, push, "replaced")
            return [story]
        if push.outcome == "settled":
            self._not_there(alive, push, where)
            return alive
        self._there(alive, push, where, push.outcome == "in_flight")
        if push.outcome == "moved":
            self._moved(alive, push, "push", True)
        if len(alive) == 1 and push.id is not None:
            self._name(alive[0], push.id, alive[0].key, where)
        return alive

    def _cancel(self, cancel, alive):
        where = f"cancel was answered {cancel.outcome}"
        if not cancel.known:
            self._gone(alive, cancel, "cancelled", False)
            return alive
        if cancel.outcome == "cancelled":
            self._there(alive, cancel, where)
            self._gone(alive, cancel, "cancelled")
            return []
        if cancel.outcome == "stopping":
            self._there(alive, cancel, where, True)
            self._gone(alive, cancel, "stopping")
            return alive
        self._not_there(alive, cancel, where)
        return alive

    def _reschedule(self, reschedule, alive):
        where = f"reschedule was answered {reschedule.outcome}"
        if not reschedule.known:
            self._moved(alive, reschedule, "reschedule", False)
        elif reschedule.outcome in ("rescheduled", "revived"):
            self._there(alive, reschedule, where)
            self._moved(alive, reschedule, "reschedule", True)
            if reschedule.outcome == "revived":
                for story in alive:
                    story.revived.append(Revive(reschedule.sent, reschedule.ended, True))
        elif reschedule.outcome == "in_flight":
            self._there(alive, reschedule, where, True)
        else:
            self._not_there(alive, reschedule, where)
        return alive
