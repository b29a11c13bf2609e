// Worker: claims due messages and runs a handler for each.

import { Book } from "./book.js";
import type { Counts, Ending, Held } from "./book.js";
import { Backoff, laneCall } from "./calls.js";
import type { Result } from "./calls.js";
import type { Client } from "./client.js";
import { Delivery } from "./delivery.js";
import { elapsed } from "./elapsed.js";
import { TarryError, errorOf, isPassing } from "./errors.js";
import type { Claim, Settled } from "./model.js";
import type { Duration } from "./moments.js";
import { News, turn } from "./news.js";
import { found, handling } from "./tracing.js";
import { settlementOf, settlementOfThrown } from "./verdicts.js";
import * as verbs from "./verbs.js";

const claimWait = 20_000;
const longestTimer = 2 ** 31 - 1;

/**
 * Returns, which is an ack, or returns or throws a verdict: `retry`, `release`, `bury`. Anything
 * else that it throws is a retry with that text as the reason.
 */
export type Handler = (delivery: Delivery) => unknown;

export interface WorkerOptions {
  /** Handlers at once. The default is 16. */
  concurrency?: number;
  /** Messages claimed ahead. The default is 64. */
  prefetch?: number;
  /** How long claims hold; they are extended meanwhile. The default is the queue's. */
  lease?: Duration;
  /** Milliseconds for which a stop waits for running handlers. The default is without end. */
  drain?: number;
  /** Stops the worker. */
  signal?: AbortSignal;
  /** Is told what went wrong and is tried again. The default writes to the standard error. */
  onWarning?: (what: string, error: unknown) => void;
}

function checked(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw errorOf("invalid_argument", `${name} ${value} must be from ${least} to ${most}`);
}

/** Serves queues, each with its handler, until it is stopped. No handler begins after its lease. */
export class Worker {
  readonly #client: Client;
  readonly #handlers: Map<string, Handler>;
  readonly #concurrency: number;
  readonly #prefetch: number;
  readonly #options: WorkerOptions;
  readonly #book = new Book();
  readonly #waiting: Held[] = [];
  readonly #running = new Map<string, Delivery>();
  readonly #stop = new AbortController();
  readonly #news = new News();
  #extendTimer: NodeJS.Timeout | undefined;
  #extending = false;
  #claimIdle = false; // the next claim is sent as soon as there is room
  #finished = false;
  #ran = false;
  #failure: Error | undefined;

  constructor(client: Client, handlers: Record<string, Handler>, options: WorkerOptions = {}) {
    this.#client = client;
    this.#handlers = new Map(Object.entries(handlers));
    if (this.#handlers.size === 0) {
      throw errorOf("invalid_argument", "a worker needs a handler for at least one queue");
    }
    this.#concurrency = checked("concurrency", options.concurrency ?? 16, 1, 1024);
    this.#prefetch = checked("prefetch", options.prefetch ?? 64, 0, 8976);
    this.#options = options;
  }

