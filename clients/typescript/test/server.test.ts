import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Client, InvalidRequest, Outcome, Worker, deliveries } from "../src/index.js";
import { TestServer } from "../src/testing.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.stop());

async function until(happens: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await happens())) assert.ok(Date.now() < end, "not within 60 s");
}

test("a message comes when the clock has been moved, and not before", async () => {
  const queue = server.queue("moved");
  const pushed = await queue.push("a week left", { key: "trial:1", delay: "31d" });
  assert.equal(pushed.outcome, Outcome.PUSHED);
  assert.deepEqual(await queue.claim(), []);
  await server.advance("31d");
  const [claimed] = await queue.claim();
  assert.ok(claimed);
  assert.equal(claimed.text, "a week left");
  assert.equal((await server.client.ack(claimed.receipt)).outcome, Outcome.DONE);
});

test("a loop acks what it went through, and retries what it was left with", async () => {
  const queue = server.queue("loop");
  await queue.pushMany(["a", "b", "c", "d"].map((key) => ({ key, payload: "1" })));
  const seen: string[] = [];
  for await (const delivery of deliveries(server.client, ["loop"])) {
    seen.push(delivery.key);
    assert.equal(delivery.json<number>(), 1);
    if (delivery.key === "b") delivery.bury("no such card");
    if (delivery.key === "c") break;
  }
  assert.deepEqual(seen, ["a", "b", "c"]);
  const info = await queue.info();
  assert.equal(info.counters["acked"], 1);
  assert.equal(info.counters["buries"], 1);
  assert.equal(info.counters["retries"], 1);
  assert.equal(info.counters["releases"], 1);
  assert.equal(info.leased, 0);
});

test("a loop ends by its signal while it waits", async () => {
  const over = new AbortController();
  const loop = (async () => {
    for await (const delivery of deliveries(server.client, ["idle"], { signal: over.signal })) {
      delivery.bury("nothing is expected");
    }
  })();
  await server.queue("idle").configure({ maxAttempts: 3 });
  await until(async () => (await server.queue("idle").info()).waitingClaims === 1);
  over.abort();
  await loop;
  await until(async () => (await server.queue("idle").info()).waitingClaims === 0);
});

test("a claim is given up by its signal", async () => {
  const over = new AbortController();
  const claim = server.client.claim(["given-up"], { wait: "20s", signal: over.signal });
  over.abort();
  await assert.rejects(claim, { name: "AbortError" });
});

test("a worker stops by its signal, and runs once", async () => {
  const over = new AbortController();
  const worker = new Worker(server.client, { signal: () => undefined }, { signal: over.signal });
  const running = worker.run();
  over.abort();
  assert.equal((await running).delivered, 0);
  await assert.rejects(worker.run(), InvalidRequest);
  assert.throws(() => new Worker(server.client, {}), /at least one queue/);
  assert.throws(
    () => new Worker(server.client, { q: () => 1 }, { concurrency: 0 }),
    /from 1 to 1024/,
  );
});

test("a worker whose claims are refused ends with the reason", async () => {
  const worker = new Worker(server.client, { "-no-name": () => undefined });
  await assert.rejects(worker.run(), InvalidRequest);
});

test("a closed client says so", async () => {
  const client = new Client(server.url);
  client.close();
  await assert.rejects(client.queue("q").push("x"), { code: "closed" });
});

test("a server that cannot start says why", async () => {
  await assert.rejects(TestServer.start({ flags: ["--no-such-flag"] }), /no-such-flag/);
  await assert.rejects(TestServer.start({ program: "/no/such/program" }), /cannot be started/);
});
