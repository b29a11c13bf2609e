// One message: its life, its payload, and what can be done with it.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import {
  call,
  keyOf,
  keyQuery,
  keysOf,
  may,
  queuePath,
  type Key,
  type Message,
  type Session,
} from "../api";
import { duration, fromNow, parseDuration, time, visible } from "../format";
import { t } from "../i18n";
import { storeNow, useLive } from "../live";
import { link } from "../route";
import {
  Button,
  Chip,
  Confirm,
  Foreign,
  Input,
  KeyText,
  Loading,
  Pairs,
  useActs,
  useLoaded,
} from "../ui";
import { Payload } from "./payload";

interface Results {
  results: { outcome?: string; error?: { detail?: string } }[];
}

function outcomeOf(answer: Results): string {
  const first = answer.results[0];
  return t("outcome", first?.outcome ?? first?.error?.detail ?? "?");
}

function curlOf(queue: string, key: Key): string {
  const url = `${location.origin}${queuePath(queue, `/message?${keyQuery(key)}`)}`;
  // A quote ends the shell's string, is written by itself, and begins the string again.
  return `curl -H "Authorization: Bearer $TARRY_TOKEN" '${url.replaceAll("'", `'\\''`)}'`;
}

function Headers({ message }: { message: Message }): JSX.Element | null {
  const list =
    message.header_list?.map(
      (one) => [one.name ?? one.name_base64 ?? "", one.value ?? one.value_base64 ?? ""] as const,
    ) ?? Object.entries(message.headers);
  if (list.length === 0) return null;
  return (
    <section>
      <h2>{t("headers")}</h2>
      <Pairs of={list.map(([name, value]) => [name, <Foreign text={value} />])} />
    </section>
  );
}

function Life({ message, now }: { message: Message; now: number }): JSX.Element {
  const points: [string, number][] = [];
  if (message.pushed_ms !== undefined) points.push([t("pushed"), message.pushed_ms]);
  points.push([t("due"), message.due_ms]);
  if (message.expire_at_ms !== undefined) points.push([t("expires"), message.expire_at_ms]);
  if (message.settlement !== undefined)
    points.push([message.settlement.how, message.settlement.when_ms]);
  if (message.kept_until_ms !== undefined) points.push([t("kept_until"), message.kept_until_ms]);
  return (
    <ol class="life">
      {points.map(([name, at]) => (
        <li key={name} class={at <= now ? "past" : ""}>
          <b>{name}</b> <span>{time(at)}</span> <small>{fromNow(at, now)}</small>
        </li>
      ))}
    </ol>
  );
}

type Cause =
  | "ended"
  | "dead"
  | "not_due"
  | "retry_not_due"
  | "leased"
  | "stopping"
  | "paused"
  | "relay_down"
  | "limited"
  | "no_consumer"
  | "consumers_busy"
  | "offered";

/** Why it has not been delivered: the cause in the page's language, and the server's sentence. */
function Why({ queue, message }: { queue: string; message: Message }): JSX.Element {
  const loaded = useLoaded(
    () =>
      call<{ cause: Cause; text: string }>("GET", queuePath(queue, `/why?${keyQuery(message)}`)),
    [queue, message],
  );
  return (
    <Loading of={loaded}>
      {(why) => (
        <p class="why">
          <b>{t(`cause_${why.cause}`)}</b>{" "}
          <span lang="en">
            {/* The server quotes commands as `tarry queue resume orders`. */}
            {why.text
              .split("`")
              .map((part, at) =>
                at % 2 === 1 ? <code>{visible(part)}</code> : <Foreign text={part} />,
              )}
          </span>
        </p>
      )}
    </Loading>
  );
}

interface HistoryEvent {
  event: string;
  at_ms: number;
  attempt?: number;
  due_ms?: number;
  reason?: string;
  by?: string;
}

