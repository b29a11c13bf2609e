// For tests: a server of their own, whose clock they move.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Client } from "./client.js";
import type { Duration } from "./moments.js";
import type { Queue } from "./queue.js";

export interface TestServerOptions {
  /** The program `tarry`. The default is the environment's TARRY_PROGRAM, else the one in PATH. */
  program?: string;
  /** The default is `memory:`. */
  store?: string;
  /** More flags of `tarry serve`. */
  flags?: readonly string[];
  /** `real` lets the server's clock go by itself. The default is `manual`. */
  clock?: "manual" | "real";
}

/** `tarry serve` on a free port, with an empty store in memory, and time that stands still. */
export class TestServer {
  private constructor(
    readonly url: string,
    readonly client: Client,
    private readonly process: ChildProcess,
    private readonly place: string,
  ) {}

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const place = mkdtempSync(join(tmpdir(), "tarry-"));
    const portFile = join(place, "port");
    const program = options.program ?? (process.env["TARRY_PROGRAM"] || "tarry");
    const clock = options.clock === "real" ? [] : ["--test-clock"];
    const words = ["serve", "--store", options.store ?? "memory:", "--listen", "127.0.0.1:0"];
    words.push("--port-file", portFile, ...clock, ...(options.flags ?? []));
    const environment = Object.entries(process.env).filter(([name]) => !name.startsWith("TARRY_"));
    const server = spawn(program, words, {
      stdio: ["ignore", "pipe", "pipe"],
      env: Object.fromEntries(environment),
    });
    const errors: string[] = [];
    server.stderr.on("data", (piece: Buffer) => errors.push(piece.toString()));
    const lines = createInterface({ input: server.stdout });
    const failed = new Promise<never>((_, reject) => {
      server.once("error", (error) => {
        reject(new Error(`${program} cannot be started: ${error.message}`));
      });
      server.once("close", () => {
        reject(new Error(`${program} serve did not start: ${errors.join("")}`));
      });
    });
    failed.catch(() => undefined);
    try {
      await Promise.race([once(lines, "line"), failed]);
    } catch (error) {
      rmSync(place, { recursive: true, force: true });
      throw error;
    }
    const port = readFileSync(portFile, "utf8").trim().split(/\s+/)[0];
    const url = `http://127.0.0.1:${port}`;
    return new TestServer(url, new Client(url), server, place);
  }

  queue(name: string): Queue {
    return this.client.queue(name);
  }

  /** Moves the server's clock. What is due then can be claimed at once. */
  async advance(by: Duration): Promise<number> {
    return this.client.advance(by);
  }

  /** Ends the server; its messages are gone. */
  async stop(): Promise<void> {
    this.client.close();
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, "exit");
      this.process.kill("SIGTERM");
      await ended;
    }
    rmSync(this.place, { recursive: true, force: true });
  }
}
