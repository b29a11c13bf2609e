// One verb on all messages that match a filter, page by page.
import { call, queuePath, type BulkFilter, type BulkPage } from "./api";

export interface Verb {
  action: "cancel" | "reschedule" | "revive" | "remove";
  due_ms?: number;
  by_ms?: number;
}

export interface Progress {
  done: number;
  failed: number;
  error?: string;
  outcomes: Record<string, number>;
}

/** Tells `progress` after each page; ends early when it returns false. */
export async function bulk(
  queue: string,
  filter: BulkFilter,
  verb: Verb,
  dryRun: boolean,
  progress: (so: Progress) => boolean,
): Promise<Progress> {
  let so: Progress = { done: 0, failed: 0, outcomes: {} };
  let after = "";
  do {
    const body: Record<string, unknown> = { ...filter, ...verb, dry_run: dryRun, limit: 1000 };
    if (after !== "") body["after"] = after;
    const page = await call<BulkPage>("POST", queuePath(queue, "/bulk"), body);
    const outcomes = { ...so.outcomes };
    for (const [name, value] of Object.entries(page.outcomes)) {
      outcomes[name] = (outcomes[name] ?? 0) + value;
    }
    const error = so.error ?? page.error?.detail;
    so = { done: so.done + page.matched, failed: so.failed + page.failed, outcomes };
    if (error !== undefined) so.error = error;
    after = page.next ?? "";
  } while (progress(so) && after !== "");
  return so;
}