/** What has happened to it, if its queue keeps histories. */
function History({ queue, message }: { queue: string; message: Message }): JSX.Element {
  const loaded = useLoaded(
    () =>
      call<{ events: HistoryEvent[] }>("GET", queuePath(queue, `/history?${keyQuery(message)}`))
        // Not every store keeps histories, and nothing else on the page depends on them.
        .catch(() => ({ events: [] as HistoryEvent[] })),
    [queue, message],
  );
  return (
    <Loading of={loaded}>
      {({ events }) =>
        events.length === 0 ? (
          <></>
        ) : (
          <section class="history">
            <h2>{t("history")}</h2>
            <table>
              <thead>
                <tr>
                  <th>{t("history_time")}</th>
                  <th>{t("history_event")}</th>
                  <th>{t("attempt")}</th>
                  <th>{t("history_details")}</th>
                </tr>
              </thead>
              <tbody>
                {events.map((one) => (
                  <tr>
                    <td>{time(one.at_ms)}</td>
                    <td>{one.event}</td>
                    <td>{one.attempt ?? "–"}</td>
                    <td>
                      {one.due_ms !== undefined && `${t("due")} ${time(one.due_ms)}`}
                      <Foreign text={one.by ?? one.reason ?? ""} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )
      }
    </Loading>
  );
}

export function MessageScreen({
  queue,
  of,
  session,
}: {
  queue: string;
  of: Key;
  session: Session;
}): JSX.Element {
  const live = useLive();
  const now = storeNow(live);
  const loaded = useLoaded(
    () => call<Message>("GET", queuePath(queue, `/message?${keyQuery(of)}`)),
    [queue, of.key, of.key_base64],
  );
  const [by, setBy] = useState("");
  const [asking, setAsking] = useState(false);
  const acts = useActs(loaded.reload);
  const act = async (work: () => Promise<string>): Promise<void> => {
    setAsking(false);
    await acts.act(work);
  };
  const reschedule = (when: { delay_ms: number } | { due_ms: number }) => (): Promise<string> =>
    call<Results>("POST", queuePath(queue, "/reschedule"), {
      items: [{ ...keyOf(of), ...when }],
    }).then(outcomeOf);
  const move = (message: Message): void => {
    const ms = parseDuration(by);
    const at = new Date(by).getTime();
    if (ms === undefined && Number.isNaN(at)) {
      acts.tell({ good: false, text: t("delay_help") });
      return;
    }
    const due = ms === undefined ? at : Math.max(1, message.due_ms + ms);
    void act(reschedule({ due_ms: due }));
  };
  const bury = async (): Promise<string> => {
    const claimed = await call<{ messages: { receipt: string }[] }>("POST", "/v1/claim", {
      queues: [queue],
      ...keysOf(of),
      any_state: true,
    });
    const receipt = claimed.messages[0]?.receipt;
    if (receipt === undefined) return t("messages_none");
    return outcomeOf(
      await call<Results>("POST", "/v1/settle", {
        items: [{ receipt, action: "bury", reason: "buried by hand" }],
      }),
    );
  };
  const pushes = may(session, "push", queue);
  return (
    <>
      <h1>
        <a href={link(["queue", queue])}>
          <Foreign text={queue} />
        </a>
        : <KeyText of={of} />
      </h1>
      {acts.notice}
      <Loading of={loaded}>
        {(message) => {
          const waits = message.state === "scheduled" || message.state === "ready";
          const dead = message.state === "dead";
          return (
            <>
              <p>
                <Chip kind={message.state}>{t(message.state)}</Chip>{" "}
                {message.stopping === true && <Chip kind="paused">{t("stopping")}</Chip>}{" "}
                {message.paused === true && <Chip kind="paused">{t("paused")}</Chip>}
              </p>
              <Why queue={queue} message={message} />
              <div class="buttons">
                <Button
                  {...(waits ? { kind: "main" as const } : {})}
                  disabled={!pushes || !waits}
                  onClick={() => void act(reschedule({ delay_ms: 0 }))}
                >
                  {t("act_run")}
                </Button>
                <Button
                  kind="danger"
                  disabled={!pushes || message.state === "remembered"}
                  onClick={() => {
                    setAsking(true);
                  }}
                >
                  {t("act_cancel")}
                </Button>
                <Button
                  {...(dead ? { kind: "main" as const } : {})}
                  disabled={!may(session, "admin", queue) || !dead}
                  onClick={() =>
                    void act(() =>
                      call<{ count: number }>("POST", queuePath(queue, "/revive"), keysOf(of)).then(
                        (one) => t("outcome", `revived ${one.count}`),
                      ),
                    )
                  }
                >
                  {t("act_revive")}
                </Button>
                <Button
                  disabled={!may(session, "consume", queue) || !waits}
                  onClick={() => void act(bury)}
                >
                  {t("act_bury")}
                </Button>
                <Button
                  onClick={() =>
                    void act(() =>
                      navigator.clipboard.writeText(curlOf(queue, of)).then(() => t("copied")),
                    )
                  }
                >
                  {t("copy_curl")}
                </Button>
                <Button onClick={loaded.reload}>{t("reload")}</Button>
              </div>
              <form
                class="buttons"
                onSubmit={(event) => {
                  event.preventDefault();
                  move(message);
                }}
              >
                <Input
                  label={t("move_to")}
                  value={by}
                  disabled={!pushes || !waits}
                  onValue={setBy}
                />
                <button disabled={!pushes || !waits}>{t("act_move")}</button>
              </form>
              {!pushes && <p class="quiet">{t("no_rights")}</p>}
              {asking && (
                <Confirm
                  title={t("act_cancel")}
                  text={t("confirm_cancel")}
                  yes={t("act_cancel_one")}
                  danger
                  onYes={() =>
                    void act(() =>
                      call<Results>("POST", queuePath(queue, "/cancel"), keysOf(of)).then(
                        outcomeOf,
                      ),
                    )
                  }
                  onNo={() => {
                    setAsking(false);
                  }}
                />
              )}
              <Life message={message} now={now} />
              <Pairs
                of={[
                  ["id", message.id],
                  [t("priority"), message.priority],
                  [
                    t("attempt"),
                    message.max_attempts === undefined
                      ? message.attempt
                      : `${message.attempt} / ${message.max_attempts}`,
                  ],
                  [
                    t("tallies"),
                    Object.entries(message.tallies)
                      .filter(([, value]) => value > 0)
                      .map(([name, value]) => `${name}: ${value}`)
                      .join(", ") || "–",
                  ],
                  [t("reason"), message.reason && <Foreign text={message.reason} />],
                  [
                    t("lease_left"),
                    message.lease_left_ms === undefined
                      ? undefined
                      : duration(message.lease_left_ms),
                  ],
                  [t("holder"), message.holder && <Foreign text={message.holder} />],
                ]}
              />
              <History queue={queue} message={message} />
              <Headers message={message} />
              <section>
                <h2>{t("payload")}</h2>
                <Payload message={message} />
              </section>
            </>
          );
        }}
      </Loading>
    </>
  );
}
