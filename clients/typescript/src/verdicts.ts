// What a handler decides about its delivery.

import type { Action } from "./model.js";
import type { Duration } from "./moments.js";
import type { Settlement } from "./verbs.js";

/** Returned or thrown by a handler. Made by `ack`, `retry`, `release` and `bury`. */
export class Verdict {
  constructor(
    readonly action: Action,
    readonly delay?: Duration,
    readonly reason?: string,
  ) {}
}

/** Done. A handler that returns something else than a verdict means it too. */
export function ack(): Verdict {
  return new Verdict("ack");
}

/** Again after `delay`, else after the queue's backoff. The attempt counts. */
export function retry(delay?: Duration, reason?: string): Verdict {
  return new Verdict("retry", delay, reason);
}

/** Again now; the attempt does not count. */
export function release(): Verdict {
  return new Verdict("release");
}

/** To the dead, at once. */
export function bury(reason: string): Verdict {
  return new Verdict("bury", undefined, reason);
}

/** What to send after a handler has returned a value. */
export function settlementOf(receipt: string, result: unknown): Settlement {
  if (!(result instanceof Verdict)) return { receipt, action: "ack" };
  return {
    receipt,
    action: result.action,
    ...(result.delay === undefined ? {} : { delay: result.delay }),
    ...(result.reason === undefined ? {} : { reason: result.reason }),
  };
}

/** The same after it has thrown. */
export function settlementOfThrown(receipt: string, thrown: unknown): Settlement {
  if (thrown instanceof Verdict) return settlementOf(receipt, thrown);
  return { receipt, action: "retry", reason: String(thrown) };
}
