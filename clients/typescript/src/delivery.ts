// Delivery: a message in a handler's hands.

import type { Claimed } from "./model.js";

export class Delivery {
  readonly #over = new AbortController();
  #lost = false;

  constructor(readonly message: Claimed) {}

  /** Set when the worker stops, and when the claim is lost: another delivery may begin. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Whether the claim is lost. */
  get lost(): boolean {
    return this.#lost;
  }

  get queue(): string {
    return this.message.queue;
  }

  /** The same in each delivery of this message: drop duplicates by it. */
  get id(): string {
    return this.message.id;
  }

  get key(): string {
    return this.message.key;
  }

  get payload(): Buffer {
    return this.message.payload;
  }

  /** The payload as UTF-8 text. */
  get text(): string {
    return this.message.text;
  }

  /** The payload as JSON. */
  json<T = unknown>(): T {
    return JSON.parse(this.text) as T;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.message.headers;
  }

  get attempt(): number {
    return this.message.attempt;
  }

  /** For the worker: sets the signal. */
  end(reason: "stopped" | "lost"): void {
    if (reason === "lost") this.#lost = true;
    const why = reason === "lost" ? "the claim is lost" : "the worker stops";
    this.#over.abort(new Error(why));
  }
}
