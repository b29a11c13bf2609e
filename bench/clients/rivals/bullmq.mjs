// bullmq.mjs fill|work|batches REDIS-PORT COUNT: pushes so many jobs; or works on them with BullMQ's
// default settings and prints the seconds from first to last; or pushes by hundreds while a worker,
// with as many at once, works on them.
import { Queue, Worker } from "bullmq";

const [command, port, words] = process.argv.slice(2);
const count = Number(words);
const connection = { host: "127.0.0.1", port: Number(port), maxRetriesPerRequest: null };
const queue = new Queue("bench", { connection });
const jobs = Array.from({ length: 100 }, () => ({ name: "bench", data: "x".repeat(100) }));
const kept = { removeOnComplete: true };

async function push(times) {
  for (let left = times; left > 0; left -= 100) {
    await queue.addBulk(jobs.map((one) => ({ ...one, opts: kept })));
  }
}

/** Works until so many jobs are done; the seconds from the first to the last. */
async function work(options) {
  let seen = 0;
  let began = 0;
  let worker;
  const seconds = await new Promise((resolve) => {
    worker = new Worker(
      "bench",
      async () => {
        seen += 1;
        if (seen === 1) began = performance.now();
        if (seen === count) resolve((performance.now() - began) / 1000);
      },
      { connection, ...options },
    );
  });
  await worker.close();
  return seconds;
}

if (command === "fill") await push(count);
else if (command === "work") console.log(await work({}));
else {
  await queue.waitUntilReady();
  const began = performance.now();
  const worked = work({ concurrency: 100 });
  await Promise.all([1, 2, 3, 4].map(() => push(count / 4)));
  await worked;
  console.log((performance.now() - began) / 1000);
}
await queue.close();
