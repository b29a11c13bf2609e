// Client: a server's client.

import { hostname } from "node:os";

import { addressOf } from "./address.js";
import type { Tls } from "./address.js";
import { Attempts, laneCall } from "./calls.js";
import type { Call, Result } from "./calls.js";
import { TarryError, UnknownOutcome, errorOf } from "./errors.js";
import { Joiner } from "./joiner.js";
import type { Claimed, Outcome, QueueInfo, Settled } from "./model.js";
import type { Duration, Fields } from "./moments.js";
import { Queue } from "./queue.js";
import * as schedules from "./schedules.js";
import { Lost, NotSent, Transport } from "./transport.js";
import type { Answer } from "./transport.js";
import * as verbs from "./verbs.js";
import { version } from "./version.js";

export interface ClientOptions extends Tls {
  /** Else the environment's TARRY_TOKEN. */
  token?: string;
  /** Milliseconds for one answer, besides the wait of a claim. The default is 30,000. */
  timeout?: number;
  /**
   * Milliseconds for which a call goes on while nothing was done, because the server is away or
   * refuses for the moment. The default is 10,000.
   */
  patience?: number;
  /** Names this process to operators: `tarry` shows it as a message's holder. */
  agent?: string;
}

export interface RunOptions {
  patience?: number;
  timeout?: number;
  /** Ends the call; it rejects with the signal's reason. The request may have been carried out. */
  signal?: AbortSignal;
}

/**
 * A server's client: kept connections, and calls that are tried again where that is safe.
 *
 * `url` is `http://HOST:PORT`, `https://HOST:PORT` or `http+unix:///PATH`; else TARRY_URL, else
 * http://127.0.0.1:7733.
 */
export class Client {
  readonly url: string;
  readonly timeout: number;
  readonly patience: number;
  readonly #transport: Transport;
  readonly #joiner: Joiner;
  readonly #closed = new AbortController();

  constructor(url?: string, options: ClientOptions = {}) {
    const address = addressOf(url, options);
    const agent = options.agent ?? `tarry-typescript/${version} ${hostname()} pid ${process.pid}`;
    this.url = address.url;
    this.timeout = options.timeout ?? 30_000;
    this.patience = options.patience ?? 10_000;
    const token = options.token ?? (process.env["TARRY_TOKEN"] || undefined);
    this.#transport = new Transport(address, agent, token);
    this.#joiner = new Joiner((lane, items) => this.run(laneCall(lane, items)));
  }

  /** Closes the connections. Requests under way are lost. */
  close(): void {
    this.#closed.abort();
    this.#transport.close();
  }

  /** A handle. It asks the server nothing. */
  queue(name: string): Queue {
    return new Queue(this, name);
  }

  /**
   * Claims due messages of one or more queues; waits for the first for up to `wait`. Measure their
   * leases from before this call. The worker does it for you.
   */
  async claim(queues: readonly string[], options: verbs.ClaimOptions = {}): Promise<Claimed[]> {
    return (await this.run(verbs.claim(queues, options), signalOf(options))).messages;
  }

  /** Ends a claim. `stale`: it had ended before. */
  async settle(settlement: verbs.Settlement): Promise<Settled> {
    return this.single(verbs.settleItem(settlement));
  }

  async settleMany(settlements: readonly verbs.Settlement[]): Promise<Result<Settled>[]> {
    return this.batch(settlements.map(verbs.settleItem));
  }

  async ack(receipt: string): Promise<Settled> {
    return this.settle({ receipt, action: "ack" });
  }

