// The verbs as calls: what they send, and how they are read.

import * as answers from "./answers.js";
import type { Call, ItemSaid, Lane } from "./calls.js";
import { errorIn, queuePath, resultsOf, withQuery } from "./calls.js";
import { errorOf } from "./errors.js";
import { messageBody, putBytes, putKeys } from "./model.js";
import type {
  Action,
  Bytes,
  Changed,
  Claim,
  Forecast,
  History,
  IfExists,
  Message,
  Page,
  Pushed,
  QueueInfo,
  Rates,
  Settings,
  Settled,
  State,
  Stored,
  Why,
} from "./model.js";
import { millisecondsOf, putDuration, putMoment } from "./moments.js";
import type { Duration, Fields, Moment } from "./moments.js";

/** An item of a batch, as JSON, and the lane that it goes by. */
export interface Item<T> {
  lane: Lane<T>;
  json: string;
}

/** When a message is to be due instead: `delay` from now, or `due`. */
export interface Move {
  delay?: Duration;
  due?: Moment;
  priority?: number;
}

/** How a claim ends. */
export interface Settlement {
  receipt: string;
  action: Action;
  /** With `retry`. The default is the queue's backoff. */
  delay?: Duration;
  /** With `bury`, and with `retry`, in case it was the last attempt. Cut off after 255 bytes. */
  reason?: string;
  priority?: number;
}

export interface ClaimOptions {
  /** At most so many messages. The default is 1. */
  max?: number;
  maxBytes?: number;
  /** How long the claims hold. The default is the queue's. */
  lease?: Duration;
  /** How long to wait for the first due message. The default is not to wait. */
  wait?: Duration;
  /** Gives the claim up: its connection is closed, and nothing is claimed. */
  signal?: AbortSignal;
}

export interface ListOptions {
  state?: State;
  prefix?: string;
  /** Messages on a page. */
  limit?: number;
}

/** Which messages a bulk verb takes, and what it does to them. */
export interface BulkOptions {
  prefix?: string;
  state?: State;
  dueFrom?: Moment;
  dueTo?: Moment;
  headers?: Record<string, string>;
  reason?: string;
  /** Of `reschedule`: the new due time. */
  due?: Moment;
  /** Of `reschedule`: how far to move each; milliseconds may be negative. */
  by?: Duration;
  dryRun?: boolean;
}

/** Settings to change. */
export interface SettingsPatch {
  lease?: Duration;
  maxAttempts?: number;
  backoffMin?: Duration;
  backoffMax?: Duration;
  remember?: Duration;
  deadKeep?: Duration;
  ifExists?: IfExists;
  /** Such as `99% within 1s`; `none` removes it. */
  objective?: string;
  expire?: Duration;
  onExpiry?: "end" | "dead";
  /** 0 removes the limit. */
  maxLeased?: number;
  /** Such as `100/1s burst 20`; `none` removes it. */
  rate?: string;
  /** What names a message's group: `key`, `header:NAME`, or `none`. */
  group?: string;
  /** 0 removes the limit. */
  groupMaxLeased?: number;
  /** Events of each message that are kept; 0 drops them. */
  history?: number;
  groupOrder?: "due" | "push";
}

export function pushItem(
  queue: string,
  message: Message,
  trace: Record<string, string>,
): Item<Pushed> {
  const body = messageBody(message);
  const headers = body["headers"] as Record<string, string> | undefined;
  if (trace["traceparent"] && !headers?.["traceparent"]) body["headers"] = { ...headers, ...trace };
  const lane = {
    path: queuePath(queue, "/push"),
    list: "messages",
    repeatable: false,
    read: answers.readPushed,
  };
  return { lane, json: JSON.stringify(body) };
}

function keyItem<T>(
  queue: string,
  verb: string,
  key: Bytes,
  repeatable: boolean,
  read: (said: never) => T,
): Item<T> {
  const body: Fields = {};
  putBytes(body, "keys", key);
  const [list, value] = Object.entries(body)[0] as [string, unknown];
  return {
    lane: { path: queuePath(queue, verb), list, repeatable, read },
    json: JSON.stringify(value),
  };
}

export function cancelItem(queue: string, key: Bytes): Item<Changed> {
  return keyItem(queue, "/cancel", key, false, answers.readChanged);
}

