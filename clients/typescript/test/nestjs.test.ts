import "reflect-metadata";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Inject, Injectable, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";

import { Client } from "../src/index.js";
import type { Delivery } from "../src/index.js";
import { TarryListener, TarryModule } from "../src/nestjs.js";
import { TestServer } from "../src/testing.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.stop());

@Injectable()
class Orders {
  readonly closed: string[] = [];
  arrived: () => void = () => undefined;

  constructor(@Inject(Client) readonly client: Client) {}

  @TarryListener("orders", { concurrency: 2 })
  close(delivery: Delivery): void {
    this.closed.push(delivery.key);
    this.arrived();
  }
}

test("a listener gets what a provider pushed, and stops with the application", async () => {
  class App {}
  Module({ imports: [TarryModule.forRoot({ url: server.url })], providers: [Orders] })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  const orders = app.get(Orders);
  const arrived = new Promise<void>((resolve) => (orders.arrived = resolve));
  await orders.client.queue("orders").push("", { key: "order:42" });
  await arrived;
  await app.close();
  assert.deepEqual(orders.closed, ["order:42"]);
  assert.equal((await server.queue("orders").info()).counters["acked"], 1);
  await assert.rejects(orders.client.health(), { code: "closed" });
});

test("a process that only pushes runs no listener", async () => {
  class App {}
  const tarry = TarryModule.forRoot({ url: server.url, listen: false });
  Module({ imports: [tarry], providers: [Orders] })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  await app.get(Orders).client.queue("orders").push("", { key: "order:43" });
  await app.close();
  assert.equal((await server.queue("orders").get("order:43")).state, "ready");
});
