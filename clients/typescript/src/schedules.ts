// Schedules: what their verbs send, and how the answers are read.

import { withQuery } from "./calls.js";
import type { Call } from "./calls.js";
import { putBytes } from "./model.js";
import type { Bytes, Outcome } from "./model.js";
import { putDuration, putMoment } from "./moments.js";
import type { Duration, Fields, Moment } from "./moments.js";

/** What becomes of occurrences that no server could push for a minute. The default is `one`. */
export type Missed = "skip" | "one" | "all";

/** When the occurrences of a schedule happen. */
export interface ScheduleTimes {
  /** `0 9 * * MON-FRI`, `@daily` or `every 15m`. */
  when: string;
  /** `Europe/Berlin`. The default is UTC. */
  zone?: string;
  /** No occurrence before it. */
  start?: Moment;
  /** No occurrence after it. */
  end?: Moment;
  /** Each occurrence is due up to this much later. */
  jitter?: Duration;
}

/** What a schedule pushes, and when. */
export interface ScheduleDefinition extends ScheduleTimes {
  /** It gets the messages. */
  queue: string;
  payload?: Bytes;
  headers?: Record<string, string>;
  priority?: number;
  missed?: Missed;
  paused?: boolean;
}

/** A schedule as the server keeps it. */
export interface Schedule {
  readonly name: string;
  readonly when: string;
  readonly zone?: string;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly jitterMs: number;
  readonly queue: string;
  readonly payload: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly missed: Missed;
  readonly paused: boolean;
  /** The next occurrence; absent if there is none, or while it is paused. */
  readonly nextMs?: number;
  /** When that one is due, with the jitter. */
  readonly dueMs?: number;
}

/** One of a schedule's times. */
export interface Occurrence {
  readonly timeMs: number;
  /** With the jitter. */
  readonly dueMs: number;
  /** On the local clock of the zone, RFC 3339. */
  readonly local: string;
}

/** Which occurrences of a schedule that need not be saved. */
export interface OccurrencesQuery extends ScheduleTimes {
  /** The schedule's name: the jitter follows from it. */
  name?: string;
  /** Occurrences after this time. The default is now. */
  from?: Moment;
  /** Up to 1,000. The default is 5. */
  count?: number;
}

interface Page {
  schedules: Schedule[];
  next: string;
}

function pathOf(name: string, verb = ""): string {
  return `/v1/schedules/${encodeURIComponent(name)}${verb}`;
}

function timesOf(times: ScheduleTimes): Fields {
  const body: Fields = { when: times.when };
  if (times.zone !== undefined) body["zone"] = times.zone;
  putMoment(body, "start", times.start);
  putMoment(body, "end", times.end);
  putDuration(body, "jitter", times.jitter);
  return body;
}

const milliseconds = [
  ["start_ms", "startMs"],
  ["end_ms", "endMs"],
  ["next_ms", "nextMs"],
  ["due_ms", "dueMs"],
] as const;

function readSchedule(said: Fields): Schedule {
  const times: { -readonly [name in (typeof milliseconds)[number][1]]?: number } = {};
  for (const [name, own] of milliseconds) {
    if (said[name] !== undefined) times[own] = said[name] as number;
  }
  const coded = said["payload_base64"] as string | undefined;
  const text = (said["payload"] ?? "") as string;
  return {
    ...times,
    name: said["name"] as string,
    when: said["when"] as string,
    ...(said["zone"] === undefined ? {} : { zone: said["zone"] as string }),
    jitterMs: (said["jitter_ms"] ?? 0) as number,
    queue: said["queue"] as string,
    payload: coded === undefined ? Buffer.from(text) : Buffer.from(coded, "base64"),
    headers: (said["headers"] ?? {}) as Record<string, string>,
    priority: said["priority"] as number,
    missed: said["missed"] as Missed,
    paused: said["paused"] as boolean,
  };
}

export function put(name: string, schedule: ScheduleDefinition): Call<Outcome> {
  const body = timesOf(schedule);
  putBytes(body, "payload", schedule.payload);
  for (const field of ["queue", "headers", "priority", "missed", "paused"] as const) {
    if (schedule[field] !== undefined) body[field] = schedule[field];
  }
  return {
    method: "PUT",
    path: pathOf(name),
    body: JSON.stringify(body),
    read: (said: { outcome: Outcome }) => said.outcome,
    repeatable: false,
  };
}

export function get(name: string): Call<Schedule> {
  return { method: "GET", path: pathOf(name), read: readSchedule, repeatable: true };
}

export function page(prefix: string | undefined, after: string | undefined): Call<Page> {
  return {
    method: "GET",
    path: withQuery("/v1/schedules", { prefix, after, limit: 1000 }),
    read: (said: { schedules: Fields[]; next: string }) => ({
      schedules: said.schedules.map(readSchedule),
      next: said.next,
    }),
    repeatable: true,
  };
}

export function act(name: string, verb: "pause" | "resume"): Call<void> {
  const path = pathOf(name, `/${verb}`);
  return { method: "POST", path, read: () => undefined, repeatable: true };
}

export function run(name: string): Call<string> {
  const read = (said: { key: string }): string => said.key;
  return { method: "POST", path: pathOf(name, "/run"), read, repeatable: false };
}

export function remove(name: string): Call<void> {
  return { method: "DELETE", path: pathOf(name), read: () => undefined, repeatable: false };
}

export function occurrences(query: OccurrencesQuery): Call<Occurrence[]> {
  const body = timesOf(query);
  putMoment(body, "from", query.from);
  if (query.name !== undefined) body["name"] = query.name;
  if (query.count !== undefined) body["count"] = query.count;
  return {
    method: "POST",
    path: "/v1/occurrences",
    body: JSON.stringify(body),
    read: (said: { occurrences: { time_ms: number; due_ms: number; local: string }[] }) =>
      said.occurrences.map((one) => ({
        timeMs: one.time_ms,
        dueMs: one.due_ms,
        local: one.local,
      })),
    repeatable: true,
  };
}