  async retry(receipt: string, delay?: Duration, reason?: string): Promise<Settled> {
    return this.settle({
      receipt,
      action: "retry",
      ...(delay === undefined ? {} : { delay }),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  async release(receipt: string): Promise<Settled> {
    return this.settle({ receipt, action: "release" });
  }

  async bury(receipt: string, reason?: string): Promise<Settled> {
    return this.settle({ receipt, action: "bury", ...(reason === undefined ? {} : { reason }) });
  }

  /** The lease begins anew now. `stale`: it has ended. */
  async extend(receipt: string, lease?: Duration): Promise<Settled> {
    return this.single(verbs.extendItem(receipt, lease));
  }

  async extendMany(receipts: readonly string[], lease?: Duration): Promise<Result<Settled>[]> {
    return this.batch(receipts.map((receipt) => verbs.extendItem(receipt, lease)));
  }

  async queues(): Promise<QueueInfo[]> {
    return this.run(verbs.queues());
  }

  async stats(queue?: string): Promise<Fields> {
    return this.run(verbs.stats(queue));
  }

  async health(): Promise<Fields> {
    return this.run(verbs.health());
  }

  /** Rejects with Unavailable while the server cannot serve. */
  async ready(): Promise<Fields> {
    return this.run(verbs.ready());
  }

  /** Moves the clock of a server with --test-clock; milliseconds. */
  async advance(by: Duration): Promise<number> {
    return this.run(verbs.advance(by));
  }

  /** Adds a schedule, or replaces the one of that name: `added` or `replaced`. */
  async putSchedule(name: string, schedule: schedules.ScheduleDefinition): Promise<Outcome> {
    return this.run(schedules.put(name, schedule));
  }

  /** Rejects with NotFound if there is none. */
  async schedule(name: string): Promise<schedules.Schedule> {
    return this.run(schedules.get(name));
  }

  /** All schedules whose names begin with the prefix, in no particular order. */
  async schedules(prefix?: string): Promise<schedules.Schedule[]> {
    const all: schedules.Schedule[] = [];
    let after: string | undefined;
    do {
      const page = await this.run(schedules.page(prefix, after));
      all.push(...page.schedules);
      after = page.next;
    } while (after);
    return all;
  }

  /** Until it is resumed, its occurrences do not happen. */
  async pauseSchedule(name: string): Promise<void> {
    return this.run(schedules.act(name, "pause"));
  }

  /** Nothing makes up for occurrences in the pause. */
  async resumeSchedule(name: string): Promise<void> {
    return this.run(schedules.act(name, "resume"));
  }

  /** Pushes a message of the schedule now; the message's key. */
  async runSchedule(name: string): Promise<string> {
    return this.run(schedules.run(name));
  }

  /** Messages that it has pushed stay. */
  async removeSchedule(name: string): Promise<void> {
    return this.run(schedules.remove(name));
  }

  /** The next times of a schedule that need not be saved. */
  async occurrences(query: schedules.OccurrencesQuery): Promise<schedules.Occurrence[]> {
    return this.run(schedules.occurrences(query));
  }

  /** Carries out a call, again and again where that is safe. Rejects with TarryError. */
  async run<T>(call: Call<T>, options: RunOptions = {}): Promise<T> {
    const attempts = new Attempts(call.repeatable, options.patience ?? this.patience);
    const timeout = (options.timeout ?? this.timeout) + (call.wait ?? 0);
    const { method, path, body } = call;
    for (;;) {
      if (this.#closed.signal.aborted) throw errorOf("closed", "the client was closed");
      let pause: number;
      let answer: Answer | undefined;
      try {
        const given = { ...(body === undefined ? {} : { body }), ...signalOf(options) };
        answer = await this.#transport.ask({ method, path, timeout, ...given });
      } catch (error) {
        if (error instanceof NotSent) pause = attempts.again(errorOf("unavailable", error.message));
        else if (error instanceof Lost) {
          pause = attempts.again(errorOf("unknown_outcome", error.message));
        } else throw error;
        await this.#wait(pause, options.signal);
        continue;
      }
      const said = attempts.read(call, answer);
      if ("value" in said) return said.value;
      await this.#wait(said.pause, options.signal);
    }
  }

  /** Carries out a single call, together with others of its kind. */
  single<T>(item: verbs.Item<T>): Promise<T> {
    return this.#joiner.ask(item.lane, item.json);
  }

  /** Carries out a batch; an item that failed has its error in its place. */
  async batch<T>(items: readonly verbs.Item<T>[]): Promise<Result<T>[]> {
    const lanes = new Map<string, number[]>();
    items.forEach(({ lane }, index) => {
      const indexes = lanes.get(lane.list);
      if (indexes) indexes.push(index);
      else lanes.set(lane.list, [index]);
    });
    const results = new Array<Result<T>>(items.length);
    for (const indexes of lanes.values()) {
      const { lane } = items[indexes[0] as number] as verbs.Item<T>;
      const jsons = indexes.map((index) => (items[index] as verbs.Item<T>).json);
      let said: Result<T>[];
      try {
        said = await this.run(laneCall(lane, jsons));
      } catch (error) {
        const whole = indexes.length === items.length && !(error instanceof UnknownOutcome);
        if (whole || !(error instanceof TarryError)) throw error;
        said = indexes.map(() => error);
      }
      indexes.forEach((index, at) => (results[index] = said[at] as Result<T>));
    }
    return results;
  }

  /** Waits; ends early with an error if the client is closed or the signal is set. */
  #wait(pause: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const signals = signal ? [signal, this.#closed.signal] : [this.#closed.signal];
      const end = (): void => {
        clearTimeout(timer);
        for (const one of signals) one.removeEventListener("abort", end);
        if (signal?.aborted) reject(signal.reason as Error);
        else if (this.#closed.signal.aborted) reject(errorOf("closed", "the client was closed"));
        else resolve();
      };
      const timer = setTimeout(end, pause);
      for (const one of signals) one.addEventListener("abort", end);
      if (signals.some((one) => one.aborted)) end();
    });
  }
}

export function signalOf(options: { signal?: AbortSignal }): { signal?: AbortSignal } {
  return options.signal ? { signal: options.signal } : {};
}
