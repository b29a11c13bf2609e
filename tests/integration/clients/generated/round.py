"""The round of the README, with the client that openapi-python-client generates."""

import datetime
import sys

from tarry_client import Client
from tarry_client.api.claims import claim_messages, extend_leases, settle_claims
from tarry_client.api.messages import (
    cancel_messages, get_message, get_messages, list_messages, push_message, push_messages,
    reschedule_messages)
from tarry_client.api.queues import get_queue, revive_messages
from tarry_client.api.server import get_stats
from tarry_client.models import (
    Cancel, Claim, Code, Extend, ExtendItem, Get, Headers, Outcome, Push, PushBatch, Reschedule,
    RescheduleItem, Revive, Settle, SettleAction, SettleItem, State)


def expect(wanted, got):
    if wanted != got:
        raise AssertionError(f"wanted {wanted}, got {got}")


client = Client(base_url=sys.argv[1])
shop = Headers.from_dict({"shop": "e1"})
lamp = Push(key="order:42", payload="a lamp", delay="30m", headers=shop)
expect(Outcome.PUSHED, push_message.sync("orders", client=client, body=lamp).outcome)
conflict = push_message.sync_detailed("orders", client=client, body=lamp)
expect(409, conflict.status_code)
expect(Outcome.EXISTS, conflict.parsed.outcome)
tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
pushed = push_messages.sync("orders", client=client, body=PushBatch(messages=[
    Push(key="order:43", due_ms=1_700_000_000_000), Push(key="order:44", due=tomorrow),
    Push(delay="no duration")])).results
expect(Outcome.PUSHED, pushed[0].outcome)
expect(Code.INVALID_ARGUMENT, pushed[2].error.code)

expect("a lamp", get_message.sync("orders", client=client, key="order:42").payload)
got = get_messages.sync("orders", client=client, body=Get(keys=["order:42", "none"])).results
expect({"shop": "e1"}, got[0].headers.to_dict())
expect(Code.NOT_FOUND, got[1].error.code)
moved = reschedule_messages.sync("orders", client=client, body=Reschedule(
    items=[RescheduleItem(key="order:42", delay_ms=0)])).results
expect(Outcome.RESCHEDULED, moved[0].outcome)

claim = Claim(queues=["orders"], max_=10, wait="10s")
claimed = claim_messages.sync(client=client, body=claim).messages
expect(2, len(claimed))
first, second = (message.receipt for message in claimed)
more = Extend(items=[ExtendItem(receipt=first, lease="1m")])
extended = extend_leases.sync(client=client, body=more)
expect(Outcome.DONE, extended.results[0].outcome)
settled = settle_claims.sync(client=client, body=Settle(items=[
    SettleItem(receipt=first, action=SettleAction.ACK),
    SettleItem(receipt=second, action=SettleAction.BURY, reason="broken"),
    SettleItem(receipt=second, action=SettleAction.ACK)])).results
expect([Outcome.DONE, Outcome.DONE, Outcome.STALE], [result.outcome for result in settled])
expect(1, revive_messages.sync("orders", client=client, body=Revive(all_=True)).count)
gone = cancel_messages.sync("orders", client=client, body=Cancel(keys=["order:44"])).results
expect(Outcome.CANCELLED, gone[0].outcome)

expect(1, len(list_messages.sync("orders", client=client, state=State.READY, limit=10).messages))
expect(1, get_queue.sync("orders", client=client).counters.acked)
expect(1, len(get_stats.sync(client=client).queues))
print("round done")
