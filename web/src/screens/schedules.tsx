// The schedules of the store: what is next, and the acts of each.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, may, queuePath, type Message, type Session } from "../api";
import { time } from "../format";
import { t } from "../i18n";
import { link, messageLink } from "../route";
import { Table } from "../table";
import { Button, Chip, Confirm, Foreign, Loading, useActs, useLoaded, usePages } from "../ui";

const page = 100;
const shownTimes = 5;
const searched = 1000;

interface Schedule {
  name: string;
  when: string;
  zone?: string;
  start_ms?: number;
  end_ms?: number;
  jitter_ms?: number;
  queue: string;
  payload?: string;
  missed: string;
  paused: boolean;
  due_ms?: number;
}

interface Occurrence {
  time_ms: number;
  due_ms: number;
  local: string;
}

type Act = "pause" | "resume" | "run" | "remove";

function schedulePath(name: string, rest = ""): string {
  return `/v1/schedules/${encodeURIComponent(name)}${rest}`;
}

async function load(after: string): Promise<{ items: Schedule[]; next: string }> {
  const query = new URLSearchParams({ limit: String(page) });
  if (after !== "") query.set("after", after);
  const answer = await call<{ schedules: Schedule[]; next: string }>(
    "GET",
    `/v1/schedules?${query.toString()}`,
  );
  return { items: answer.schedules, next: answer.next };
}

/** Its next times. */
async function times(of: Schedule): Promise<Occurrence[]> {
  const { name, when, zone, start_ms, end_ms, jitter_ms } = of;
  const body = { name, when, zone, start_ms, end_ms, jitter_ms, count: shownTimes };
  return (await call<{ occurrences: Occurrence[] }>("POST", "/v1/occurrences", body)).occurrences;
}

/** Its latest message that the queue still has or remembers. */
async function latest(of: Schedule): Promise<Message | undefined> {
  const query = new URLSearchParams({ prefix: `${of.name}@2`, limit: String(searched) });
  const found: Message[] = [];
  for (const state of ["", "dead", "remembered"]) {
    if (state !== "") query.set("state", state);
    const answer = await call<{ messages: Message[] }>(
      "GET",
      queuePath(of.queue, `/messages?${query.toString()}`),
    ).catch(() => ({ messages: [] }));
    found.push(...answer.messages);
  }
  found.sort((a, b) => ((a.key ?? "") < (b.key ?? "") ? 1 : -1));
  return found[0];
}

function Details({ of }: { of: Schedule }): JSX.Element {
  const loaded = useLoaded(
    async () => ({ next: await times(of), last: await latest(of) }),
    [of.name, of.when, of.zone, of.paused],
  );
  return (
    <section aria-label={of.name}>
      <h2>
        <Foreign text={of.name} />
      </h2>
      <Loading of={loaded}>
        {({ next, last }) => (
          <>
            <h3>{t("schedule_times")}</h3>
            {next.length === 0 && <p>{t("schedule_no_times")}</p>}
            <ol>
              {next.map((one) => (
                <li key={one.time_ms}>
                  {time(one.due_ms)} (<Foreign text={one.local} />)
                </li>
              ))}
            </ol>
            <h3>{t("schedule_last")}</h3>
            {last === undefined ? (
              <p>{t("schedule_no_last")}</p>
            ) : (
              <p>
                <a href={messageLink(of.queue, last)}>
                  <Foreign text={last.key ?? ""} />
                </a>{" "}
                <Chip kind={last.state}>{t(last.state)}</Chip>{" "}
                {last.settlement !== undefined && <Foreign text={last.settlement.how} />}
              </p>
            )}
            {of.payload !== undefined && of.payload !== "" && (
              <>
                <h3>{t("payload")}</h3>
                <p>
                  <Foreign text={of.payload} />
                </p>
              </>
            )}
          </>
        )}
      </Loading>
    </section>
  );
}

export function Schedules({ session }: { session: Session }): JSX.Element {
  const loaded = usePages(load);
  const [chosen, setChosen] = useState<string>();
  const [asked, setAsked] = useState<string>(); // to remove
  const { act, notice } = useActs(loaded.reload);
  const ask = (of: string, what: Act): void => {
    setAsked(undefined);
    void act(async () => {
      const answer = await (what === "remove"
        ? call<{ outcome: string }>("DELETE", schedulePath(of))
        : call<{ outcome: string }>("POST", schedulePath(of, `/${what}`), {}));
      return t("outcome", `${of}: ${answer.outcome}`);
    });
  };
  const button = (of: Schedule, what: Act): JSX.Element => {
    const name = t(what === "run" ? "act_run" : what === "remove" ? "schedule_remove" : what);
    return (
      <Button
        {...(what === "remove" ? { kind: "danger" } : {})}
        label={`${name} ${of.name}`}
        disabled={!may(session, what === "run" ? "push" : "admin", of.queue)}
        onClick={() => {
          if (what === "remove") setAsked(of.name);
          else ask(of.name, what);
        }}
      >
        {name}
      </Button>
    );
  };
  return (
    <>
      <h1>{t("schedules")}</h1>
      {notice}
      <Loading of={loaded}>
        {(schedules) => (
          <>
            <Table
              columns={[
                [t("name"), (one) => <Foreign text={one.name} />],
                [
                  t("schedule_when"),
                  (one) => (
                    <>
                      <Foreign text={one.when} /> <Foreign text={one.zone ?? ""} />
                    </>
                  ),
                ],
                [
                  t("queue"),
                  (one) => (
                    <a href={link(["queue", one.queue])}>
                      <Foreign text={one.queue} />
                    </a>
                  ),
                ],
                [
                  t("schedule_next"),
                  (one) =>
                    one.paused ? (
                      <Chip kind="dead">{t("paused")}</Chip>
                    ) : (
                      <>{one.due_ms === undefined ? "–" : time(one.due_ms)}</>
                    ),
                ],
                [
                  t("acts"),
                  (one) => (
                    <span class="buttons">
                      <Button
                        label={`${t("schedule_show")} ${one.name}`}
                        onClick={() => {
                          setChosen(chosen === one.name ? undefined : one.name);
                        }}
                      >
                        {t("schedule_show")}
                      </Button>
                      {button(one, one.paused ? "resume" : "pause")}
                      {button(one, "run")}
                      {button(one, "remove")}
                    </span>
                  ),
                ],
              ]}
              rows={[...schedules].sort((a, b) => (a.name < b.name ? -1 : 1))}
              id={(one) => one.name}
              none={t("schedules_none")}
              more={loaded.more}
            />
            {schedules
              .filter((one) => one.name === chosen)
              .map((one) => (
                <Details key={one.name} of={one} />
              ))}
          </>
        )}
      </Loading>
      {asked !== undefined && (
        <Confirm
          title={t("schedule_remove")}
          text={t("schedule_confirm", asked)}
          yes={t("schedule_remove")}
          danger
          onYes={() => {
            ask(asked, "remove");
          }}
          onNo={() => {
            setAsked(undefined);
          }}
        />
      )}
    </>
  );
}