export function getItem(queue: string, key: Bytes): Item<Stored> {
  return keyItem(queue, "/get", key, true, answers.readStored);
}

export function rescheduleItem(queue: string, key: Bytes, move: Move): Item<Changed> {
  if ((move.delay === undefined) === (move.due === undefined)) {
    const both = `delay ${move.delay} and due ${String(move.due)}: give one of them`;
    throw errorOf("invalid_argument", both);
  }
  const body: Fields = {};
  putBytes(body, "key", key);
  putDuration(body, "delay", move.delay);
  putMoment(body, "due", move.due);
  if (move.priority !== undefined) body["priority"] = move.priority;
  const lane = {
    path: queuePath(queue, "/reschedule"),
    list: "items",
    repeatable: false,
    read: answers.readChanged,
  };
  return { lane, json: JSON.stringify(body) };
}

const settleLane: Lane<Settled> = {
  path: "/v1/settle",
  list: "items",
  repeatable: false,
  read: answers.readSettled,
};
const extendLane: Lane<Settled> = { ...settleLane, path: "/v1/extend", repeatable: true };

/** The text, cut off so that it has at most 255 bytes. */
function cut(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= 255 ? reason : bytes.toString("utf8", 0, 255).replace(/\ufffd+$/, "");
}

export function settleItem(one: Settlement): Item<Settled> {
  return { lane: settleLane, json: JSON.stringify(settleBody(one)) };
}

function settleBody(one: Settlement): Fields {
  const body: Fields = { receipt: one.receipt, action: one.action };
  putDuration(body, "delay", one.delay);
  if (one.reason !== undefined) body["reason"] = cut(one.reason);
  if (one.priority !== undefined) body["priority"] = one.priority;
  return body;
}

export function extendItem(receipt: string, lease: Duration | undefined): Item<Settled> {
  const body: Fields = { receipt };
  putDuration(body, "lease", lease);
  return { lane: extendLane, json: JSON.stringify(body) };
}

export function claim(
  queues: readonly string[],
  options: ClaimOptions,
  keys?: readonly Bytes[],
  anyState?: boolean,
  settle: readonly Settlement[] = [],
): Call<Claim> {
  const body: Fields = { queues };
  if (keys) putKeys(body, keys);
  if (anyState) body["any_state"] = true;
  if (options.max !== undefined) body["max"] = options.max;
  if (options.maxBytes !== undefined) body["max_bytes"] = options.maxBytes;
  putDuration(body, "lease", options.lease);
  const wait = options.wait === undefined ? 0 : millisecondsOf("wait", options.wait);
  if (wait) body["wait_ms"] = wait;
  if (settle.length > 0) body["settle"] = settle.map(settleBody);
  const read = (said: ClaimSaid): Claim => readClaim(said, settle.length);
  return post("/v1/claim", body, read, false, wait);
}

interface ClaimSaid extends ItemSaid {
  settled?: ItemSaid[];
}

function readClaim(said: ClaimSaid, settlements: number): Claim {
  const claim = answers.readClaim(said);
  if (settlements === 0) return claim;
  const results = said.settled as ItemSaid[];
  const settled = resultsOf(results, settlements, answers.readSettled);
  return { ...claim, settled, error: errorIn(said) };
}

function post<T>(
  path: string,
  body: Fields,
  read: (said: never) => T,
  repeatable = false,
  wait = 0,
): Call<T> {
  return { method: "POST", path, body: JSON.stringify(body), read, repeatable, wait };
}

function look<T>(path: string, read: (said: never) => T): Call<T> {
  return { method: "GET", path, read, repeatable: true };
}

export function listPage(queue: string, options: ListOptions, after?: string): Call<Page> {
  const query = { ...options, after: after || undefined };
  return look(withQuery(queuePath(queue, "/messages"), query), answers.readPage);
}

const readCount = answers.readField<number>("count");

export function revive(queue: string, keys: readonly Bytes[] | undefined): Call<number> {
  const body: Fields = {};
  if (keys) putKeys(body, keys);
  else body["all"] = true;
  return post(queuePath(queue, "/revive"), body, readCount);
}

export function purge(queue: string): Call<number> {
  return post(queuePath(queue, "/purge"), {}, readCount);
}

export function remove(queue: string, force: boolean): Call<number> {
  const path = withQuery(queuePath(queue), { force: force ? true : undefined });
  return { method: "DELETE", path, read: readCount, repeatable: false };
}

