// The messages of a queue, by state, prefix and due time; and acts on all that match.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import {
  call,
  may,
  queuePath,
  type BulkFilter,
  type Message,
  type Session,
  type State,
} from "../api";
import { fromNow, localInput, time } from "../format";
import { t } from "../i18n";
import { storeNow, useLive } from "../live";
import { go, link, messageLink } from "../route";
import { number, Table } from "../table";
import { Chip, Field, Foreign, Input, KeyText, Loading, usePages } from "../ui";
import { BulkPanel } from "./bulkpanel";

const states: State[] = ["scheduled", "ready", "leased", "dead", "remembered"];
const wanted = 100;
const mostPages = 20;
const lastTime = 253_402_300_800_000; // the year 10000

interface Page {
  messages: Message[];
  next?: string;
}

const typed = ["prefix", "header", "reason"] as const;

/** A time in the address; undefined if it is none that a field can show. */
function timeIn(query: URLSearchParams, name: "due_from" | "due_to"): number | undefined {
  const text = query.get(name) ?? "";
  const ms = Number(text);
  return text !== "" && Number.isSafeInteger(ms) && ms >= 0 && ms < lastTime ? ms : undefined;
}

export function filterOf(query: URLSearchParams): BulkFilter {
  const filter: BulkFilter = {};
  const state = query.get("state");
  if (state !== null) filter.state = state as State;
  const prefix = query.get("prefix");
  if (prefix !== null) filter.prefix = prefix;
  const from = timeIn(query, "due_from");
  if (from !== undefined) filter.due_from_ms = from;
  const to = timeIn(query, "due_to");
  if (to !== undefined) filter.due_to_ms = to;
  const reason = query.get("reason");
  if (reason !== null) filter.reason = reason;
  const [name, ...value] = query.get("header")?.split("=") ?? [];
  if (name !== undefined) filter.headers = { [name]: value.join("=") };
  return filter;
}

// The server looks through one page of the queue at a time, so pages are read until there are
// enough matches.
async function find(
  queue: string,
  query: URLSearchParams,
  after: string,
): Promise<{ items: Message[]; next: string }> {
  const found: Message[] = [];
  const asked = new URLSearchParams({ limit: String(wanted) });
  for (const [name, value] of query) {
    if ((name === "due_from" || name === "due_to") && timeIn(query, name) === undefined) continue;
    asked.set(name.startsWith("due_") ? `${name}_ms` : name, value);
    if (name !== "state" && name !== "prefix") asked.set("limit", "1000");
  }
  let next = after;
  for (let page = 0; page < mostPages; page += 1) {
    if (next !== "") asked.set("after", next);
    const answer = await call<Page>("GET", queuePath(queue, `/messages?${asked.toString()}`));
    found.push(...answer.messages);
    next = answer.next ?? "";
    if (next === "" || found.length >= wanted) break;
  }
  return { items: found, next };
}

function Filter({ queue, query }: { queue: string; query: URLSearchParams }): JSX.Element {
  const field = (name: string): string => query.get(name) ?? "";
  const [given, setGiven] = useState<Record<string, string>>({});
  const search = (changed: Record<string, string>): void => {
    const all = Object.fromEntries(query.entries());
    go(["queue", queue, "messages"], { ...all, ...given, ...changed });
  };
  const shownTime = (name: "due_from" | "due_to"): string => {
    const ms = timeIn(query, name);
    return ms === undefined ? "" : localInput(ms);
  };
  const timeField = (name: "due_from" | "due_to"): JSX.Element => (
    <Field label={t(name)}>
      <input
        type="datetime-local"
        step="1"
        value={shownTime(name)}
        onChange={(event) => {
          const value = event.currentTarget.value;
          search({ [name]: value === "" ? "" : String(new Date(value).getTime()) });
        }}
      />
    </Field>
  );
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        search({});
      }}
    >
      <Field label={t("state")}>
        <select
          value={field("state")}
          onChange={(event) => {
            search({ state: event.currentTarget.value });
          }}
        >
          <option value="">{t("state_any")}</option>
          {states.map((one) => (
            <option key={one} value={one}>
              {t(one)}
            </option>
          ))}
        </select>
      </Field>
      {typed.map((name) => (
        <Input
          key={name}
          label={t(`find_${name}`)}
          value={given[name] ?? field(name)}
          {...(name === "header" ? { pattern: ".+=.*", placeholder: "shop=eu" } : {})}
          onValue={(value) => {
            setGiven({ ...given, [name]: value });
          }}
        />
      ))}
      {timeField("due_from")}
      {timeField("due_to")}
      <button class="main">{t("search")}</button>
    </form>
  );
}

/** `query` must not change. */
export function Messages({
  queue,
  query,
  session,
}: {
  queue: string;
  query: URLSearchParams;
  session: Session;
}): JSX.Element {
  const live = useLive();
  const filter = filterOf(query);
  const loaded = usePages((after) => find(queue, query, after));
  const now = storeNow(live);
  const paused = live.queues.get(queue)?.paused === true;
  const dead = filter.state === "dead" || (filter.state === undefined && filter.reason);
  return (
    <>
      <h1>
        <a href={link(["queue", queue])}>
          <Foreign text={queue} />
        </a>
        : {t("messages")} {paused && <Chip kind="paused">{t("paused")}</Chip>}
      </h1>
      <Filter queue={queue} query={query} />
      {filter.state !== "remembered" && (
        <BulkPanel
          queue={queue}
          filter={filter}
          verbs={dead ? ["revive", "cancel"] : ["run", "move", "cancel"]}
          locked={!may(session, "admin", queue)}
          onDone={loaded.reload}
        />
      )}
      <Loading of={loaded}>
        {(messages) => (
          <Table
            columns={[
              [
                t("key"),
                (one) => (
                  <a href={messageLink(queue, one)}>
                    <KeyText of={one} />
                  </a>
                ),
              ],
              [t("state"), (one) => <Chip kind={one.state}>{t(one.state)}</Chip>],
              [
                t("due"),
                (one) => (
                  <span>
                    {fromNow(one.due_ms, now)} <small>{time(one.due_ms)}</small>
                  </span>
                ),
              ],
              [t("attempt"), (one) => one.attempt, number],
              [t("reason"), (one) => one.reason !== undefined && <Foreign text={one.reason} />],
            ]}
            rows={messages}
            id={(one) => `${one.id} ${one.key ?? one.key_base64 ?? ""}`}
            none={t("messages_none")}
            more={loaded.more}
          />
        )}
      </Loading>
    </>
  );
}
