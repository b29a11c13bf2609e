// What verbs take and answer.

import type { Duration, Fields, Moment } from "./moments.js";
import { putDuration, putMoment } from "./moments.js";
import type { Result } from "./calls.js";
import { errorOf } from "./errors.js";
import type { TarryError } from "./errors.js";

/** Text, or bytes that need not be UTF-8. */
export type Bytes = string | Uint8Array;

/** What a verb did. docs/semantics.md has the table. */
export const Outcome = {
  PUSHED: "pushed",
  EXISTS: "exists",
  KEPT: "kept",
  REPLACED: "replaced",
  MOVED: "moved",
  IN_FLIGHT: "in_flight",
  SETTLED: "settled",
  REVIVED: "revived",
  CANCELLED: "cancelled",
  STOPPING: "stopping",
  UNKNOWN: "unknown",
  RESCHEDULED: "rescheduled",
  DONE: "done",
  STALE: "stale",
  ADDED: "added",
} as const;
export type Outcome = (typeof Outcome)[keyof typeof Outcome];

/** What a push does if its key is taken. */
export type IfExists = "reject" | "keep" | "replace" | "earlier" | "later";

/** Where a message is in its life. */
export type State = "scheduled" | "ready" | "leased" | "dead" | "remembered";

/** How a claim ends. */
export type Action = "ack" | "retry" | "release" | "bury";

/** How a message is pushed. Without `delay` and `due` it is due now. */
export interface PushOptions {
  /** Its name, to cancel and reschedule it by. Without one, the store makes one. */
  key?: Bytes;
  delay?: Duration;
  due?: Moment;
  headers?: Record<string, string>;
  /** Among due messages, lower goes first. The default is 1024. */
  priority?: number;
  ifExists?: IfExists;
  maxAttempts?: number;
  /** It ends undelivered so long after its due time; else the queue's. */
  expire?: Duration;
  /** It ends undelivered at this moment. Instead of `expire`. */
  expireAt?: Moment;
  /** Due up to this later, when the queue has least to do; the answer says when. */
  spread?: Duration;
}

/** A message to push. */
export interface Message extends PushOptions {
  payload?: Bytes;
}

/** What a push answers: the message that is there now. */
export interface Pushed {
  readonly outcome: Outcome;
  readonly id: string;
  readonly key: string;
  /** The key's bytes; `key` shows those that are not UTF-8 as U+FFFD. */
  readonly keyBytes: Buffer;
  readonly dueMs: number;
}

/** What became of a message that was cancelled or rescheduled. */
export interface Changed {
  readonly outcome: Outcome;
  readonly key: string;
  readonly keyBytes: Buffer;
  /** When it is due now, if that is known. */
  readonly dueMs?: number;
  /** Of outcome `settled`: how and when it had ended. */
  readonly settlement?: {
    readonly how: "acked" | "cancelled" | "expired";
    readonly whenMs: number;
  };
}

/** What became of a claim. */
export interface Settled {
  /** `done`, or `stale`: the claim had ended before. */
  readonly outcome: Outcome;
  /** Of a retry: when it is due again. */
  readonly dueMs?: number;
}

/** A claimed message. `receipt` names this claim, for settle and extend. */
export interface Claimed {
  readonly queue: string;
  readonly id: string;
  readonly key: string;
  readonly keyBytes: Buffer;
  readonly payload: Buffer;
  /** The payload as UTF-8 text. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly receipt: string;
  readonly attempt: number;
  readonly leaseMs: number;
  readonly dueMs: number;
  /** When, by the store's clock. */
  readonly claimedMs: number;
  readonly priority: number;
}

/**
 * The answer to a claim. `waitedMs` as in docs/guide/http.md; absent if it is not known. `settled`:
 * results of the settlements that went with it; `error`: why it failed after them.
 */
export interface Claim {
  readonly messages: Claimed[];
  readonly waitedMs?: number;
  readonly settled?: Result<Settled>[];
  readonly error?: TarryError | undefined;
}

/** A message as `get` and `list` show it. `raw` is the server's whole answer. */
export interface Stored {
  readonly queue: string;
  readonly id: string;
  readonly key: string;
  readonly keyBytes: Buffer;
  readonly state: State;
  readonly dueMs: number;
  readonly attempt: number;
  readonly priority: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty in lists. */
  readonly payload: Buffer;
  readonly text: string;
  /** Why it is dead. */
  readonly reason: string;
  /** It was cancelled while leased. */
  readonly stopping: boolean;
  /** When it expires, if it does. */
  readonly expireAtMs?: number;
  readonly raw: Fields;
}

/** A page of a list. An empty `next` means the end. */
export interface Page {
  readonly messages: Stored[];
  readonly next: string;
}

/** What a bulk verb did, over all pages. */
export interface Bulk {
  readonly matched: number;
  readonly outcomes: Partial<Record<Outcome, number>>;
  readonly failed: number;
}

