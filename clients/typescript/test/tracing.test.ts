import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

import { Worker } from "../src/index.js";
import { TestServer } from "../src/testing.js";

let server: TestServer;
const spans = new InMemorySpanExporter();
before(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  trace.setGlobalTracerProvider(provider);
  server = await TestServer.start();
});
after(() => server.stop());

test("the handler's span is a child of the push, and active in the handler", async () => {
  await server.queue("q").push("x", { key: "a" });
  let active: string | undefined;
  const worker = new Worker(server.client, {
    q: (delivery) => {
      active = trace.getActiveSpan()?.spanContext().spanId;
      assert.ok(delivery.headers["traceparent"]);
      worker.stop();
      throw new Error("it broke");
    },
  });
  await worker.run();
  const [pushed, processed] = spans.getFinishedSpans();
  assert.equal(pushed?.name, "push q");
  assert.equal(processed?.name, "process q");
  assert.equal(processed?.parentSpanId, pushed?.spanContext().spanId);
  assert.equal(active, processed?.spanContext().spanId);
  assert.equal(processed?.status.message, "Error: it broke");
  assert.equal(processed?.attributes["messaging.message.id"], "a");
});
