// How the server's answers become the library's values.

import type {
  Changed,
  Claim,
  Claimed,
  Forecast,
  History,
  HistoryEvent,
  Outcome,
  Page,
  Projection,
  Pushed,
  QueueInfo,
  Settings,
  Settled,
  State,
  Stored,
  Why,
} from "./model.js";
import type { Fields } from "./moments.js";

/** An answer, whose fields are as the OpenAPI document has them. */
type Said = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

function present(value: unknown, name: string): void {
  if (value === undefined) throw new Error(`it has no "${name}"`);
}

function bytesOf(said: Said, name: string): Buffer {
  const encoded = said[`${name}_base64`] as string | undefined;
  return encoded === undefined
    ? Buffer.from((said[name] as string | undefined) ?? "")
    : Buffer.from(encoded, "base64");
}

/** Adds `key` and `keyBytes`; the bytes are made only when somebody looks. */
class Keyed {
  readonly key: string;
  readonly #said: Said;

  constructor(said: Said) {
    this.#said = said;
    this.key = (said["key"] as string | undefined) ?? bytesOf(said, "key").toString("utf8");
  }

  get keyBytes(): Buffer {
    return bytesOf(this.#said, "key");
  }
}

class WithPayload extends Keyed {
  readonly #said: Said;

  constructor(said: Said) {
    super(said);
    this.#said = said;
  }

