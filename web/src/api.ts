// The server's API, as the console uses it. Every request goes to the server that served the page.

export type State = "scheduled" | "ready" | "leased" | "dead" | "remembered";
export type Scope = "read" | "push" | "consume" | "admin";

export interface Settings {
  lease_ms: number;
  max_attempts: number;
  backoff_min_ms: number;
  backoff_max_ms: number;
  remember_ms: number;
  dead_keep_ms: number;
  if_exists: string;
  /** These are absent unless they are set. */
  expire_ms?: number;
  on_expiry?: string;
  max_leased?: number;
  rate?: string;
  group?: string;
  group_max_leased?: number;
  history?: number;
  group_order?: string;
  objective?: string;
}

/** How a queue keeps its objective, as the server measured it in the last hour. */
export interface Objective {
  burning: boolean;
  overdue: boolean;
  claims: number;
  late: number;
  late_engine: number;
  late_unclaimed: number;
  late_paused: number;
  late_limited: number;
}

export interface Queue {
  queue: string;
  settings: Settings;
  scheduled: number;
  ready: number;
  leased: number;
  dead: number;
  remembered: number;
  waiting_claims: number;
  paused: boolean;
  paused_until_ms?: number;
  oldest_ready_ms?: number;
  counters: Record<string, number>;
  objective?: Objective;
}

export interface Store {
  engine: string;
  served?: string;
  durable?: boolean;
  unreadable?: { queue: string; error: { detail?: string; code?: string } }[];
  lateness: { count: number; p50_ms: number; p99_ms: number; max_ms: number };
  disk_bytes: number;
  live_bytes: number;
}

/** A key is text, or bytes in Base64 if it is not UTF-8. */
export interface Key {
  key?: string;
  key_base64?: string;
}

export interface Message extends Key {
  queue: string;
  id: string;
  state: State;
  stopping?: boolean;
  due_ms: number;
  pushed_ms?: number;
  priority: number;
  attempt: number;
  max_attempts?: number;
  expire_at_ms?: number;
  tallies: Record<string, number>;
  lease_left_ms?: number;
  settlement?: { how: string; when_ms: number };
  kept_until_ms?: number;
  reason?: string;
  paused?: boolean;
  paused_until_ms?: number;
  holder?: string;
  headers: Record<string, string>;
  header_list?: { name?: string; value?: string; name_base64?: string; value_base64?: string }[];
  payload?: string;
  payload_base64?: string;
}

export interface Session {
  login: boolean;
  name: string;
  scopes: Scope[];
  queues: string[];
  version: string;
  test_clock: boolean;
}

export interface BulkFilter {
  state?: State;
  prefix?: string;
  due_from_ms?: number;
  due_to_ms?: number;
  reason?: string;
  headers?: Record<string, string>;
}

export interface BulkPage {
  looked: number;
  matched: number;
  outcomes: Record<string, number>;
  failed: number;
  error?: { detail?: string };
  next?: string;
}

/** An answer that is not 200, or no answer at all (status 0). */
export class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

type Listener = () => void;
let onLoggedOut: Listener = () => undefined;

/** Calls `listener` when the server says that nobody is logged in. */
export function whenLoggedOut(listener: Listener): void {
  onLoggedOut = listener;
}

async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const headers: Record<string, string> = { "X-Tarry-Console": "1" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const request: RequestInit = { method, headers, cache: "no-store", credentials: "same-origin" };
  if (body !== undefined) request.body = JSON.stringify(body);
  let answer: Response;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Failure(0, "");
  }
  if (answer.ok) return answer;
  let detail = `${answer.status} ${answer.statusText}`;
  try {
    const problem = (await answer.json()) as { detail?: string; outcome?: string };
    if (problem.detail !== undefined) detail = problem.detail;
  } catch {
    // An answer of something between us and the server.
  }
  if (answer.status === 401 && path !== "/console/login") onLoggedOut();
  throw new Failure(answer.status, detail);
}

export async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  return (await (await send(method, path, body)).json()) as Answer;
}

export async function text(path: string): Promise<string> {
  return (await send("GET", path)).text();
}

export function queuePath(queue: string, rest = ""): string {
  return `/v1/queues/${encodeURIComponent(queue)}${rest}`;
}

/** The body fields that name one key in a list. */
export function keysOf(key: Key): Record<string, string[]> {
  return key.key !== undefined ? { keys: [key.key] } : { keys_base64: [key.key_base64 ?? ""] };
}

export function keyOf(key: Key): Key {
  return key.key !== undefined ? { key: key.key } : { key_base64: key.key_base64 ?? "" };
}

/** The same as the query of a URL. */
export function keyQuery(key: Key): string {
  return key.key !== undefined
    ? `key=${encodeURIComponent(key.key)}`
    : `key_base64=${encodeURIComponent(key.key_base64 ?? "")}`;
}

/** Whether a pattern of a token ("orders.*", "*") matches the queue. */
export function matches(pattern: string, queue: string): boolean {
  return pattern.endsWith("*") ? queue.startsWith(pattern.slice(0, -1)) : pattern === queue;
}

/** Whether the token has the scope on every queue. */
export function mayAll(session: Session, scope: Scope): boolean {
  return session.scopes.includes(scope) && session.queues.includes("*");
}

export function may(session: Session, scope: Scope, queue: string): boolean {
  return session.scopes.includes(scope) && session.queues.some((one) => matches(one, queue));
}
