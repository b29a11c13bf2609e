// worker.mjs CLIENT URL COUNT: handles that many messages of the queue bench, and prints the seconds
// from first to last. worker.mjs CLIENT URL COUNT batches: pushes, claims and settles by hundreds.
import { pathToFileURL } from "node:url";

const [library, url, words, how] = process.argv.slice(2);
const { Client, Worker } = await import(pathToFileURL(library).href);
const count = Number(words);
const client = new Client(url);

async function lifecycles(times) {
  const queue = client.queue("bench");
  const messages = Array.from({ length: 100 }, () => ({ payload: "x".repeat(100) }));
  for (let left = times; left > 0; left -= 100) {
    await queue.pushMany(messages);
    for (let claimed = 0; claimed < 100; ) {
      const held = await queue.claim({ max: 100 });
      await client.settleMany(held.map(({ receipt }) => ({ receipt, action: "ack" })));
      claimed += held.length;
    }
  }
}

if (how === "batches") {
  const began = performance.now();
  await Promise.all([1, 2, 3, 4].map(() => lifecycles(count / 4)));
  console.log((performance.now() - began) / 1000);
} else {
  let seen = 0;
  let began = 0;
  let ended = 0;
  const worker = new Worker(client, {
    bench: () => {
      seen += 1;
      if (seen === 1) began = performance.now();
      if (seen !== count) return;
      ended = performance.now();
      worker.stop();
    },
  });
  await worker.run();
  console.log((ended - began) / 1000);
}
client.close();
