import { expect } from "vitest";

import { test } from "@tarry/client/vitest";

test("a trial ends after a month", async ({ tarry }) => {
  await tarry.queue("trials").push("bye", { key: "trial:1", delay: "31d" });
  await tarry.advance("31d");
  const [claimed] = await tarry.queue("trials").claim();
  expect(claimed?.text).toBe("bye");
});

test("the next test has a server of its own", async ({ tarry }) => {
  expect(await tarry.client.queues()).toEqual([]);
});
