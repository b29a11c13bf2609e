// One queue: figures, due calendar, where its messages went, settings, pause.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, may, queuePath, type Queue, type Session, type Settings } from "../api";
import { count, duration, exact, parseDuration, rate, time } from "../format";
import { t } from "../i18n";
import { storeNow, useLive } from "../live";
import { link } from "../route";
import { Button, Chip, Confirm, Field, Foreign, Input, Notice, reasonOf, useActs } from "../ui";
import { Calendar } from "./calendar";
import { Flow } from "./flow";
import { HeatMap } from "./heatmap";

const durations = [
  "lease_ms",
  "backoff_min_ms",
  "backoff_max_ms",
  "remember_ms",
  "dead_keep_ms",
  "expire_ms",
] as const;

const counts = ["max_attempts", "max_leased", "group_max_leased", "history"] as const;

const texts = ["objective", "rate", "group"] as const; // "none" if there is none

// What the server leaves out.
const defaults: Partial<Settings> = {
  expire_ms: 0,
  on_expiry: "end",
  max_leased: 0,
  group_max_leased: 0,
  history: 0,
  group_order: "due",
};

const rules = {
  if_exists: ["reject", "keep", "replace", "earlier", "later"],
  on_expiry: ["end", "dead"],
  group_order: ["due", "push"],
} as const;

function SettingsForm({ queue, locked }: { queue: Queue; locked: boolean }): JSX.Element {
  const [given, setGiven] = useState<Partial<Record<keyof Settings, string>>>({});
  const { act, notice } = useActs();
  const shown = (name: keyof Settings): string => {
    const value = given[name];
    if (value !== undefined) return value;
    const is = queue.settings[name] ?? defaults[name];
    return typeof is === "number" && name.endsWith("_ms") ? exact(is) : String(is ?? "none");
  };
  const set = (name: keyof Settings) => (value: string) => {
    setGiven({ ...given, [name]: value });
  };
  const choice = (name: keyof typeof rules): JSX.Element => (
    <Field label={t(`set_${name}`)}>
      <select
        value={shown(name)}
        disabled={locked}
        onChange={(event) => {
          set(name)(event.currentTarget.value);
        }}
      >
        {rules[name].map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </Field>
  );
  const save = async (): Promise<string> => {
    const patch: Record<string, string | number> = {};
    for (const [name, value] of Object.entries(given)) {
      patch[name.replace(/_ms$/, "")] = (counts as readonly string[]).includes(name)
        ? Number(value)
        : value;
    }
    if (Object.keys(patch).length === 0) return t("unsaved");
    await call("PUT", queuePath(queue.queue), patch);
    setGiven({});
    return t("saved");
  };
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">{t("settings")}</h2>
      <form
        class="grid"
        onSubmit={(event) => {
          event.preventDefault();
          void act(save);
        }}
      >
        {durations.map((name) => (
          <Input
            key={name}
            label={t(`set_${name}`)}
            value={shown(name)}
            disabled={locked}
            aria-invalid={parseDuration(shown(name)) === undefined}
            onValue={set(name)}
          />
        ))}
        {counts.map((name) => (
          <Input
            key={name}
            label={t(`set_${name}`)}
            type="number"
            min={name === "max_attempts" ? "1" : "0"}
            max={name === "max_attempts" ? "65535" : "1000000"}
            value={shown(name)}
            disabled={locked}
            onValue={set(name)}
          />
        ))}
        {choice("if_exists")}
        {choice("on_expiry")}
        {choice("group_order")}
        {texts.map((name) => (
          <Input
            key={name}
            label={t(`set_${name}`)}
            value={shown(name)}
            disabled={locked}
            onValue={set(name)}
          />
        ))}
        <button class="main" disabled={locked}>
          {t("save")}
        </button>
      </form>
      {notice}
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
        )}{" "}
        {queue.objective?.burning === true && <Chip kind="dead">{t("burning")}</Chip>}
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
          yes={t("pause")}
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
      {queue.objective !== undefined && (
        <p>
          {t("set_objective")} {queue.settings.objective}:{" "}
          {t(
            "late_of",
            count(queue.objective.late),
            count(queue.objective.claims),
            count(queue.objective.late_unclaimed),
            count(queue.objective.late_paused),
            count(queue.objective.late_engine),
            count(queue.objective.late_limited),
          )}{" "}
          {queue.objective.overdue && t("overdue")}
        </p>
      )}
      <Calendar queue={name} now={now} fresh={live.at} locked={!admin} />
      <HeatMap queue={name} />
      <Flow queues={[queue]} />
      <SettingsForm key={name} queue={queue} locked={!admin} />
    </>
  );
}
