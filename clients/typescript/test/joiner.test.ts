import assert from "node:assert/strict";
import { test } from "node:test";

import type { Lane } from "../src/calls.js";
import { InvalidRequest, errorOf } from "../src/errors.js";
import { Joiner, maxBytes, maxItems, takeBatch } from "../src/joiner.js";

const lane: Lane<string> = {
  path: "/v1/queues/q/push",
  list: "messages",
  repeatable: false,
  read: (said) => said,
};

test("calls of one turn and calls during a request go together", async () => {
  const requests: string[][] = [];
  const joiner = new Joiner(async (_, items) => {
    requests.push(items);
    if (requests.length === 1) later = ["c", "d"].map((item) => joiner.ask(lane, item));
    return items.map((item) => `did ${item}`);
  });
  let later: Promise<string>[] = [];
  const first = await Promise.all(["a", "b"].map((item) => joiner.ask(lane, item)));
  assert.deepEqual(first, ["did a", "did b"]);
  assert.deepEqual(await Promise.all(later), ["did c", "did d"]);
  assert.deepEqual(requests, [
    ["a", "b"],
    ["c", "d"],
  ]);
});

test("a request that one item spoils is sent item by item", async () => {
  const joiner = new Joiner(async (_, items) => {
    if (items.includes("bad")) throw errorOf("too_large", "it is too large", 413);
    return items;
  });
  const results = await Promise.allSettled(["a", "bad", "c"].map((item) => joiner.ask(lane, item)));
  assert.deepEqual(
    results.map((one) => one.status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.ok((results[1] as PromiseRejectedResult).reason instanceof InvalidRequest);
});

test("any other error is that of all items, and nothing is sent twice", async () => {
  let requests = 0;
  const joiner = new Joiner(async () => {
    requests += 1;
    throw errorOf("unknown_outcome", "lost");
  });
  const results = await Promise.allSettled(["a", "b"].map((item) => joiner.ask(lane, item)));
  assert.deepEqual(
    results.map((one) => one.status),
    ["rejected", "rejected"],
  );
  assert.equal(requests, 1);
});

test("a batch has at most so many items and bytes, but at least one item", () => {
  const many = Array.from({ length: maxItems + 5 }, () => ({ item: "x" }));
  assert.equal(takeBatch(many).length, maxItems);
  assert.equal(many.length, 5);
  const large = [{ item: "x".repeat(maxBytes + 1) }, { item: "y" }];
  assert.equal(takeBatch(large).length, 1);
  assert.deepEqual(large, [{ item: "y" }]);
});
