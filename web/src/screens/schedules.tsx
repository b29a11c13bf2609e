// The schedules of the store: what is next, and the acts of each.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, may, queuePath, type Message, type Session } from "../api";
import { time } from "../format";
import { t } from "../i18n";
import { link, messageLink } from "../route";
import { Button, Chip, Confirm, Foreign, Loading, Notice, reasonOf, useLoaded } from "../ui";

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

async function load(pages: number): Promise<{ schedules: Schedule[]; more: boolean }> {
  const schedules: Schedule[] = [];
  let after = "";
  for (let i = 0; i < pages; i += 1) {
    const query = new URLSearchParams({ limit: String(page) });
    if (after !== "") query.set("after", after);
    const answer = await call<{ schedules: Schedule[]; next: string }>(
      "GET",
      `/v1/schedules?${query.toString()}`,
    );
    schedules.push(...answer.schedules);
    after = answer.next;
    if (after === "") break;
  }
  schedules.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { schedules, more: after !== "" };
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
  const [pages, setPages] = useState(1);
  const loaded = useLoaded(() => load(pages), [pages]);
  const [chosen, setChosen] = useState<string>();
  const [asked, setAsked] = useState<string>(); // to remove
  const [done, setDone] = useState<{ text: string; bad: boolean }>();
  const act = async (of: string, what: Act): Promise<void> => {
    setAsked(undefined);
    try {
      const answer =
        what === "remove"
          ? await call<{ outcome: string }>("DELETE", schedulePath(of))
          : await call<{ outcome: string; key?: string }>("POST", schedulePath(of, `/${what}`), {});
      setDone({ text: t("outcome", `${of}: ${answer.outcome}`), bad: false });
    } catch (error) {
      setDone({ text: reasonOf(error), bad: true });
    }
    loaded.reload();
  };
  return (
    <>
      <h1>{t("schedules")}</h1>
      {done !== undefined && <Notice kind={done.bad ? "bad" : "good"}>{done.text}</Notice>}
      <Loading of={loaded}>
        {({ schedules, more }) => (
          <>
            {schedules.length === 0 && <p>{t("schedules_none")}</p>}
            {schedules.length > 0 && (
              <table class="cards">
                <thead>
                  <tr>
                    <th scope="col">{t("name")}</th>
                    <th scope="col">{t("schedule_when")}</th>
                    <th scope="col">{t("queue")}</th>
                    <th scope="col">{t("schedule_next")}</th>
                    <th scope="col">{t("schedule_acts")}</th>
                  </tr>
                </thead>
                <tbody>
                  {schedules.map((one) => (
                    <tr key={one.name}>
                      <th scope="row">
                        <Foreign text={one.name} />
                      </th>
                      <td data-name={t("schedule_when")}>
                        <Foreign text={one.when} /> <Foreign text={one.zone ?? ""} />
                      </td>
                      <td data-name={t("queue")}>
                        <a href={link(["queue", one.queue])}>
                          <Foreign text={one.queue} />
                        </a>
                      </td>
                      <td data-name={t("schedule_next")}>
                        {one.paused ? (
                          <Chip kind="dead">{t("paused")}</Chip>
                        ) : (
                          <>{one.due_ms === undefined ? "–" : time(one.due_ms)}</>
                        )}
                      </td>
                      <td data-name={t("schedule_acts")}>
                        <span class="buttons">
                          <Button
                            label={`${t("schedule_show")} ${one.name}`}
                            onClick={() => {
                              setChosen(chosen === one.name ? undefined : one.name);
                            }}
                          >
                            {t("schedule_show")}
                          </Button>
                          <Button
                            label={`${t(one.paused ? "resume" : "pause")} ${one.name}`}
                            disabled={!may(session, "admin", one.queue)}
                            onClick={() => void act(one.name, one.paused ? "resume" : "pause")}
                          >
                            {t(one.paused ? "resume" : "pause")}
                          </Button>
                          <Button
                            label={`${t("act_run")} ${one.name}`}
                            disabled={!may(session, "push", one.queue)}
                            onClick={() => void act(one.name, "run")}
                          >
                            {t("act_run")}
                          </Button>
                          <Button
                            kind="danger"
                            label={`${t("schedule_remove")} ${one.name}`}
                            disabled={!may(session, "admin", one.queue)}
                            onClick={() => {
                              setAsked(one.name);
                            }}
                          >
                            {t("schedule_remove")}
                          </Button>
                        </span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            {more && (
              <Button
                onClick={() => {
                  setPages(pages + 1);
                }}
              >
                {t("more")}
              </Button>
            )}
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
          danger
          onYes={() => void act(asked, "remove")}
          onNo={() => {
            setAsked(undefined);
          }}
        />
      )}
    </>
  );
}
