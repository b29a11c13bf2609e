// The driver of the conformance table for the TypeScript client: clients/conformance/README.md.

import { createInterface } from "node:readline";
import { Client, Worker, bury, release, retry } from "../dist/esm/index.js";
import { camel, failure, given, messageOf, raw, say, shown } from "./values.mjs";

let client;
let worker;
let running;
const gates = new Map();

function gate(key) {
  if (!gates.has(key)) {
    let open;
    const opened = new Promise((resolve) => (open = resolve));
    gates.set(key, { open, opened });
  }
  return gates.get(key);
}

async function handle(delivery) {
  const { queue, key, attempt } = delivery;
  const about = { queue, key, receipt: delivery.message.receipt };
  say({ event: "begun", attempt, ...about });
  try {
    return await carryOut(delivery);
  } finally {
    say({ event: "ended", ...about });
  }
}

async function carryOut(delivery) {
  const { key, signal, text } = delivery;
  const [word, ...more] = text.split(" ");
  const rest = more.join(" ");
  if (word === "hold") {
    signal.addEventListener("abort", () => say({ event: "signalled", key }), { once: true });
    await gate(key).opened;
  }
  if (word === "retry") return rest ? retry(Number(rest)) : retry();
  if (word === "release") return release();
  if (word === "bury") return bury(rest);
  if (word === "throw") throw new Error(rest);
  return undefined;
}

const SETTLE = ["receipt", "action", "delay_ms", "reason", "priority"];
const MOVE = ["key", "delay_ms", "due_ms", "priority"];
const CLAIM = ["max", "max_bytes", "lease_ms", "wait_ms"];
const TIMES = ["when", "zone", "start_ms", "end_ms", "jitter_ms"];
const PUSHED = ["queue", "headers", "priority", "missed", "paused"];
const BULK = [
  "prefix",
  "state",
  "due_from_ms",
  "due_to_ms",
  "headers",
  "reason",
  "due_ms",
  "by_ms",
];

const ops = {
  open: (f) => {
    const { patience_ms: patience, timeout_ms: timeout } = f;
    client = new Client(f.url, { ...given(f, "token", "ca", "cert", "key"), patience, timeout });
    return {};
  },
  close: () => (client.close(), {}),
  push: (f, q) =>
    f.messages
      ? q.pushMany(f.messages.map(messageOf))
      : q.push(raw(f.message, "payload") ?? "", messageOf(f.message)),
  get: (f, q) => (f.keys ? q.getMany(f.keys) : q.get(raw(f, "key"))),
  cancel: (f, q) => (f.keys ? q.cancelMany(f.keys) : q.cancel(raw(f, "key"))),
  reschedule: (f, q) =>
    f.items
      ? q.rescheduleMany(f.items.map((one) => given(one, ...MOVE)))
      : q.reschedule(f.item.key, given(f.item, ...MOVE)),
  claim: async (f) => {
    const options = given(f, ...CLAIM);
    const messages = f.keys
      ? await client.queue(f.queues[0]).claim({ ...options, ...given(f, "keys", "any_state") })
      : await client.claim(f.queues, options);
    return { messages };
  },
  settle: (f) =>
    f.items
      ? client.settleMany(f.items.map((one) => given(one, ...SETTLE)))
      : client.settle(given(f.item, ...SETTLE)),
  extend: (f) =>
    f.items
      ? client.extendMany(
          f.items.map((one) => one.receipt),
          f.items[0].lease_ms,
        )
      : client.extend(f.item.receipt, f.item.lease_ms),
  list: (f, q) => q.listPage(given(f, "state", "prefix", "limit", "after")),
  list_all: async (f, q) => {
    const messages = [];
    for await (const one of q.list(given(f, "state", "prefix", "limit"))) messages.push(one);
    return { messages };
  },
  revive: async (f, q) => ({ count: await q.revive(f.keys) }),
  bulk: (f, q) => q.bulk(f.action, given(f, ...BULK, "dry_run")),
  configure: (f, q) => {
    const names = Object.keys(f).filter((name) => !["queue", "id", "op"].includes(name));
    return q.configure(
      Object.fromEntries(names.map((name) => [camel(name.replace(/_ms$/, "")), f[name]])),
    );
  },
  queue: (_, q) => q.info(),
  why: (f, q) => q.why(raw(f, "key")),
  queues: async () => ({ queues: await client.queues() }),
  stats: (f) => client.stats(f.queue),
  forecast: (f, q) => q.forecast(f.width_ms, f.buckets, f.rate && given(f, "rate", "arrivals")),
  pause: async (f, q) => ({ paused: await q.pause(f.until_ms) }),
  resume: async (_, q) => ({ paused: await q.resume() }),
  purge: async (_, q) => ({ count: await q.purge() }),
  remove: async (f, q) => ({ count: await q.remove(f.force) }),
  advance: async (f) => ({ advanced_ms: await client.advance(f.by_ms) }),
  put_schedule: async (f) => {
    const payload = raw(f, "payload");
    const schedule = { ...given(f, ...TIMES, ...PUSHED), ...(payload && { payload }) };
    return { outcome: await client.putSchedule(f.name, schedule) };
  },
  schedule: (f) => client.schedule(f.name),
  schedules: async (f) => ({ schedules: await client.schedules(f.prefix) }),
  pause_schedule: async (f) => (await client.pauseSchedule(f.name)) ?? {},
  resume_schedule: async (f) => (await client.resumeSchedule(f.name)) ?? {},
  run_schedule: async (f) => ({ key: await client.runSchedule(f.name) }),
  remove_schedule: async (f) => (await client.removeSchedule(f.name)) ?? {},
  occurrences: async (f) => {
    const query = given(f, ...TIMES, "name", "from_ms", "count");
    return { occurrences: await client.occurrences(query) };
  },
  health: () => client.health(),
  work: (f) => {
    const options = given(f, "concurrency", "prefetch", "lease_ms");
    const handlers = Object.fromEntries(f.queues.map((queue) => [queue, handle]));
    worker = new Worker(client, handlers, { ...options, drain: f.drain_ms });
    running = worker.run();
    return {};
  },
  let_go: (f) => (gate(f.key).open(), {}),
  begin_stop: () => (worker.stop(), {}),
  stop_work: () => (worker.stop(), running),
  together: (f) => Promise.all(f.calls.map(answer)),
};

/** The answer to a request. */
async function answer(request) {
  const op = ops[request.op];
  if (!op) return { error: { code: "no_such_op" } };
  try {
    const queue = request.queue === undefined ? undefined : client.queue(request.queue);
    return { ok: shown(await op(request, queue)) };
  } catch (error) {
    return { error: failure(error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  say({ id: request.id, ...(await answer(request)) });
}
process.exit(0);