export function pause(queue: string, until: Moment | undefined): Call<boolean> {
  const body: Fields = {};
  putMoment(body, "until", until);
  return post(queuePath(queue, "/pause"), body, answers.readField<boolean>("paused"), true);
}

export function resume(queue: string): Call<boolean> {
  return post(queuePath(queue, "/resume"), {}, answers.readField<boolean>("paused"), true);
}

export function configure(queue: string, patch: SettingsPatch): Call<Settings> {
  const body: Fields = {};
  putDuration(body, "lease", patch.lease);
  putDuration(body, "backoff_min", patch.backoffMin);
  putDuration(body, "backoff_max", patch.backoffMax);
  putDuration(body, "remember", patch.remember);
  putDuration(body, "dead_keep", patch.deadKeep);
  if (patch.maxAttempts !== undefined) body["max_attempts"] = patch.maxAttempts;
  if (patch.ifExists !== undefined) body["if_exists"] = patch.ifExists;
  if (patch.objective !== undefined) body["objective"] = patch.objective;
  putDuration(body, "expire", patch.expire);
  if (patch.onExpiry !== undefined) body["on_expiry"] = patch.onExpiry;
  if (patch.maxLeased !== undefined) body["max_leased"] = patch.maxLeased;
  if (patch.rate !== undefined) body["rate"] = patch.rate;
  if (patch.group !== undefined) body["group"] = patch.group;
  if (patch.groupMaxLeased !== undefined) body["group_max_leased"] = patch.groupMaxLeased;
  if (patch.history !== undefined) body["history"] = patch.history;
  if (patch.groupOrder !== undefined) body["group_order"] = patch.groupOrder;
  const call = post(queuePath(queue), body, answers.readSettings, true);
  return { ...call, method: "PUT" };
}

export function info(queue: string): Call<QueueInfo> {
  return look(queuePath(queue), answers.readQueue);
}

export function why(queue: string, key: Bytes): Call<Why> {
  const query: Record<string, string> = {};
  putBytes(query, "key", key);
  return look(withQuery(queuePath(queue, "/why"), query), answers.readWhy);
}

export function history(queue: string, key: Bytes): Call<History> {
  const query: Record<string, string> = {};
  putBytes(query, "key", key);
  return look(withQuery(queuePath(queue, "/history"), query), answers.readHistory);
}

export function queues(): Call<QueueInfo[]> {
  return look("/v1/queues", (said: { queues: never[] }) => said.queues.map(answers.readQueue));
}

export function stats(queue: string | undefined): Call<Fields> {
  return look(withQuery("/v1/stats", { queue }), answers.readPlain);
}

export function forecast(
  queue: string,
  width: Duration | undefined,
  buckets: number | undefined,
  rates: Rates | undefined,
): Call<Forecast> {
  const text = typeof width === "number" ? `${Math.ceil(width)}ms` : width;
  const query = {
    buckets,
    width: text,
    rate: rates?.rate,
    arrivals: rates?.arrivals === 0 ? undefined : rates?.arrivals,
  };
  return look(withQuery(queuePath(queue, "/forecast"), query), answers.readForecast);
}

export function health(): Call<Fields> {
  return look("/healthz", answers.readPlain);
}

export function ready(): Call<Fields> {
  return look("/readyz", answers.readPlain);
}

/** A page of a bulk verb. */
export interface BulkPage {
  matched: number;
  failed: number;
  outcomes: Record<string, number>;
  next?: string;
}

export function bulkPage(
  queue: string,
  action: string,
  options: BulkOptions,
  after: string | undefined,
): Call<BulkPage> {
  const body: Fields = { action, dry_run: options.dryRun ?? false };
  putMoment(body, "due_from", options.dueFrom);
  putMoment(body, "due_to", options.dueTo);
  putMoment(body, "due", options.due);
  putDuration(body, "by", options.by);
  for (const name of ["prefix", "state", "reason", "headers"] as const) {
    if (options[name] !== undefined) body[name] = options[name];
  }
  if (after) body["after"] = after;
  return post(queuePath(queue, "/bulk"), body, (said: BulkPage) => said);
}

export function advance(by: Duration): Call<number> {
  const body: Fields = {};
  putDuration(body, "by", by);
  return post("/v1/clock/advance", body, answers.readField<number>("advanced_ms"));
}
