// Book: the lease protocol of a worker. It does no I/O, sets no timer and reads no clock.
//
// - A lease counts from before its claim or its extension was sent, so never for longer than it
//   does in the store. It is extended after a third of its length. If the server is away, the
//   extension is tried again after a tenth of that length, at most 1 s later.
// - A settlement waits while an earlier request with settlements is under way, and goes together with
//   all others that have gathered: in the next claim, if one is about to be sent. If the answer is
//   lost, or the server is away, it is sent again while the lease holds; after a stop, for 10 s.
// - A claim that is lost is neither extended nor settled.
//
// All times are in milliseconds, of the clock in elapsed.ts.

import type { Result } from "./calls.js";
import { InvalidRequest, TarryError, UnknownOutcome, isPassing } from "./errors.js";
import type { Action, Claim, Claimed, Settled } from "./model.js";
import type { Settlement } from "./verbs.js";

const maxItems = 1000;
const afterStop = 10_000;

/** How deliveries ended. `stale`: the claim had ended before it was settled. */
export interface Counts {
  delivered: number;
  acked: number;
  retried: number;
  buried: number;
  released: number;
  stale: number;
}

const counted: Record<Action, keyof Counts> = {
  ack: "acked",
  retry: "retried",
  bury: "buried",
  release: "released",
};

/** A claim that is held: when its lease ends, and whether it is lost. */
export class Held {
  begun = false;
  lost = false;
  extending = false;
  end = 0;
  extendAt = 0;

  constructor(
    readonly message: Claimed,
    begun: number,
  ) {
    this.extended(begun);
  }

  extended(begun: number): void {
    this.end = begun + this.message.leaseMs;
    this.extendAt = begun + this.message.leaseMs / 3;
  }
}

export interface Ending {
  held: Held;
  settlement: Settlement;
}

export class Book {
  readonly held = new Map<string, Held>();
  readonly counts: Counts = {
    delivered: 0,
    acked: 0,
    retried: 0,
    buried: 0,
    released: 0,
    stale: 0,
  };
  #outbox: Ending[] = [];
  #settling = false;
  #joins = true; // until a server refuses settlements in a claim
  #stoppedAt: number | undefined;

  /** Whether something is still to be settled. */
  get isSettling(): boolean {
    return this.#settling || this.#outbox.length > 0;
  }

  get hasSettlements(): boolean {
    return !this.#settling && this.#outbox.length > 0;
  }

  stop(now: number): void {
    this.#stoppedAt ??= now;
  }

  /** Notes a claim; `begun` is when its lease began, at the latest. */
  hold(message: Claimed, begun: number): Held {
    const held = new Held(message, begun);
    this.held.set(message.receipt, held);
    return held;
  }

  /** The claim ends. */
  end(held: Held, settlement: Settlement): void {
    this.held.delete(held.message.receipt);
    if (held.lost) this.counts.stale += 1;
    else this.#outbox.push({ held, settlement });
  }

  /** Those to send now, in one request; `settled` follows. */
  settlements(): Ending[] {
    const batch = this.#outbox.splice(0, maxItems);
    this.#settling = batch.length > 0;
    return batch;
  }

  /** The errors that are no use repeating; and whether to wait a little before the next request. */
  settled(
    batch: readonly Ending[],
    results: readonly Result<Settled>[],
    now: number,
  ): { refusals: TarryError[]; wait: boolean } {
    this.#settling = false;
    const again: Ending[] = [];
    const refusals: TarryError[] = [];
    let wait = false;
    batch.forEach((one, index) => {
      const result = results[index] as Result<Settled>;
      if (result instanceof TarryError) {
        const passing = isPassing(result);
        wait ||= passing;
        if (passing && this.#mayRepeat(one, now)) {
          again.push(one);
          return;
        }
        this.counts.stale += 1;
        if (!passing) refusals.push(result);
      } else if (result.outcome === "done") this.counts[counted[one.settlement.action]] += 1;
      else this.counts.stale += 1;
    });
    this.#outbox = again.concat(this.#outbox);
    return { refusals, wait };
  }

  /** Whether a claim may take settlements with it. */
  get joins(): boolean {
    return this.#joins;
  }

  /** Those that go with the claim that is sent now; `claimed` follows. */
  joined(): Ending[] {
    return this.#joins && this.hasSettlements ? this.settlements() : [];
  }

  /** Notes what became of those that went with a claim; `error` is that of the claim itself. */
  claimed(
    batch: readonly Ending[],
    answer: Claim | TarryError,
    now: number,
  ): { refusals: TarryError[]; error?: TarryError | undefined } {
    if (batch.length === 0) {
      return { refusals: [], error: answer instanceof TarryError ? answer : answer.error };
    }
    if (!(answer instanceof TarryError)) {
      const results = answer.settled ?? [];
      const { refusals } = this.settled(batch, results, now);
      const passing = (one: Result<Settled>): one is TarryError =>
        one instanceof TarryError && isPassing(one);
      return { refusals, error: answer.error ?? results.find(passing) };
    }
    if (answer instanceof UnknownOutcome) {
      const results = batch.map(() => answer);
      return { refusals: this.settled(batch, results, now).refusals, error: answer };
    }
    this.#settling = false;
    this.#outbox = batch.concat(this.#outbox);
    if (!(answer instanceof InvalidRequest)) return { refusals: [], error: answer };
    this.#joins = false; // an older server: the next claim goes alone
    return { refusals: [] };
  }

  #mayRepeat(one: Ending, now: number): boolean {
    if (this.#stoppedAt !== undefined && now > this.#stoppedAt + afterStop) return false;
    return now < one.held.end;
  }

  /** Those to extend now, in one request; `extended` follows. */
  extensions(now: number): Held[] {
    const batch: Held[] = [];
    for (const held of this.held.values()) {
      if (batch.length === maxItems) break;
      if (held.extending || held.lost || held.extendAt > now) continue;
      held.extending = true;
      batch.push(held);
    }
    return batch;
  }

  /** Those that are lost from now on. `sent`: before the request. */
  extended(
    batch: readonly Held[],
    results: readonly Result<Settled>[],
    sent: number,
    now: number,
  ): Held[] {
    const lost: Held[] = [];
    batch.forEach((held, index) => {
      const result = results[index] as Result<Settled>;
      held.extending = false;
      if (result instanceof TarryError) {
        // Refused for good: the store has no extensions, and the lease ends in its time.
        const pause = Math.min(1000, held.message.leaseMs / 10);
        held.extendAt = isPassing(result) ? now + pause : Infinity;
      } else if (result.outcome === "done") held.extended(sent);
      else {
        held.lost = true;
        held.end = -Infinity;
        lost.push(held);
      }
    });
    return lost;
  }

  /** Begun deliveries whose leases have ended because the server did not answer; each once. */
  overdue(now: number): Held[] {
    const over: Held[] = [];
    for (const held of this.held.values()) {
      if (!held.begun || held.lost || held.end > now) continue;
      held.lost = true;
      over.push(held);
    }
    return over;
  }

  /** When `extensions` or `overdue` has something to say next, or Infinity. */
  nextExtension(): number {
    let next = Infinity;
    for (const held of this.held.values()) {
      if (held.lost) continue;
      if (!held.extending) next = Math.min(next, held.extendAt);
      if (held.begun) next = Math.min(next, held.end);
    }
    return next;
  }
}
