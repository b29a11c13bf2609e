// The driver of the conformance table for the TypeScript client: clients/conformance/README.md.

import { createInterface } from "node:readline";
import { Client, TarryError, Worker, bury, release, retry } from "../dist/esm/index.js";

let client;
let worker;
let running;

// Each verb gets its queue and the other fields of the request, which are its options.
const verbs = {
  push: (q, { payload = "", ...options }) => q.push(payload, options),
  pushMany: (q, { items }) => q.pushMany(items),
  get: (q, { key }) => q.get(key),
  getMany: (q, { keys }) => q.getMany(keys),
  why: (q, { key }) => q.why(key),
  history: (q, { key }) => q.history(key),
  cancel: (q, { key }) => q.cancel(key),
  cancelMany: (q, { keys }) => q.cancelMany(keys),
  reschedule: (q, { key, ...move }) => q.reschedule(key, move),
  rescheduleMany: (q, { items }) => q.rescheduleMany(items),
  claim: (_, { queues, ...options }) => client.claim(queues, options),
  claimKeys: (q, options) => q.claim(options),
  settle: (_, settlement) => client.settle(settlement),
  settleMany: (_, { items }) => client.settleMany(items),
  extend: (_, { receipt, lease }) => client.extend(receipt, lease),
  extendMany: (_, { items }) => client.extendMany(receipts(items), items[0].lease),
  list: (q, options) => q.listPage(options),
  listAll: (q, options) => all(q.list(options)),
  revive: (q, { keys }) => q.revive(keys),
  reviveAll: (q) => q.revive(),
  bulk: (q, { action, ...options }) => q.bulk(action, options),
  configure: (q, patch) => q.configure(patch),
  queue: (q) => q.info(),
  queues: () => client.queues(),
  stats: (q) => (q ?? client).stats(),
  forecast: (q, { width, buckets, ...rates }) => q.forecast(width, buckets, rates),
  pause: (q, { until }) => q.pause(until),
  resume: (q) => q.resume(),
  purge: (q) => q.purge(),
  remove: (q, { force }) => q.remove(force),
  putSchedule: (q, { name, ...rest }) => client.putSchedule(name, { ...rest, queue: q.name }),
  schedule: (_, { name }) => client.schedule(name),
  schedules: (_, { prefix }) => client.schedules(prefix),
  pauseSchedule: (_, { name }) => client.pauseSchedule(name),
  resumeSchedule: (_, { name }) => client.resumeSchedule(name),
  runSchedule: (_, { name }) => client.runSchedule(name),
  removeSchedule: (_, { name }) => client.removeSchedule(name),
  occurrences: (_, query) => client.occurrences(query),
  advance: (_, { by }) => client.advance(by),
  health: () => client.health(),
  open: (_, { url, ...options }) => void (client = new Client(url, options)),
  close: () => client.close(),
  work: (_, { queues, ...options }) => work(queues, options),
  letGo: (_, { key }) => gate(key).open(),
  beginStop: () => worker.stop(),
  stopWork: () => (worker.stop(), running),
};

const receipts = (items) => items.map(({ receipt }) => receipt);

async function all(messages) {
  const found = [];
  for await (const message of messages) found.push(message);
  return found;
}

// The worker.

const gates = new Map();

/** What the handler of the key waits for. */
function gate(key) {
  if (!gates.has(key)) {
    let open;
    const opened = new Promise((resolve) => (open = resolve));
    gates.set(key, { open, opened });
  }
  return gates.get(key);
}

function work(queues, options) {
  const handlers = Object.fromEntries(queues.map((queue) => [queue, handle]));
  worker = new Worker(client, handlers, options);
  running = worker.run();
}

async function handle(delivery) {
  const { queue, key, attempt, message } = delivery;
  const about = { queue, key, receipt: message.receipt };
  say({ event: "begun", attempt, ...about });
  try {
    return await carryOut(delivery);
  } finally {
    say({ event: "ended", ...about });
  }
}

/** What the payload tells the handler to do. */
async function carryOut({ key, signal, text }) {
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

// Requests and answers.

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");

/** A value of the library, for JSON. */
function plain(value) {
  if (value instanceof TarryError) {
    const { code, nextStep, status, detail } = value;
    return { error: { code, next: nextStep, status, message: detail } };
  }
  if (Buffer.isBuffer(value)) return { base64: value.toString("base64") };
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const { keyBytes, payload, ...fields } = value; // the first two may be getters
  const said = keyBytes ? { ...fields, key: keyBytes } : fields;
  if (payload) said.payload = payload;
  const names = Object.keys(said).filter((name) => name !== "raw");
  return Object.fromEntries(names.map((name) => [name, plain(said[name])]));
}

/** The answer to a request. */
async function answer({ op, queue, ...fields }) {
  if (!verbs[op]) return { error: { code: "no_such_op" } };
  try {
    return { ok: plain(await verbs[op](queue && client.queue(queue), fields)) };
  } catch (error) {
    if (error instanceof TarryError) return plain(error);
    return { error: { code: "bug", message: String(error?.stack) } };
  }
}

const read = (_, value) => (value?.base64 ? Buffer.from(value.base64, "base64") : value);

say({ names: "camel", durations: "ms", times: "ms" });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...request } = JSON.parse(line, read);
  void answer(request).then((said) => say({ id, ...said }));
}
process.exit(0);
