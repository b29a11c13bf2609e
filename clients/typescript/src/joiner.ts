// Joiner: single calls go together in one request.
//
// The first item of a lane is sent in the same turn of the event loop, with all others of that
// turn. Items that come while this request is under way wait, and go together in the next one. So a
// single call waits for nobody when it is alone, and many of them cost few requests.

import type { Lane, Result } from "./calls.js";
import { InvalidRequest } from "./errors.js";

export const maxItems = 1000;
export const maxBytes = 4 * 1024 * 1024;

interface Waiting {
  item: string;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Send = (lane: Lane<unknown>, items: string[]) => Promise<Result<unknown>[]>;

export class Joiner {
  readonly #send: Send;
  readonly #lanes = new Map<string, Waiting[]>();

  constructor(send: Send) {
    this.#send = send;
  }

  /** The item's result; rejects with its error. */
  ask<T>(lane: Lane<T>, item: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const mine: Waiting = { item, resolve: resolve, reject };
      const name = `${lane.path} ${lane.list}`;
      const waiting = this.#lanes.get(name);
      if (waiting) {
        waiting.push(mine);
        return;
      }
      this.#lanes.set(name, [mine]);
      setImmediate(() => void this.#serve(name, lane as Lane<unknown>));
    });
  }

  async #serve(name: string, lane: Lane<unknown>): Promise<void> {
    for (;;) {
      const waiting = this.#lanes.get(name) as Waiting[];
      if (waiting.length === 0) {
        this.#lanes.delete(name);
        return;
      }
      const batch = takeBatch(waiting);
      const items = batch.map((one) => one.item);
      const results = await this.#results(lane, items);
      batch.forEach((one, index) => {
        const result = results[index];
        if (result instanceof Error) one.reject(result);
        else one.resolve(result);
      });
    }
  }

  async #results(lane: Lane<unknown>, items: string[]): Promise<unknown[]> {
    try {
      return await this.#send(lane, items);
    } catch (error) {
      if (!(error instanceof InvalidRequest) || items.length === 1) return items.map(() => error);
    }
    // The request as a whole was refused, and nothing was done: one of the items is at fault.
    const results: unknown[] = [];
    for (const item of items) results.push((await this.#results(lane, [item]))[0]);
    return results;
  }
}

/** Takes those for the next request out of the list. */
export function takeBatch<T extends { item: string }>(waiting: T[]): T[] {
  let size = 0;
  let count = 0;
  for (const one of waiting) {
    size += one.item.length;
    if (count === maxItems || (count > 0 && size > maxBytes)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}
