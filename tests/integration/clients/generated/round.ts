// The README's round, through the client that openapi-generator makes for TypeScript (fetch).
import { deepStrictEqual as expect } from "node:assert";
import {
  ClaimsApi, Configuration, MessagesApi, QueuesApi, ResponseError, ServerApi,
} from "./client";

async function round(url: string): Promise<void> {
  const configuration = new Configuration({ basePath: url });
  const messages = new MessagesApi(configuration);
  const claims = new ClaimsApi(configuration);
  const queues = new QueuesApi(configuration);
  const queue = "orders";

  const lamp = { key: "order:42", payload: "a lamp", delay: "30m", headers: { shop: "e1" } };
  expect((await messages.pushMessage({ queue, push: lamp })).outcome, "pushed");
  const refused = await messages.pushMessage({ queue, push: lamp }).catch((error: unknown) => error);
  expect(refused instanceof ResponseError && refused.response.status, 409);
  const tomorrow = new Date(Date.now() + 86_400_000);
  const pushed = await messages.pushMessages({
    queue,
    pushBatch: {
      messages: [
        { key: "order:43", dueMs: 1_700_000_000_000 },
        { key: "order:44", due: tomorrow },
        { delay: "no duration" },
      ],
    },
  });
  expect(pushed.results[0]?.outcome, "pushed");
  expect(pushed.results[2]?.error?.code, "invalid_argument");

  expect((await messages.getMessage({ queue, key: "order:42" })).payload, "a lamp");
  const got = await messages.getMessages({ queue, get: { keys: ["order:42", "none"] } });
  expect(got.results[0]?.headers, { shop: "e1" });
  expect(got.results[1]?.error?.code, "not_found");
  const moved = await messages.rescheduleMessages({
    queue,
    reschedule: { items: [{ key: "order:42", delayMs: 0 }] },
  });
  expect(moved.results[0]?.outcome, "rescheduled");

  const claimed = await claims.claimMessages({ claim: { queues: [queue], max: 10, wait: "10s" } });
  expect(claimed.messages.length, 2);
  const [first, second] = claimed.messages.map((message) => message.receipt);
  const extended = await claims.extendLeases({ extend: { items: [{ receipt: first, lease: "1m" }] } });
  expect(extended.results[0]?.outcome, "done");
  const settled = await claims.settleClaims({
    settle: {
      items: [
        { receipt: first, action: "ack" },
        { receipt: second, action: "bury", reason: "broken" },
        { receipt: second, action: "ack" },
      ],
    },
  });
  expect(settled.results.map((result) => result.outcome), ["done", "done", "stale"]);
  expect((await queues.reviveMessages({ queue, revive: { all: true } })).count, 1);
  const gone = await messages.cancelMessages({ queue, cancel: { keys: ["order:44"] } });
  expect(gone.results[0]?.outcome, "cancelled");

  expect((await messages.listMessages({ queue, state: "ready", limit: 10 })).messages.length, 1);
  expect((await queues.getQueue({ queue })).counters.acked, 1);
  expect((await new ServerApi(configuration).getStats()).queues.length, 1);
  console.log("round done");
}

round(process.argv[2] ?? "").catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
