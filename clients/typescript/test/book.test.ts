import assert from "node:assert/strict";
import { test } from "node:test";

import { Book } from "../src/book.js";
import { errorOf } from "../src/errors.js";
import type { Claimed, Settled } from "../src/model.js";

const done: Settled = { outcome: "done" };
const stale: Settled = { outcome: "stale" };
const away = errorOf("unavailable", "nobody listens");
const lost = errorOf("unknown_outcome", "lost");

function claimed(receipt: string, leaseMs = 3000): Claimed {
  return { receipt, leaseMs, queue: "q", key: receipt } as Claimed;
}

function ack(receipt: string): { receipt: string; action: "ack" } {
  return { receipt, action: "ack" };
}

test("a lease is extended after a third, counted from before the request", () => {
  const book = new Book();
  const held = book.hold(claimed("a"), 1000);
  assert.equal(book.nextExtension(), 2000);
  assert.deepEqual(book.extensions(1999), []);
  assert.deepEqual(book.extensions(2000), [held]);
  assert.deepEqual(book.extensions(2000), [], "an extension is under way");
  assert.deepEqual(book.extended([held], [done], 2000, 2500), []);
  assert.equal(held.end, 5000);
  assert.equal(book.nextExtension(), 3000);
});

test("an extension is tried again a little later while the server is away", () => {
  const book = new Book();
  const held = book.hold(claimed("a"), 0);
  book.extensions(1000);
  book.extended([held], [away], 1000, 1100);
  assert.equal(held.end, 3000);
  assert.equal(book.nextExtension(), 1400);
});

test("a claim whose lease ended meanwhile is lost, and told once", () => {
  const book = new Book();
  const held = book.hold(claimed("a"), 0);
  held.begun = true;
  book.extensions(1000);
  assert.deepEqual(book.overdue(2999), []);
  assert.deepEqual(book.overdue(3000), [held]);
  assert.deepEqual(book.overdue(3000), []);
  book.end(held, ack("a"));
  assert.equal(book.counts.stale, 1);
  assert.equal(book.hasSettlements, false);
});

test("a stale extension loses the claim", () => {
  const book = new Book();
  const held = book.hold(claimed("a"), 0);
  book.extensions(1000);
  assert.deepEqual(book.extended([held], [stale], 1000, 1001), [held]);
  assert.ok(held.lost);
});

test("settlements gather while a request is under way", () => {
  const book = new Book();
  const [a, b, c] = ["a", "b", "c"].map((receipt) => book.hold(claimed(receipt), 0));
  book.end(a!, ack("a"));
  const first = book.settlements();
  book.end(b!, { receipt: "b", action: "bury" });
  book.end(c!, ack("c"));
  assert.equal(book.hasSettlements, false);
  assert.deepEqual(book.settled(first, [done], 1), { refusals: [], wait: false });
  const second = book.settlements();
  assert.equal(second.length, 2);
  book.settled(second, [done, stale], 2);
  assert.deepEqual(
    { ...book.counts },
    { delivered: 0, acked: 1, retried: 0, buried: 1, released: 0, stale: 1 },
  );
});

test("a settlement is sent again while its lease holds, and no longer", () => {
  const book = new Book();
  book.end(book.hold(claimed("a"), 0), ack("a"));
  const first = book.settlements();
  assert.deepEqual(book.settled(first, [lost], 2999), { refusals: [], wait: true });
  const second = book.settlements();
  assert.equal(second.length, 1);
  book.settled(second, [away], 3000);
  assert.equal(book.isSettling, false);
  assert.equal(book.counts.stale, 1);
});

test("after a stop a settlement is sent again for ten seconds", () => {
  const book = new Book();
  book.end(book.hold(claimed("a", 600_000), 0), ack("a"));
  book.stop(1000);
  book.settled(book.settlements(), [away], 11_000);
  assert.equal(book.settlements().length, 1);
  const refused = errorOf("invalid_argument", "no");
  book.end(book.hold(claimed("b", 600_000), 0), ack("b"));
  const batch = book.settlements();
  assert.deepEqual(book.settled(batch, [refused], 11_001), { refusals: [refused], wait: false });
});
