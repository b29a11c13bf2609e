// Queue: a queue of a client, with every verb.

import type { Result } from "./calls.js";
import type { Client } from "./client.js";
import { signalOf } from "./client.js";
import type {
  Bulk,
  Bytes,
  Changed,
  Claimed,
  Forecast,
  History,
  Message,
  Outcome,
  Page,
  PushOptions,
  Pushed,
  QueueInfo,
  Rates,
  Settings,
  Stored,
  Why,
} from "./model.js";
import type { Duration, Fields, Moment } from "./moments.js";
import { sending } from "./tracing.js";
import * as verbs from "./verbs.js";

/** A queue of a client; `client.queue(name)` makes it. */
export class Queue {
  constructor(
    readonly client: Client,
    readonly name: string,
  ) {}

  /**
   * Pushes a message, due after `delay` or at `due`. A taken key is an outcome: look at it. Rejects
   * with UnknownOutcome if the answer was lost; with a key you may push again.
   */
  async push(payload: Bytes, options: PushOptions = {}): Promise<Pushed> {
    return sending(this.name, (trace) =>
      this.client.single(verbs.pushItem(this.name, { ...options, payload }, trace)),
    );
  }

  /** A result for each message, or its error. */
  async pushMany(messages: readonly Message[]): Promise<Result<Pushed>[]> {
    return sending(this.name, (trace) =>
      this.client.batch(messages.map((message) => verbs.pushItem(this.name, message, trace))),
    );
  }

  /** Rejects with NotFound. */
  async get(key: Bytes): Promise<Stored> {
    return this.client.single(verbs.getItem(this.name, key));
  }

  async getMany(keys: readonly Bytes[]): Promise<Result<Stored>[]> {
    return this.client.batch(keys.map((key) => verbs.getItem(this.name, key)));
  }

  async cancel(key: Bytes): Promise<Changed> {
    return this.client.single(verbs.cancelItem(this.name, key));
  }

  /** Why the message has not been delivered, in one sentence. */
  async why(key: Bytes): Promise<Why> {
    return this.client.run(verbs.why(this.name, key));
  }

  /** What has happened to the message, if the queue has the setting `history`. */
  async history(key: Bytes): Promise<History> {
    return this.client.run(verbs.history(this.name, key));
  }

  async cancelMany(keys: readonly Bytes[]): Promise<Result<Changed>[]> {
    return this.client.batch(keys.map((key) => verbs.cancelItem(this.name, key)));
  }

  async reschedule(key: Bytes, move: verbs.Move): Promise<Changed> {
    return this.client.single(verbs.rescheduleItem(this.name, key, move));
  }

  async rescheduleMany(
    moves: readonly (verbs.Move & { key: Bytes })[],
  ): Promise<Result<Changed>[]> {
    return this.client.batch(moves.map((move) => verbs.rescheduleItem(this.name, move.key, move)));
  }

  /** As `Client.claim`; with `keys` only these messages, with `anyState` whatever their state. */
  async claim(
    options: verbs.ClaimOptions & { keys?: readonly Bytes[]; anyState?: boolean } = {},
  ): Promise<Claimed[]> {
    const call = verbs.claim([this.name], options, options.keys, options.anyState);
    return (await this.client.run(call, signalOf(options))).messages;
  }

  async listPage(options: verbs.ListOptions & { after?: string } = {}): Promise<Page> {
    const { after, ...rest } = options;
    return this.client.run(verbs.listPage(this.name, rest, after));
  }

  /** All messages, page after page of `limit`, without payloads. */
  async *list(options: verbs.ListOptions = {}): AsyncGenerator<Stored, void, undefined> {
    let after: string | undefined;
    do {
      const page: Page = await this.client.run(verbs.listPage(this.name, options, after));
      yield* page.messages;
      after = page.next;
    } while (after !== "");
  }

  /** The dead messages, with their reasons. */
  dead(): AsyncGenerator<Stored, void, undefined> {
    return this.list({ state: "dead" });
  }

  /** Revives dead messages: these, or all. How many there were. */
  async revive(keys?: readonly Bytes[]): Promise<number> {
    return this.client.run(verbs.revive(this.name, keys));
  }

  /** `cancel`, `reschedule`, `revive` or `remove` of all messages that match. */
  async bulk(
    action: "cancel" | "reschedule" | "revive" | "remove",
    options: verbs.BulkOptions = {},
  ): Promise<Bulk> {
    let matched = 0;
    let failed = 0;
    const outcomes: Partial<Record<Outcome, number>> = {};
    let after: string | undefined;
    do {
      const page: verbs.BulkPage = await this.client.run(
        verbs.bulkPage(this.name, action, options, after),
      );
      matched += page.matched;
      failed += page.failed;
      for (const [outcome, count] of Object.entries(page.outcomes)) {
        outcomes[outcome as Outcome] = (outcomes[outcome as Outcome] ?? 0) + count;
      }
      after = page.next;
    } while (after);
    return { matched, outcomes, failed };
  }

  /** Changes settings; those that are left out stay. Answers all of them. */
  async configure(patch: verbs.SettingsPatch): Promise<Settings> {
    return this.client.run(verbs.configure(this.name, patch));
  }

  async info(): Promise<QueueInfo> {
    return this.client.run(verbs.info(this.name));
  }

  async stats(): Promise<Fields> {
    return this.client.stats(this.name);
  }

  /** How many messages are due when; with rates, also when the backlog is drained. */
  async forecast(width?: Duration, buckets?: number, rates?: Rates): Promise<Forecast> {
    return this.client.run(verbs.forecast(this.name, width, buckets, rates));
  }

  /** Stops claims, until `resume` or until a time. */
  async pause(until?: Moment): Promise<boolean> {
    return this.client.run(verbs.pause(this.name, until));
  }

  async resume(): Promise<boolean> {
    return this.client.run(verbs.resume(this.name));
  }

  /** Removes all messages that are not leased; how many there were. */
  async purge(): Promise<number> {
    return this.client.run(verbs.purge(this.name));
  }

  /** Removes the queue; refused while messages are leased, unless forced. */
  async remove(force = false): Promise<number> {
    return this.client.run(verbs.remove(this.name, force));
  }
}
