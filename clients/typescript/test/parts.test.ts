import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf } from "../src/address.js";
import { readChanged, readClaim, readPushed } from "../src/answers.js";
import { Attempts, Backoff, laneCall, queuePath } from "../src/calls.js";
import { clockOf } from "../src/elapsed.js";
import {
  Conflict,
  InvalidRequest,
  NotFound,
  TarryError,
  Unavailable,
  UnknownOutcome,
  problemOf,
} from "../src/errors.js";
import { messageBody } from "../src/model.js";
import { millisecondsOf } from "../src/moments.js";
import { bury, retry, settlementOf, settlementOfThrown } from "../src/verdicts.js";
import * as verbs from "../src/verbs.js";

test("an address is a host and a port, or a socket, and nothing else", () => {
  assert.deepEqual(addressOf("http://[::1]:7"), { url: "http://[::1]:7", host: "::1", port: 7 });
  assert.equal(addressOf("http+unix:///run/a%20b").path, "/run/a b");
  assert.equal(addressOf("https://tarry.example").port, 443);
  for (const url of [
    "tarry:7733",
    "ftp://a",
    "http://u:p@a",
    "http://a/path",
    "http://a?x=1",
    "",
  ]) {
    assert.throws(() => addressOf(url), InvalidRequest, url);
  }
  assert.throws(() => addressOf("http://a", { ca: "ca.pem" }), /has no TLS/);
  assert.throws(() => addressOf("https://a", { ca: "/no/such.pem" }), /\/no\/such\.pem/);
});

test("a message takes one time, and bytes go as Base64 only if they must", () => {
  assert.throws(
    () => messageBody({ delay: "1s", due: "2030-01-31T09:00:00Z" }),
    /give one of them/,
  );
  assert.deepEqual(
    messageBody({ key: Buffer.from([0xff]), payload: Buffer.from("é"), delay: 1.2 }),
    {
      key_base64: "/w==",
      payload: "é",
      delay_ms: 2,
    },
  );
  assert.deepEqual(
    messageBody({
      due: new Date(1896078600000),
      ifExists: "keep",
      maxAttempts: 3,
      expire: 2000,
      expireAt: new Date(1896078700000),
    }),
    {
      due_ms: 1896078600000,
      if_exists: "keep",
      max_attempts: 3,
      expire_ms: 2000,
      expire_at_ms: 1896078700000,
    },
  );
  assert.throws(() => messageBody({ delay: Number.NaN }), /NaN/);
});

test("durations", () => {
  assert.equal(millisecondsOf("wait", "20s"), 20_000);
  assert.equal(millisecondsOf("wait", 5), 5);
  assert.throws(() => millisecondsOf("wait", "soon"), /wait is "soon"/);
});

test("the status decides where an answer has no code of ours", () => {
  assert.ok(problemOf(502, undefined, "Bad Gateway") instanceof UnknownOutcome);
  assert.ok(problemOf(503, "<html>", "x") instanceof Unavailable);
  assert.ok(problemOf(409, { code: "conflict", detail: "two are leased" }, "") instanceof Conflict);
  assert.ok(problemOf(418, {}, "I'm a teapot") instanceof InvalidRequest);
  assert.match(String(problemOf(404, { code: "not_found", detail: "no q" }, "")), /check the name/);
});

test("attempts: what may be repeated, and for how long", () => {
  const away = new Unavailable("away", "unavailable", 503);
  const lost = new UnknownOutcome("lost", "unknown_outcome");
  const push = new Attempts(false, 60_000);
  assert.ok(push.again(away) >= 50);
  assert.ok(push.again(away, 2000) >= 2000);
  assert.equal(away.retryAfter, 2000);
  assert.throws(() => push.again(lost), UnknownOutcome);
  assert.ok(new Attempts(true, 60_000).again(lost) >= 50);
  assert.throws(() => new Attempts(true, 0).again(away), Unavailable);
  assert.throws(() => push.again(away, 60_001), Unavailable);
});