  get payload(): Buffer {
    return bytesOf(this.#said, "payload");
  }

  get text(): string {
    return (this.#said["payload"] as string | undefined) ?? this.payload.toString("utf8");
  }
}

function whenKnown(said: Said): { dueMs?: number } {
  return said["due_ms"] === undefined ? {} : { dueMs: said["due_ms"] as number };
}

export function readPushed(said: Said): Pushed {
  present(said["outcome"], "outcome");
  const rest = {
    outcome: said["outcome"] as Outcome,
    id: said["id"] as string,
    dueMs: said["due_ms"] as number,
  };
  return Object.assign(new Keyed(said), rest);
}

export function readChanged(said: Said): Changed {
  present(said["outcome"], "outcome");
  const ended = said["settlement"] as
    { how: "acked" | "cancelled" | "expired"; when_ms: number } | undefined;
  return Object.assign(new Keyed(said), {
    outcome: said["outcome"] as Outcome,
    ...whenKnown(said),
    ...(ended ? { settlement: { how: ended.how, whenMs: ended.when_ms } } : {}),
  });
}

export function readSettled(said: Said): Settled {
  present(said["outcome"], "outcome");
  return { outcome: said["outcome"] as Outcome, ...whenKnown(said) };
}

function readClaimed(said: Said): Claimed {
  present(said["receipt"], "receipt");
  return Object.assign(new WithPayload(said), {
    queue: said["queue"] as string,
    id: said["id"] as string,
    headers: (said["headers"] ?? {}) as Record<string, string>,
    receipt: said["receipt"] as string,
    attempt: said["attempt"] as number,
    leaseMs: said["lease_ms"] as number,
    dueMs: said["due_ms"] as number,
    claimedMs: said["claimed_ms"] as number,
    priority: said["priority"] as number,
  });
}

export function readClaim(said: Said): Claim {
  const messages = (said["messages"] as Said[]).map(readClaimed);
  const waited = said["waited_ms"] as number | undefined;
  return waited === undefined ? { messages } : { messages, waitedMs: waited };
}

export function readStored(said: Said): Stored {
  present(said["state"], "state");
  return Object.assign(new WithPayload(said), {
    queue: said["queue"] as string,
    id: said["id"] as string,
    state: said["state"] as State,
    dueMs: said["due_ms"] as number,
    attempt: said["attempt"] as number,
    priority: said["priority"] as number,
    headers: (said["headers"] ?? {}) as Record<string, string>,
    reason: (said["reason"] ?? "") as string,
    stopping: Boolean(said["stopping"]),
    ...(said["expire_at_ms"] === undefined ? {} : { expireAtMs: said["expire_at_ms"] as number }),
    raw: said,
  });
}

export function readPage(said: Said): Page {
  return {
    messages: (said["messages"] as Said[]).map(readStored),
    next: (said["next"] ?? "") as string,
  };
}

export function readSettings(said: Said): Settings {
  present(said["lease_ms"], "lease_ms");
  return {
    leaseMs: said["lease_ms"] as number,
    maxAttempts: said["max_attempts"] as number,
    backoffMinMs: said["backoff_min_ms"] as number,
    backoffMaxMs: said["backoff_max_ms"] as number,
    rememberMs: said["remember_ms"] as number,
    deadKeepMs: said["dead_keep_ms"] as number,
    ifExists: said["if_exists"] as Settings["ifExists"],
    objective: (said["objective"] ?? "none") as string,
    expireMs: (said["expire_ms"] ?? 0) as number,
    onExpiry: (said["on_expiry"] ?? "end") as Settings["onExpiry"],
    maxLeased: (said["max_leased"] ?? 0) as number,
    rate: (said["rate"] ?? "none") as string,
    group: (said["group"] ?? "none") as string,
    groupMaxLeased: (said["group_max_leased"] ?? 0) as number,
    history: (said["history"] ?? 0) as number,
    groupOrder: (said["group_order"] ?? "due") as Settings["groupOrder"],
  };
}

export function readQueue(said: Said): QueueInfo {
  return {
    queue: said["queue"] as string,
    scheduled: said["scheduled"] as number,
    ready: said["ready"] as number,
    leased: said["leased"] as number,
    dead: said["dead"] as number,
    remembered: said["remembered"] as number,
    waitingClaims: said["waiting_claims"] as number,
    paused: said["paused"] as boolean,
    settings: readSettings(said["settings"] as Said),
    counters: said["counters"] as Record<string, number>,
    raw: said,
  };
}

export function readWhy(said: Said): Why {
  present(said["cause"], "cause");
  return {
    cause: said["cause"] as string,
    text: said["text"] as string,
    message: readStored(said["message"] as Said),
    queue: readQueue(said["queue"] as Said),
  };
}

export function readHistory(said: Said): History {
  present(said["events"], "events");
  return { limit: said["limit"] as number, events: (said["events"] as Said[]).map(readEvent) };
}

function readEvent(said: Said): HistoryEvent {
  return {
    event: said["event"] as string,
    atMs: said["at_ms"] as number,
    attempt: (said["attempt"] ?? 0) as number,
    ...(said["due_ms"] === undefined ? {} : { dueMs: said["due_ms"] as number }),
    reason: (said["reason"] ?? "") as string,
    by: (said["by"] ?? "") as string,
  };
}

export function readForecast(said: Said): Forecast {
  present(said["buckets"], "buckets");
  const projection = said["projection"] as Said | undefined;
  return {
    widthMs: said["width_ms"] as number,
    dueNow: said["due_now"] as number,
    buckets: said["buckets"] as number[],
    later: said["later"] as number,
    ...(projection && { projection: readProjection(projection) }),
  };
}

function readProjection(said: Said): Projection {
  const spans = said["spans"] as Said[];
  return {
    rate: said["rate"] as number,
    arrivals: said["arrivals"] as number,
    ...("drained_in_ms" in said && { drainedInMs: said["drained_in_ms"] as number }),
    ...("clear_in_ms" in said && { clearInMs: said["clear_in_ms"] as number }),
    backlog: said["backlog"] as number,
    latestMs: said["latest_ms"] as number,
    latestInMs: said["latest_in_ms"] as number,
    spanMs: said["span_ms"] as number,
    spans: spans.map((span) => ({
      due: span["due"] as number,
      claimed: span["claimed"] as number,
      backlog: span["backlog"] as number,
      lateP50Ms: span["late_p50_ms"] as number,
      lateLastMs: span["late_last_ms"] as number,
    })),
  };
}

/** A field that must be there. */
export function readField<T>(name: string): (said: Said) => T {
  return (said) => {
    present(said[name], name);
    return said[name] as T;
  };
}

export function readPlain(said: Said): Fields {
  if (typeof said !== "object") throw new Error("it is no object");
  return said;
}
