// One queue: figures, due calendar, where its messages went, settings, pause.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, may, queuePath, type Queue, type Session, type Settings } from "../api";
import { count, duration, exact, parseDuration, rate, time } from "../format";
import { t } from "../i18n";
import { storeNow, useLive } from "../live";
import { link } from "../route";
import { Button, Chip, Confirm, Field, Foreign, Notice, reasonOf } from "../ui";
import { Calendar } from "./calendar";
import { HeatMap } from "./heatmap";

const ends = ["acked", "cancelled", "replaced", "expired", "purged", "moved_away"] as const;

function Flow({ queue }: { queue: Queue }): JSX.Element {
  const here = queue.scheduled + queue.ready + queue.leased + queue.dead;
  const of = (name: string): number => queue.counters[name] ?? 0;
  const ended = ends.reduce((sum, name) => sum + of(name), 0);
  const parts: [string, string, number][] = [
    ["scheduled", t("scheduled"), queue.scheduled],
    ["ready", t("ready"), queue.ready],
    ["leased", t("leased"), queue.leased],
    ["dead", t("dead"), queue.dead],
    ...ends.map((name): [string, string, number] => [name, t(name), of(name)]),
  ];
  const all = Math.max(1, here + ended);
  let x = 0;
  return (
    <section aria-labelledby="flow">
      <h2 id="flow">{t("flow")}</h2>
      <p class="quiet">{t("flow_adds", count(of("accepted")), count(here), count(ended))}</p>
      <svg class="flow" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(([kind, , value]) => {
          const width = (value / all) * 100;
          x += width;
          return <rect key={kind} class={kind} x={x - width} y={0} width={width} height={10} />;
        })}
      </svg>
      <ul class="legend">
        {parts.map(([kind, name, value]) => (
          <li key={kind} class={kind}>
            {name}: {count(value)}
          </li>
        ))}
      </ul>
    </section>
  );
}

const durations = [
  "lease_ms",
  "backoff_min_ms",
  "backoff_max_ms",
  "remember_ms",
  "dead_keep_ms",
] as const;

function SettingsForm({ queue, locked }: { queue: Queue; locked: boolean }): JSX.Element {
  const [given, setGiven] = useState<Partial<Record<keyof Settings, string>>>({});
  const [result, setResult] = useState<{ good: boolean; text: string }>();
  const shown = (name: keyof Settings): string => {
    const value = given[name];
    if (value !== undefined) return value;
    const is = queue.settings[name];
    return typeof is === "number" && name.endsWith("_ms") ? exact(is) : String(is);
  };
  const input =
    (name: keyof Settings) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
      setGiven({ ...given, [name]: event.currentTarget.value });
    };
  const save = async (): Promise<void> => {
    const patch: Record<string, string | number> = {};
    for (const [name, value] of Object.entries(given)) {
      if (name === "if_exists") patch[name] = value;
      else if (name === "max_attempts") patch[name] = Number(value);
      else patch[name.replace(/_ms$/, "")] = value;
    }
    if (Object.keys(patch).length === 0) {
      setResult({ good: true, text: t("unsaved") });
      return;
    }
    try {
      await call("PUT", queuePath(queue.queue), patch);
      setGiven({});
      setResult({ good: true, text: t("saved") });
    } catch (error) {
      setResult({ good: false, text: reasonOf(error) });
    }
  };
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">{t("settings")}</h2>
      <form
        class="grid"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {durations.map((name) => (
          <Field key={name} label={t(`set_${name}`)}>
            <input
              value={shown(name)}
              disabled={locked}
              aria-invalid={parseDuration(shown(name)) === undefined}
              onInput={input(name)}
            />
          </Field>
        ))}
        <Field label={t("set_max_attempts")}>
          <input
            type="number"
            min="1"
            max="65535"
            value={shown("max_attempts")}
            disabled={locked}
            onInput={input("max_attempts")}
          />
        </Field>
        <Field label={t("set_if_exists")}>
          <select value={shown("if_exists")} disabled={locked} onChange={input("if_exists")}>
            {["reject", "keep", "replace", "earlier", "later"].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
        <button class="main" disabled={locked}>
          {t("save")}
        </button>
      </form>
      {result !== undefined && <Notice kind={result.good ? "good" : "bad"}>{result.text}</Notice>}
    </section>
  );
}

