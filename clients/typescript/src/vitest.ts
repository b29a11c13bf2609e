// For vitest: `test` with a server of its own, whose clock stands still until it is moved.

import { test as base } from "vitest";

import { TestServer } from "./testing.js";

/** `test("...", async ({ tarry }) => { ... })`: `tarry` is a TestServer for this test alone. */
export const test = base.extend<{ tarry: TestServer }>({
  tarry: async ({ task: _ }, use) => {
    const server = await TestServer.start();
    try {
      await use(server);
    } finally {
      await server.stop();
    }
  },
});