/** Settings of a queue, in milliseconds. */
export interface Settings {
  readonly leaseMs: number;
  readonly maxAttempts: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  readonly rememberMs: number;
  readonly deadKeepMs: number;
  readonly ifExists: IfExists;
  /** The lateness objective, such as `99% within 1s`; or `none`. */
  readonly objective: string;
  readonly expireMs: number;
  readonly onExpiry: "end" | "dead";
  /** How many messages may be leased at once, over all consumers; 0: no limit. */
  readonly maxLeased: number;
  /** How many are claimed at most, such as `100/1s burst 20`; or `none`. */
  readonly rate: string;
  /** What names a message's group: `key`, `header:NAME`, or `none`. */
  readonly group: string;
  /** How many messages of a group may be leased at once; 0: no limit. */
  readonly groupMaxLeased: number;
  /** How many events of each message are kept; 0: none. */
  readonly history: number;
  /** In which order a group's messages come; `push`: that of the pushes, one at a time. */
  readonly groupOrder: "due" | "push";
}

/** A queue's figures. `raw` is the server's whole answer. */
export interface QueueInfo {
  readonly queue: string;
  readonly scheduled: number;
  readonly ready: number;
  readonly leased: number;
  readonly dead: number;
  readonly remembered: number;
  readonly waitingClaims: number;
  readonly paused: boolean;
  readonly settings: Settings;
  readonly counters: Readonly<Record<string, number>>;
  readonly raw: Fields;
}

/** An event of a message's history, `claimed` for instance. */
export interface HistoryEvent {
  readonly event: string;
  readonly atMs: number;
  /** The attempt that it concerns; 0: none had begun. */
  readonly attempt: number;
  /** The new due time, if it sets one. */
  readonly dueMs?: number;
  /** Why, and who claimed the message; empty if that is not known. */
  readonly reason: string;
  readonly by: string;
}

/** What has happened to a message: its last events, oldest first. */
export interface History {
  /** The queue's setting `history`; 0: it keeps none. */
  readonly limit: number;
  readonly events: readonly HistoryEvent[];
}

/**
 * Why a message has not been delivered, or what has become of it. `cause` is one of those in
 * docs/reference/command-line.md, `not_due` for instance; `text` says it in a sentence.
 */
export interface Why {
  readonly cause: string;
  readonly text: string;
  readonly message: Stored;
  readonly queue: QueueInfo;
}

/** How many messages are due when. */
export interface Forecast {
  readonly widthMs: number;
  readonly dueNow: number;
  readonly buckets: readonly number[];
  readonly later: number;
  /** Only if the forecast was asked with rates. */
  readonly projection?: Projection;
}

/** Messages a second. */
export interface Rates {
  /** Claims of all consumers together, from 0.001. */
  readonly rate: number;
  /** New messages that are due at once. The default is 0. */
  readonly arrivals?: number;
}

/** What becomes of a forecast at given rates. Times are from now. */
export interface Projection {
  readonly rate: number;
  readonly arrivals: number;
  /** Until no message is ready for the first time. Absent: never at this rate. */
  readonly drainedInMs?: number;
  /** Until the last backlog ends. Absent: never at this rate. */
  readonly clearInMs?: number;
  /** At the end of the last span. */
  readonly backlog: number;
  /** The greatest lateness. */
  readonly latestMs: number;
  readonly latestInMs: number;
  readonly spanMs: number;
  readonly spans: readonly ProjectedSpan[];
}

export interface ProjectedSpan {
  readonly due: number;
  readonly claimed: number;
  /** At its end. */
  readonly backlog: number;
  readonly lateP50Ms: number;
  readonly lateLastMs: number;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text, or undefined if the bytes are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

export function base64(bytes: Bytes): string {
  return Buffer.from(bytes as Uint8Array).toString("base64");
}

/** Sets `name`, or `name_base64` if the value is not UTF-8. */
export function putBytes(fields: Fields, name: string, value: Bytes | undefined): void {
  if (value === undefined) return;
  const text = typeof value === "string" ? value : utf8(value);
  if (text === undefined) fields[`${name}_base64`] = base64(value);
  else fields[name] = text;
}

/** Sets `name` to the list, or `name_base64` if one of them is not UTF-8. */
export function putKeys(fields: Fields, keys: readonly Bytes[]): void {
  const texts = keys.map((key) => (typeof key === "string" ? key : utf8(key)));
  if (texts.includes(undefined)) fields["keys_base64"] = keys.map((key) => base64(key));
  else fields["keys"] = texts;
}

/** The message as the server takes it. */
export function messageBody(message: Message): Fields {
  if (message.delay !== undefined && message.due !== undefined) {
    const both = `delay ${message.delay} and due ${String(message.due)}: give one of them`;
    throw errorOf("invalid_argument", both);
  }
  const body: Fields = {};
  putBytes(body, "key", message.key);
  putBytes(body, "payload", message.payload);
  putDuration(body, "delay", message.delay);
  putMoment(body, "due", message.due);
  if (message.headers) body["headers"] = message.headers;
  if (message.priority !== undefined) body["priority"] = message.priority;
  if (message.ifExists !== undefined) body["if_exists"] = message.ifExists;
  if (message.maxAttempts !== undefined) body["max_attempts"] = message.maxAttempts;
  putDuration(body, "expire", message.expire);
  putMoment(body, "expire_at", message.expireAt);
  putDuration(body, "spread", message.spread);
  return body;
}