  /** How deliveries have ended so far. */
  get counts(): Counts {
    return { ...this.#book.counts };
  }

  /** Claims nothing more; `run` resolves once handlers have ended and all is settled. */
  stop(): void {
    if (this.#stop.signal.aborted) return;
    this.#book.stop(elapsed());
    this.#stop.abort(new Error("the worker stops"));
    for (const delivery of this.#running.values()) delivery.end("stopped");
    for (const held of this.#waiting.splice(0)) this.#giveBack(held);
    this.#news.tell();
  }

  /**
   * Works until `stop`. Rejects with the error by which the server became unusable. With `signals`,
   * SIGTERM and SIGINT stop it.
   */
  async run(how: { signals?: boolean } = {}): Promise<Counts> {
    if (this.#ran) throw errorOf("misuse", "a worker runs once; make another one");
    this.#ran = true;
    const stop = (): void => this.stop();
    const given = this.#options.signal;
    given?.addEventListener("abort", stop);
    if (given?.aborted) stop();
    if (how.signals) process.on("SIGTERM", stop).on("SIGINT", stop);
    try {
      await found();
      const settling = this.#settleAll();
      await this.#claimAll();
      await this.#drained();
      this.#finished = true;
      clearTimeout(this.#extendTimer);
      this.#news.tell();
      await settling;
    } finally {
      given?.removeEventListener("abort", stop);
      if (how.signals) process.off("SIGTERM", stop).off("SIGINT", stop);
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.counts;
  }

  // -- claims

  async #claimAll(): Promise<void> {
    const backoff = new Backoff();
    while (!this.#stop.signal.aborted) {
      this.#claimIdle = true;
      if (this.#room() === 0) {
        await this.#news.next();
        continue;
      }
      await turn();
      const room = this.#room();
      if (room === 0) continue;
      try {
        await this.#claim(room);
        backoff.reset();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (!isPassing(error)) {
          this.#failure = error instanceof Error ? error : new Error(String(error));
          this.stop();
          return;
        }
        this.#warn("claim", error);
        const asked = (error instanceof TarryError && error.retryAfter) || 0;
        await this.#news.sleep(Math.max(backoff.next(), asked), () => this.#stop.signal.aborted);
      }
    }
  }

  /** How many messages to claim now. */
  #room(): number {
    if (this.#waiting.length > this.#prefetch / 2) return 0;
    return Math.max(0, this.#concurrency + this.#prefetch - this.#book.held.size);
  }

  /** Whether the next claim is about to be sent, and takes the settlements with it. */
  #claimTakesThem(): boolean {
    return this.#claimIdle && this.#book.joins && !this.#stop.signal.aborted && this.#room() > 0;
  }

  async #claim(max: number): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const { lease } = this.#options;
    const batch = this.#book.joined();
    this.#claimIdle = false;
    // A claim that settles does not wait, so a stop need not end it.
    const alone = batch.length === 0;
    const options = {
      max,
      wait: alone ? claimWait : 0,
      ...(lease === undefined ? {} : { lease }),
    };
    const settle = batch.map((one) => one.settlement);
    const queues = [...this.#handlers.keys()];
    const call = verbs.claim(queues, options, undefined, undefined, settle);
    const how = { patience: 0, ...(alone ? { signal: this.#stop.signal } : {}) };
    const sent = elapsed();
    let answer: Claim | TarryError;
    try {
      answer = await this.#client.run(call, how);
    } catch (error) {
      if (!(error instanceof TarryError)) throw error;
      answer = error;
    }
    this.#claimed(batch, answer, sent);
  }

  /** Takes an answer. Throws the error that the claim has. */
  #claimed(batch: readonly Ending[], answer: Claim | TarryError, sent: number): void {
    const { refusals, error } = this.#book.claimed(batch, answer, elapsed());
    for (const refusal of refusals) this.#warn("settle", refusal);
    this.#claimIdle = error === undefined;
    if (!(answer instanceof TarryError)) this.#took(answer, sent);
    this.#news.tell();
    if (error) throw error;
  }

  #took(claim: Claim, sent: number): void {
    const begun = claim.waitedMs === undefined ? elapsed() : sent + claim.waitedMs;
    for (const message of claim.messages) {
      const held = this.#book.hold(message, begun);
      if (this.#stop.signal.aborted) this.#giveBack(held);
      else this.#waiting.push(held);
    }
    this.#begin();
    this.#planExtension();
  }

  // -- handlers

  /** Begins as many deliveries as may run at once. */
  #begin(): void {
    while (this.#running.size < this.#concurrency && !this.#stop.signal.aborted) {
      const held = this.#waiting.shift();
      if (!held) break;
      if (held.lost || elapsed() >= held.end) {
        this.#giveBack(held);
        continue;
      }
      held.begun = true;
      this.#book.counts.delivered += 1;
      const delivery = new Delivery(held.message);
      this.#running.set(held.message.receipt, delivery);
      void this.#handle(held, delivery);
    }
    if (this.#room() > 0) this.#news.tell();
  }

  async #handle(held: Held, delivery: Delivery): Promise<void> {
    const { queue, key, headers, receipt } = held.message;
    const handler = this.#handlers.get(queue) as Handler;
    const settlement = await handling(queue, key, headers, () => handler(delivery)).then(
      (result) => settlementOf(receipt, result),
      (thrown: unknown) => settlementOfThrown(receipt, thrown),
    );
    this.#running.delete(receipt);
    this.#book.end(held, settlement);
    this.#begin();
    this.#news.tell();
  }

  #giveBack(held: Held): void {
    this.#book.end(held, { receipt: held.message.receipt, action: "release" });
    this.#news.tell();
  }

  /** Resolves when all handlers have ended, or the drain has, and all is settled, or 10 s on. */
  async #drained(): Promise<void> {
    const { drain } = this.#options;
    await this.#news.sleep(drain ?? Infinity, () => this.#running.size === 0);
    await this.#news.sleep(10_000, () => !this.#book.isSettling);
  }

  // -- settlements and extensions

  async #settleAll(): Promise<void> {
    const backoff = new Backoff();
    for (;;) {
      while (!this.#book.hasSettlements || this.#claimTakesThem()) {
        if (this.#finished) return;
        await this.#news.next();
      }
      await turn();
      if (!this.#book.hasSettlements || this.#claimTakesThem()) continue;
      const batch = this.#book.settlements();
      const items = batch.map((one) => verbs.settleItem(one.settlement));
      const results = await this.#asked(items, this.#client.timeout);
      const { refusals, wait } = this.#book.settled(batch, results, elapsed());
      for (const refusal of refusals) this.#warn("settle", refusal);
      this.#news.tell();
      if (wait) await this.#news.sleep(backoff.next(), () => this.#finished);
      else backoff.reset();
    }
  }

  /** Sets the timer for the next extension. */
  #planExtension(): void {
    clearTimeout(this.#extendTimer);
    if (this.#finished || this.#extending) return;
    const at = this.#book.nextExtension();
    if (at === Infinity) return;
    const pause = Math.min(longestTimer, Math.max(0, Math.ceil(at - elapsed())));
    this.#extendTimer = setTimeout(() => void this.#extend(), pause);
  }

  async #extend(): Promise<void> {
    const now = elapsed();
    for (const held of this.#book.overdue(now)) this.#tellLost(held);
    const batch = this.#book.extensions(now);
    if (batch.length > 0) {
      this.#extending = true;
      const ends = batch.map((held) => held.end - now);
      // Not for longer than the leases hold, so that handlers are told in time.
      const left = Math.max(100, Math.min(...ends));
      const { lease } = this.#options;
      const items = batch.map((held) => verbs.extendItem(held.message.receipt, lease));
      const results = await this.#asked(items, Math.min(left, this.#client.timeout));
      this.#extending = false;
      for (const held of this.#book.extended(batch, results, now, elapsed())) this.#lose(held);
    }
    this.#planExtension();
  }

  #lose(held: Held): void {
    const at = this.#waiting.indexOf(held);
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      this.#giveBack(held);
    } else this.#tellLost(held);
  }

  #tellLost(held: Held): void {
    this.#running.get(held.message.receipt)?.end("lost");
  }

  async #asked(items: verbs.Item<Settled>[], timeout: number): Promise<Result<Settled>[]> {
    const { lane } = items[0] as verbs.Item<Settled>;
    const call = laneCall(
      lane,
      items.map((item) => item.json),
    );
    try {
      return await this.#client.run(call, { patience: 0, timeout });
    } catch (error) {
      const said = error instanceof TarryError ? error : errorOf("unknown_outcome", String(error));
      return items.map(() => said);
    }
  }

  #warn(what: string, error: unknown): void {
    const { onWarning } = this.#options;
    if (onWarning) onWarning(what, error);
    else process.stderr.write(`tarry: ${what}: ${String(error)}\n`);
  }
}
