// fivebeans and jackd, unchanged. The arguments are the client, the server's address and port, and a
// tube.
import assert from "node:assert/strict";
import { once } from "node:events";
import { promisify } from "node:util";

import fivebeans from "fivebeans";
import JackdClient from "jackd";

const [which, host, port, tube] = process.argv.slice(2);

/** Both clients with the names of the protocol's commands. */
async function connect() {
  if (which === "jackd") {
    const client = new JackdClient();
    await client.connect({ host, port: Number(port) });
    const told = (text) =>
      Object.fromEntries(
        String(text)
          .split("\n")
          .filter((line) => line.includes(": "))
          .map((line) => line.split(": ")),
      );
    const error = (problem) => problem.response ?? problem.message;
    return {
      use: client.use,
      watch: client.watch,
      ignore: client.ignore,
      put: (body, priority, delay, ttr) => client.put(body, { priority, delay, ttr }),
      reserve: async (seconds) => {
        const job = await client.reserveWithTimeout(seconds);
        return [job.id, job.payload];
      },
      release: (id, priority) => client.release(id, { priority, delay: 0 }),
      bury: client.bury,
      touch: client.touch,
      kick: client.kick,
      kickJob: client.kickJob,
      delete: client.delete,
      peekBuried: async () => (await client.peekBuried()).id,
      statsJob: async (id) => told(await client.statsJob(id)),
      statsTube: async () => told(await client.statsTube(tube)),
      stats: async () => told(await client.stats()),
      error,
      close: () => client.close(),
    };
  }
  const client = new fivebeans.client(host, Number(port));
  client.connect();
  await once(client, "connect");
  const call = (name) => promisify(client[name].bind(client));
  const both =
    (name) =>
    (...args) =>
      new Promise((resolve, reject) =>
        client[name](...args, (problem, id, body) =>
          problem ? reject(problem) : resolve([id, body]),
        ),
      );
  return {
    use: call("use"),
    watch: call("watch"),
    ignore: call("ignore"),
    put: (body, priority, delay, ttr) => call("put")(priority, delay, ttr, body),
    reserve: both("reserve_with_timeout"),
    release: (id, priority) => call("release")(id, priority, 0),
    bury: call("bury"),
    touch: call("touch"),
    kick: call("kick"),
    kickJob: call("kick_job"),
    delete: call("destroy"),
    peekBuried: async () => (await both("peek_buried")())[0],
    statsJob: call("stats_job"),
    statsTube: () => call("stats_tube")(tube),
    stats: call("stats"),
    error: (problem) => problem,
    close: () => client.end(),
  };
}

const client = await connect();
await client.use(tube);
await client.watch(tube);
await client.ignore("default");
const first = await client.put("first ☃", 5, 0, 30);
const later = await client.put("later", 6, 3600, 30);
const [id, body] = await client.reserve(10);
assert.equal(id, first);
assert.equal(String(body), "first ☃");
await client.touch(first);
const job = await client.statsJob(first);
console.log(
  String(job.tube) === tube,
  job.state,
  Number(job.pri),
  Number(job.ttr),
  Number(job.reserves),
);
await client.release(first, 7);
assert.equal((await client.reserve(10))[0], first);
await client.bury(first, 8);
assert.equal(await client.peekBuried(), first);
console.log("kicked", Number(await client.kick(10)));
assert.equal((await client.reserve(10))[0], first);
await client.delete(first);
await client.reserve(0).then(assert.fail, (problem) => console.log(client.error(problem)));
await client.kickJob(later);
assert.equal((await client.reserve(10))[0], later);
await client.delete(later);
await client.statsJob(later).then(assert.fail, (problem) => console.log(client.error(problem)));
const stats = await client.statsTube();
for (const name of ["current-jobs-ready", "current-jobs-delayed", "total-jobs", "cmd-delete"]) {
  console.log(name, Number(stats[name]));
}
console.log(Number((await client.stats())["max-job-size"]));
await client.close();
