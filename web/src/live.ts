// The store's figures, live: one stream of server-sent events, closed while the page is hidden.
import { useEffect, useState } from "preact/hooks";

import { call, type Queue, type Store } from "./api";

export interface Rates {
  in: number;
  out: number;
}

export interface Live {
  connected: boolean;
  trouble?: string;
  now: number; // the store's clock at the last event
  at: number; // performance.now() at the last event
  queues: Map<string, Queue>;
  rates: Map<string, Rates>;
  store?: Store;
}

interface Event {
  now_ms?: number;
  full?: boolean;
  queues?: Queue[];
  store?: Store;
  trouble?: { detail?: string };
}

let state: Live = {
  connected: false,
  now: Date.now(),
  at: performance.now(),
  queues: new Map(),
  rates: new Map(),
};
const lookers = new Set<(live: Live) => void>();
let source: EventSource | undefined;
let retry: number | undefined;
const before = new Map<string, { at: number; in: number; out: number }>();

function publish(next: Live): void {
  state = next;
  for (const tell of lookers) tell(next);
}

// Over some ten seconds, so that a single push does not make the figure jump.
function rateOf(queue: Queue, now: number): Rates {
  const accepted = queue.counters["accepted"] ?? 0;
  const acked = queue.counters["acked"] ?? 0;
  const last = before.get(queue.queue);
  const old = state.rates.get(queue.queue) ?? { in: 0, out: 0 };
  before.set(queue.queue, { at: now, in: accepted, out: acked });
  if (last === undefined || now <= last.at) return old;
  const seconds = (now - last.at) / 1000;
  const weight = Math.min(1, seconds / 5);
  const mix = (was: number, is: number): number => {
    const mixed = was + weight * (is - was);
    return mixed < 0.05 ? 0 : mixed;
  };
  return {
    in: mix(old.in, Math.max(0, accepted - last.in) / seconds),
    out: mix(old.out, Math.max(0, acked - last.out) / seconds),
  };
}

function take(event: Event): void {
  if (event.trouble !== undefined) {
    publish({ ...state, connected: true, trouble: event.trouble.detail ?? "" });
    return;
  }
  const now = performance.now();
  const queues = event.full === true ? new Map<string, Queue>() : new Map(state.queues);
  for (const queue of event.queues ?? []) queues.set(queue.queue, queue);
  const rates = new Map<string, Rates>();
  for (const queue of queues.values()) rates.set(queue.queue, rateOf(queue, now));
  const next: Live = { connected: true, now: event.now_ms ?? Date.now(), at: now, queues, rates };
  if (event.store !== undefined) next.store = event.store;
  publish(next);
}

function open(): void {
  window.clearTimeout(retry);
  source?.close();
  source = undefined;
  if (document.hidden || lookers.size === 0) return;
  source = new EventSource("/console/events");
  source.onmessage = (event: MessageEvent<string>) => {
    take(JSON.parse(event.data) as Event);
  };
  source.onerror = () => {
    source?.close();
    publish({ ...state, connected: false });
    retry = window.setTimeout(reopen, 2000);
  };
}

// The stream does not say whether the server is away or the session has ended; this request does.
function reopen(): void {
  if (document.hidden || lookers.size === 0) return;
  call("GET", "/console/session").then(open, () => {
    retry = window.setTimeout(reopen, 2000);
  });
}

document.addEventListener("visibilitychange", open);

/** The figures; the component is drawn again when there are new ones. */
export function useLive(): Live {
  const [live, setLive] = useState(state);
  useEffect(() => {
    lookers.add(setLive);
    setLive(state);
    if (lookers.size === 1 && source === undefined) open();
    return () => {
      lookers.delete(setLive);
      // Another screen may begin to look right after this one.
      window.setTimeout(() => {
        if (lookers.size === 0) open();
      }, 100);
    };
  }, []);
  return live;
}

/** The store's clock now. */
export function storeNow(live: Live): number {
  return live.now + (performance.now() - live.at);
}
