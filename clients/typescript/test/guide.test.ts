// The guide's programs, as they stand.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import ts from "typescript";

import { TestServer } from "../src/testing.js";

const source = process.env["TARRY_SOURCE_DIR"] ?? "../..";
const page = readFileSync(`${source}/docs/guide/typescript.md`, "utf8");
const blocks = [...page.matchAll(/<!-- run: says (.*) -->\n```ts\n([^]*?)```/g)];

let server: TestServer;
let place: string;
before(async () => {
  server = await TestServer.start({ clock: "real" });
  place = mkdtempSync("build/guide-");
});
after(async () => {
  await server.stop();
  rmSync(place, { recursive: true });
});

test("the guide has programs", () => assert.equal(blocks.length, 5));

blocks.forEach(([, words, text], index) => {
  test(`program ${index + 1}`, async () => {
    const { outputText } = ts.transpileModule(text as string, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 },
    });
    writeFileSync(`${place}/${index}.mjs`, outputText);
    const { stdout } = await promisify(execFile)("node", [`${place}/${index}.mjs`], {
      env: { ...process.env, TARRY_URL: server.url },
      timeout: 60_000,
    });
    for (const [, word] of (words as string).matchAll(/"([^"]*)"/g)) {
      assert.ok(stdout.includes(word as string), `${word} is not in ${stdout}`);
    }
  });
});
