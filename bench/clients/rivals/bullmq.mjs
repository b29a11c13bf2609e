// BullMQ on Redis, with the contract of go/drive. Each producer is a Queue, each consumer a Worker,
// with connections of their own; a worker has as many jobs at once as a batch has.
//
// For scripts/bench clients: ADDRESS work COUNT works on as many jobs with BullMQ's default settings;
// ADDRESS batches COUNT pushes by hundreds while a worker, with as many at once, works on them. Both
// print the seconds from first to last.
import { Queue, Worker } from "bullmq";

const CLIENTS = 4;
const MOST_OUTSTANDING = 5000;
const FILL_BATCH = 100;
const LATE_DELAY_MS = 1000;
const LONGEST_DRAIN_MS = 120_000;
const PAYLOAD_BYTES = 100;
const WARM = 1 / 3; // of the time, which does not count

const [address, verb, first, second] = process.argv.slice(2);
const [host, port] = address.split(":");
const connection = { host, port: Number(port), maxRetriesPerRequest: null };
const open = [];

const now = () => performance.timeOrigin + performance.now(); // ms, finer than Date
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const payload = (dueMs) => `${Math.round(dueMs * 1000)} `.padEnd(PAYLOAD_BYTES, "x");

/** A function that pushes as many messages, due after the delay; together if there are several. */
async function producer() {
  const queue = new Queue("bench", { connection });
  open.push(queue);
  await queue.waitUntilReady(); // one that still connects cannot be closed
  const opts = { removeOnComplete: true };
  return async (count, delay) => {
    const data = payload(now() + delay);
    const one = { name: "bench", data, opts: delay > 0 ? { ...opts, delay } : opts };
    if (count === 1) await queue.add(one.name, one.data, one.opts);
    else await queue.addBulk(Array.from({ length: count }, () => one));
  };
}

async function consume(workers, options, settled) {
  for (let number = 0; number < workers; number += 1) {
    const worker = new Worker("bench", async (job) => settled(job.data), { connection, ...options });
    worker.on("error", fail);
    open.push(worker);
    await worker.waitUntilReady();
  }
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

/** Resolves once `holds` does; it is asked again and again. */
async function until(holds, what) {
  const end = now() + LONGEST_DRAIN_MS;
  while (!holds()) {
    if (now() > end) fail(new Error(what()));
    await sleep(1);
  }
}

async function inTurns(produce) {
  const pushes = await Promise.all(Array.from({ length: CLIENTS }, producer));
  await Promise.all(pushes.map(produce));
}

async function rate(seconds, batch) {
  let pushed = 0;
  let settled = 0;
  let begun = 0;
  await consume(CLIENTS, { concurrency: batch }, () => (settled += 1));
  const began = now();
  const warm = sleep(seconds * 1000 * WARM).then(() => ({ at: now(), before: settled }));
  await inTurns(async (push) => {
    while (now() - began < seconds * 1000) {
      while (begun + batch - settled > MOST_OUTSTANDING) await sleep(1);
      begun += batch;
      await push(batch, 0);
      pushed += batch;
    }
  });
  await until(() => settled >= pushed, () => `${settled} of ${pushed} messages came`);
  const { at, before } = await warm;
  return { lives: pushed - before, seconds: (now() - at) / 1000, all: pushed };
}

async function late(seconds, aSecond) {
  const pace = (CLIENTS / aSecond) * 1000;
  const each = Math.floor((seconds * 1000) / pace);
  const all = [];
  await consume(CLIENTS, {}, (data) => all.push(now() - Number(data.split(" ")[0]) / 1000));
  const began = now();
  await inTurns(async (push, number) => {
    for (let turn = 0; turn < each; turn += 1) {
      await sleep(began + (pace / CLIENTS) * number + pace * turn - now());
      await push(1, LATE_DELAY_MS);
    }
  });
  await until(() => all.length >= each * CLIENTS, () => `${all.length} of ${each * CLIENTS} came`);
  all.sort((a, b) => a - b);
  const at = (part) => all[Math.floor(all.length * part)];
  return { messages: all.length, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: all[all.length - 1] };
}

async function fill(count, seconds) {
  let left = count;
  await inTurns(async (push) => {
    while (left > 0) {
      const next = Math.min(left, FILL_BATCH);
      left -= next;
      await push(next, seconds * 1000);
    }
  });
  return { filled: count };
}

/** The seconds from the first of as many jobs to the last, with one worker. */
async function work(count, options) {
  let seen = 0;
  let began = 0;
  let ended = 0;
  await consume(1, options, () => {
    seen += 1;
    if (seen === 1) began = now();
    if (seen === count) ended = now();
  });
  await until(() => ended, () => `${seen} of ${count} jobs came`);
  return (ended - began) / 1000;
}

async function batches(count) {
  const began = now();
  const worked = work(count, { concurrency: 100 });
  await fill(count, 0);
  await worked;
  return (now() - began) / 1000;
}

const verbs = { rate, late, fill, work: (count) => work(count, {}), batches };
const told = await verbs[verb](Number(first), Number(second));
console.log(JSON.stringify(told));
await Promise.all(open.map((one) => one.close()));
