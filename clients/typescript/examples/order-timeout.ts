// An order that is not paid within half an hour is closed.

import { Client, Worker } from "@tarry/client";
import { TestServer } from "@tarry/client/testing";

const placed = (client: Client, order: string) =>
  client.queue("orders").push(JSON.stringify({ order }), { key: order, delay: "30m" });

const paid = (client: Client, order: string) => client.queue("orders").cancel(order);

const moreTime = (client: Client, order: string) =>
  client.queue("orders").reschedule(order, { delay: "1h" });

const closing = (client: Client, close: (order: string) => unknown) =>
  new Worker(client, { orders: (delivery) => close(delivery.json<{ order: string }>().order) });

// The test: half an hour passes at once.
const server = await TestServer.start();
const { client } = server;
for (const order of ["order:1", "order:2", "order:3"]) await placed(client, order);
await paid(client, "order:1");
await moreTime(client, "order:2");
await server.advance("30m");
const closed: string[] = [];
const worker = closing(client, (order) => {
  closed.push(order);
  worker.stop();
});
await worker.run();
await server.stop();
console.log("closed", closed.join(" ")); // closed order:3
