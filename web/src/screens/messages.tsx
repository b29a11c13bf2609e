// The messages of a queue, by state, prefix and due time; and acts on all that match.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import {
  call,
  may,
  queuePath,
  type BulkFilter,
  type Message,
  type Session,
  type State,
} from "../api";
import { fromNow, localInput } from "../format";
import { t } from "../i18n";
import { storeNow, useLive } from "../live";
import { go, link, messageLink } from "../route";
import { Chip, Field, Foreign, KeyText, Notice, reasonOf } from "../ui";
import { BulkPanel } from "./bulkpanel";

const states: State[] = ["scheduled", "ready", "leased", "dead", "remembered"];
const wanted = 100;
const mostPages = 20;

interface Page {
  messages: Message[];
  next?: string;
}

export function filterOf(query: URLSearchParams): BulkFilter {
  const filter: BulkFilter = {};
  const state = query.get("state");
  if (state !== null) filter.state = state as State;
  const prefix = query.get("prefix");
  if (prefix !== null) filter.prefix = prefix;
  const from = query.get("due_from");
  if (from !== null) filter.due_from_ms = Number(from);
  const to = query.get("due_to");
  if (to !== null) filter.due_to_ms = Number(to);
  return filter;
}

function matches(message: Message, filter: BulkFilter): boolean {
  return (
    message.due_ms >= (filter.due_from_ms ?? -Infinity) &&
    message.due_ms < (filter.due_to_ms ?? Infinity)
  );
}

// The server's list knows no due time, so pages are read until there are enough matches.
async function find(queue: string, filter: BulkFilter, after: string): Promise<Page> {
  const found: Message[] = [];
  let next = after;
  for (let page = 0; page < mostPages; page += 1) {
    const query = new URLSearchParams({ limit: filter.due_to_ms === undefined ? "100" : "1000" });
    if (filter.state !== undefined) query.set("state", filter.state);
    if (filter.prefix !== undefined) query.set("prefix", filter.prefix);
    if (next !== "") query.set("after", next);
    const answer = await call<Page>("GET", queuePath(queue, `/messages?${query.toString()}`));
    found.push(...answer.messages.filter((one) => matches(one, filter)));
    next = answer.next ?? "";
    if (next === "" || found.length >= wanted) break;
  }
  return { messages: found, next };
}

function Filter({ queue, query }: { queue: string; query: URLSearchParams }): JSX.Element {
  const field = (name: string): string => query.get(name) ?? "";
  const [prefix, setPrefix] = useState(field("prefix"));
  const set = (name: string, value: string): void => {
    const all = Object.fromEntries(query.entries());
    go(["queue", queue, "messages"], { ...all, [name]: value });
  };
  const timeField = (name: "due_from" | "due_to"): JSX.Element => (
    <Field label={t(name)}>
      <input
        type="datetime-local"
        step="1"
        value={field(name) === "" ? "" : localInput(Number(field(name)))}
        onChange={(event) => {
          const value = event.currentTarget.value;
          set(name, value === "" ? "" : String(new Date(value).getTime()));
        }}
      />
    </Field>
  );
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        set("prefix", prefix);
      }}
    >
      <Field label={t("state")}>
        <select
          value={field("state")}
          onChange={(event) => {
            set("state", event.currentTarget.value);
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
      <Field label={t("prefix")}>
        <input
          value={prefix}
          onInput={(event) => {
            setPrefix(event.currentTarget.value);
          }}
        />
      </Field>
      {timeField("due_from")}
      {timeField("due_to")}
      <button class="main">{t("search")}</button>
    </form>
  );
}

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
  const address = query.toString();
  const [page, setPage] = useState<Page>();
  const [error, setError] = useState<string>();
  const [turn, setTurn] = useState(0);
  const filter = filterOf(query);
  const load = async (after: string, before: Message[]): Promise<void> => {
    try {
      const found = await find(queue, filter, after);
      setPage({ messages: [...before, ...found.messages], next: found.next ?? "" });
      setError(undefined);
    } catch (failed) {
      setError(reasonOf(failed));
    }
  };
  useEffect(() => {
    setPage(undefined);
    void load("", []);
  }, [queue, address, turn]);
  const now = storeNow(live);
  const usable = filter.state !== "remembered" && filter.state !== "dead";
  return (
    <>
      <h1>
        <a href={link(["queue", queue])}>
          <Foreign text={queue} />
        </a>
        : {t("messages")}
      </h1>
      <Filter key={address} queue={queue} query={query} />
      {error !== undefined && <Notice kind="bad">{error}</Notice>}
      {page === undefined && error === undefined && <p aria-busy="true">{t("loading")} …</p>}
      {page?.messages.length === 0 && <p>{t("messages_none")}</p>}
      {page !== undefined && page.messages.length > 0 && (
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">{t("key")}</th>
              <th scope="col">{t("state")}</th>
              <th scope="col">{t("due")}</th>
              <th scope="col">{t("attempt")}</th>
              <th scope="col">{t("reason")}</th>
            </tr>
          </thead>
          <tbody>
            {page.messages.map((one) => (
              <tr key={`${one.id} ${one.key ?? one.key_base64 ?? ""}`}>
                <th scope="row">
                  <a href={messageLink(queue, one)}>
                    <KeyText of={one} />
                  </a>
                </th>
                <td data-name={t("state")}>
                  <Chip kind={one.state}>{t(one.state)}</Chip>
                </td>
                <td data-name={t("due")}>{fromNow(one.due_ms, now)}</td>
                <td data-name={t("attempt")}>{one.attempt}</td>
                <td data-name={t("reason")}>
                  {one.reason === undefined ? "" : <Foreign text={one.reason} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {page?.next !== undefined && page.next !== "" && (
        <button type="button" onClick={() => void load(page.next ?? "", page.messages)}>
          {t("more")}
        </button>
      )}
      {usable && (
        <BulkPanel
          key={`bulk ${address}`}
          queue={queue}
          filter={filter}
          verbs={["run", "move", "cancel"]}
          locked={!may(session, "admin", queue)}
          onDone={() => {
            setTurn(turn + 1);
          }}
        />
      )}
    </>
  );
}
