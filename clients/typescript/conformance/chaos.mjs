// chaos.mjs URL LOG: the worker of clients/python/tests/chaos.py. It writes a line to the file LOG
// when a delivery begins, and one when it ends.
import { openSync, writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { Client, Worker } from "../dist/esm/index.js";

const lease = 2000;
const log = openSync(process.argv[3], "a", 0o600);
const client = new Client(process.argv[2], { timeout: 5000 });

function note(what, { key, attempt }) {
  writeSync(log, `${Date.now() / 1000} ${process.pid} ${what} ${key} ${attempt}\n`);
}

async function handle(delivery) {
  note("begin", delivery);
  if (Number(delivery.id) % 200 === 0 && delivery.attempt === 1) await setTimeout(1.5 * lease);
  note("end", delivery);
}

await new Worker(client, { chaos: handle }, { concurrency: 4, lease }).run({ signals: true });