export function QueueScreen({ name, session }: { name: string; session: Session }): JSX.Element {
  const live = useLive();
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<string>();
  const queue = live.queues.get(name);
  const rates = live.rates.get(name);
  const now = storeNow(live);
  if (queue === undefined) {
    return (
      <>
        <h1>
          <Foreign text={name} />
        </h1>
        <p aria-busy={live.store === undefined}>
          {live.store === undefined ? `${t("loading")} …` : t("no_queues")}
        </p>
      </>
    );
  }
  const act = async (verb: string): Promise<void> => {
    setAsking(false);
    try {
      await call("POST", queuePath(name, `/${verb}`), {});
      setError(undefined);
    } catch (failed) {
      setError(reasonOf(failed));
    }
  };
  const admin = may(session, "admin", name);
  const late = queue.oldest_ready_ms === undefined ? 0 : now - queue.oldest_ready_ms;
  const figure = (label: string, value: string, to?: string): JSX.Element => (
    <div>
      <dt>{label}</dt>
      <dd>{to === undefined ? value : <a href={to}>{value}</a>}</dd>
    </div>
  );
  const messages = (state: string): string => link(["queue", name, "messages"], { state });
  return (
    <>
      <h1>
        <Foreign text={name} />{" "}
        {queue.paused && (
          <Chip kind="paused">
            {queue.paused_until_ms === undefined
              ? t("paused")
              : t("paused_until", time(queue.paused_until_ms))}
          </Chip>
        )}
      </h1>
      <nav class="buttons" aria-label={name}>
        <a class="button" href={link(["queue", name, "messages"])}>
          {t("messages")}
        </a>
        <a class="button" href={link(["queue", name, "dead"])}>
          {t("dead")}
        </a>
        <a class="button" href={link(["push"], { queue: name })}>
          {t("push")}
        </a>
        {queue.paused ? (
          <Button disabled={!admin} onClick={() => void act("resume")}>
            {t("resume")}
          </Button>
        ) : (
          <Button
            disabled={!admin}
            onClick={() => {
              setAsking(true);
            }}
          >
            {t("pause")}
          </Button>
        )}
        {!admin && <Chip kind="quiet">{t("read_only")}</Chip>}
      </nav>
      {error !== undefined && <Notice kind="bad">{error}</Notice>}
      {asking && (
        <Confirm
          title={t("pause")}
          text={t("confirm_pause")}
          onYes={() => void act("pause")}
          onNo={() => {
            setAsking(false);
          }}
        />
      )}
      {late > 5000 && queue.waiting_claims === 0 && !queue.paused && queue.leased === 0 && (
        <Notice kind="note">{t("nobody_claims")}</Notice>
      )}
      <dl class="figures">
        {figure(t("scheduled"), count(queue.scheduled), messages("scheduled"))}
        {figure(t("ready"), count(queue.ready), messages("ready"))}
        {figure(t("leased"), count(queue.leased), messages("leased"))}
        {figure(t("dead"), count(queue.dead), link(["queue", name, "dead"]))}
        {figure(t("remembered"), count(queue.remembered))}
        {figure(t("rate_in"), rate(rates?.in ?? 0))}
        {figure(t("rate_out"), rate(rates?.out ?? 0))}
        {figure(
          t("oldest"),
          queue.oldest_ready_ms === undefined ? "–" : duration(Math.max(0, late)),
        )}
        {figure(t("claims_waiting"), count(queue.waiting_claims))}
      </dl>
      <Calendar queue={name} now={now} fresh={live.at} />
      <HeatMap queue={name} />
      <Flow queue={queue} />
      <SettingsForm key={name} queue={queue} locked={!admin} />
    </>
  );
}