test("backoff doubles up to 5 s, of which at least half is waited", () => {
  const backoff = new Backoff();
  const waits = Array.from({ length: 9 }, () => backoff.next());
  waits.forEach((wait, index) => {
    const whole = Math.min(100 * 2 ** index, 5000);
    assert.ok(wait >= whole / 2 && wait <= whole, `${index}: ${wait}`);
  });
});

test("an answer whose results do not fit the request is a lost one", () => {
  const { lane } = verbs.cancelItem("a/b", "k");
  assert.equal(lane.path, "/v1/queues/a%2Fb/cancel");
  assert.equal(queuePath("q", "/x"), "/v1/queues/q/x");
  const call = laneCall(lane, ['"k"', '"l"']);
  assert.equal(call.body, '{"keys":["k","l"]}');
  const answer = { status: 200, reason: "OK", body: '{"results":[]}' };
  assert.throws(() => new Attempts(false, 0).read(call, answer), UnknownOutcome);
  const good =
    '{"results":[{"key":"k","outcome":"cancelled"},{"error":{"code":"not_found","message":"x"}}]}';
  const said = new Attempts(false, 0).read(call, { ...answer, body: good });
  assert.ok("value" in said);
  assert.equal((said.value[0] as { outcome: string }).outcome, "cancelled");
  assert.ok(said.value[1] instanceof NotFound);
});

test("answers: bytes, and settlements", () => {
  const pushed = readPushed({ outcome: "pushed", id: "1", key_base64: "/w==", due_ms: 5 });
  assert.equal(pushed.key, "\ufffd");
  assert.deepEqual(pushed.keyBytes, Buffer.from([0xff]));
  const ended = { outcome: "settled", key: "a", settlement: { how: "acked", when_ms: 7 } };
  assert.deepEqual(readChanged(ended).settlement, { how: "acked", whenMs: 7 });
  const claim = readClaim({ messages: [{ receipt: "r", key: "a", payload: "é" }] });
  assert.equal(claim.messages[0]?.text, "é");
  assert.equal(claim.waitedMs, undefined);
  assert.throws(() => readPushed({}), /"outcome"/);
});

test("verdicts: a value is an ack, whatever is thrown a retry", () => {
  assert.deepEqual(settlementOf("r", 5), { receipt: "r", action: "ack" });
  assert.deepEqual(settlementOf("r", retry("10s")), {
    receipt: "r",
    action: "retry",
    delay: "10s",
  });
  const buried = { receipt: "r", action: "bury", reason: "no card" };
  assert.deepEqual(settlementOfThrown("r", bury("no card")), buried);
  const thrown = settlementOfThrown("r", new Error("x"));
  assert.deepEqual(thrown, { receipt: "r", action: "retry", reason: "Error: x" });
});

test("a reason is cut off after 255 bytes, between characters", () => {
  const { json } = verbs.settleItem({ receipt: "r", action: "bury", reason: "é".repeat(200) });
  const { reason } = JSON.parse(json) as { reason: string };
  assert.equal(reason, "é".repeat(127));
});

test("the clock counts while the machine sleeps", () => {
  let monotonic = 1000;
  let wall = 5000;
  let boot = 9000;
  const clock = clockOf({ monotonic: () => monotonic, wall: () => wall, boot: () => boot });
  const start = clock();
  monotonic += 10;
  wall += 10;
  boot += 10;
  assert.equal(clock() - start, 10);
  wall += 60_000;
  boot += 60_000;
  assert.equal(clock() - start, 60_010);
  wall -= 30_000; // somebody set the wall clock
  assert.equal(clock() - start, 60_010);
});

test("errors have their class's name", () => {
  assert.equal(new NotFound("x", "not_found").name, "NotFound");
  assert.ok(new NotFound("x", "not_found") instanceof TarryError);
});
