// Calls: what is asked of the server, what may be repeated, and how an answer is read. No I/O.

import { elapsed } from "./elapsed.js";
import { TarryError, Unavailable, UnknownOutcome, errorOf, problemOf } from "./errors.js";
import type { Answer } from "./transport.js";

/** An item of a batch: what happened, or the error of this item alone. */
export type Result<T> = T | TarryError;

/**
 * One request. `repeatable`: a second time does the same, and answers as truthfully. `wait`:
 * milliseconds that the server may take on purpose.
 */
export interface Call<T> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: string;
  readonly read: (said: never) => T;
  readonly repeatable: boolean;
  readonly wait?: number;
}

/** Single calls that may go together in one request: same path, same list. */
export interface Lane<T> {
  readonly path: string;
  readonly list: string;
  readonly repeatable: boolean;
  readonly read: (said: never) => T;
}

/** A batch of these items, each as JSON. */
export function laneCall<T>(lane: Lane<T>, items: readonly string[]): Call<Result<T>[]> {
  return {
    method: "POST",
    path: lane.path,
    body: `{"${lane.list}":[${items.join(",")}]}`,
    repeatable: lane.repeatable,
    read: (said: { results: ItemSaid[] }) => resultsOf(said.results, items.length, lane.read),
  };
}

/** A part of an answer, which may have an error in its place. */
export interface ItemSaid {
  error?: { code: string; message: string };
}

export function resultsOf<T>(
  results: ItemSaid[],
  count: number,
  read: (said: never) => T,
): Result<T>[] {
  if (results.length !== count) throw new Error(`${results.length} results for ${count} items`);
  return results.map((one) => errorIn(one) ?? read(one as never));
}

export function errorIn(said: ItemSaid): TarryError | undefined {
  return said.error && errorOf(said.error.code, said.error.message, 200);
}

export function queuePath(queue: string, rest = ""): string {
  return `/v1/queues/${encodeURIComponent(queue)}${rest}`;
}

type QueryValue = string | number | boolean | undefined;

export function withQuery(path: string, query: Record<string, QueryValue>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.append(name, String(value));
  }
  const text = given.toString();
  return text ? `${path}?${text}` : path;
}

/** From 100 ms on twice as long each time, up to 5 s, of which 50 to 100 % is waited. */
export class Backoff {
  #next = 100;

  next(): number {
    const now = this.#next;
    this.#next = Math.min(2 * now, 5000);
    return now * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#next = 100;
  }
}

/** Decides about each answer of a call: it is read, or thrown, or the call is tried again. */
export class Attempts {
  readonly #backoff = new Backoff();
  readonly #end: number;

  constructor(
    readonly repeatable: boolean,
    patience: number,
  ) {
    this.#end = elapsed() + patience;
  }

  /** Milliseconds to wait before the next try. Throws the error if there is none. */
  again(error: TarryError, after?: number): number {
    if (after !== undefined) error.retryAfter = after;
    const passing =
      error instanceof Unavailable || (this.repeatable && error instanceof UnknownOutcome);
    const pause = after === undefined ? this.#backoff.next() : after + Math.random() * 50;
    if (!passing || elapsed() + pause >= this.#end) throw error;
    return pause;
  }

  /** What the answer says, or how long to wait before the next try. */
  read<T>(call: Call<T>, answer: Answer): { value: T } | { pause: number } {
    let said: unknown;
    let bad: string | undefined;
    try {
      said = answer.body === "" ? undefined : JSON.parse(answer.body);
    } catch {
      bad = "the server's answer is not JSON";
    }
    if (answer.status !== 200) {
      const problem = problemOf(answer.status, said, answer.reason);
      return { pause: this.again(problem, answer.retryAfter) };
    }
    try {
      return { value: call.read(said as never) };
    } catch (error) {
      const why = bad ?? `the server's answer cannot be read: ${String(error)}`;
      return { pause: this.again(errorOf("unknown_outcome", why)) };
    }
  }
}
