// Deliveries as an async iterator.

import type { Client } from "./client.js";
import type { Delivery } from "./delivery.js";
import type { Duration } from "./moments.js";
import { Verdict, ack, bury, release, retry } from "./verdicts.js";
import { Worker } from "./worker.js";
import type { WorkerOptions } from "./worker.js";

/** A delivery in a loop's hands. The first of these verbs counts. */
export class Taken {
  #decide!: (verdict: Verdict) => void;
  /** Resolves with what was decided. */
  readonly decided = new Promise<Verdict>((resolve) => (this.#decide = resolve));

  constructor(readonly delivery: Delivery) {}

  get key(): string {
    return this.delivery.key;
  }

  get text(): string {
    return this.delivery.text;
  }

  json<T = unknown>(): T {
    return this.delivery.json<T>();
  }

  /** Done. */
  ack(): void {
    this.#decide(ack());
  }

  /** Again after `delay`, else after the queue's backoff. */
  retry(delay?: Duration, reason?: string): void {
    this.#decide(retry(delay, reason));
  }

  /** Again now; the attempt does not count. */
  release(): void {
    this.#decide(release());
  }

  /** To the dead, at once. */
  bury(reason: string): void {
    this.#decide(bury(reason));
  }
}

export type DeliveriesOptions = Omit<WorkerOptions, "concurrency">;

/**
 * Deliveries of the queues, one at a time, until the loop is left or `signal` is set. Their leases
 * are extended meanwhile. The next turn of the loop acks a delivery that was not settled; leaving
 * the loop, by `break` or by an exception, retries it.
 */
export async function* deliveries(
  client: Client,
  queues: readonly string[],
  options: DeliveriesOptions = {},
): AsyncGenerator<Taken, void, undefined> {
  const arrived: Taken[] = [];
  let over = false;
  let news = (): void => undefined;
  const handler = (delivery: Delivery): Promise<Verdict> => {
    const taken = new Taken(delivery);
    arrived.push(taken);
    news();
    return taken.decided;
  };
  const handlers = Object.fromEntries(queues.map((queue) => [queue, handler]));
  const worker = new Worker(client, handlers, { prefetch: 16, ...options, concurrency: 1 });
  const running = worker.run().finally(() => {
    over = true;
    news();
  });
  running.catch(() => undefined); // told below
  // A delivery that begins as the loop ends must not keep the worker from stopping.
  const stopped = (): void => arrived.splice(0).forEach((taken) => taken.release());
  options.signal?.addEventListener("abort", stopped);
  let current: Taken | undefined;
  try {
    while (!over && !options.signal?.aborted) {
      current = arrived.shift();
      if (current) {
        yield current;
        current.ack();
        current = undefined;
      } else await new Promise<void>((resolve) => (news = resolve));
    }
  } finally {
    current?.retry();
    options.signal?.removeEventListener("abort", stopped);
    stopped();
    worker.stop();
    await running;
  }
}
