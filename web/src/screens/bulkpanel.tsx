// Acts on all messages that match: count first, then confirm, then watch the progress.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import type { BulkFilter } from "../api";
import { bulk, type Progress, type Verb } from "../bulk";
import { count, parseDuration, time } from "../format";
import { t, type Word } from "../i18n";
import { storeNow, useLive } from "../live";
import { Button, Confirm, Foreign, Input, Notice, reasonOf } from "../ui";

const typedAbove = 1000;

interface Plan {
  verb: Verb;
  ask: Word; // the question, which is also on the button that says yes
  matched: number;
}

/** The filter in words, so that nobody acts on more than was meant. */
function told(filter: BulkFilter): string {
  const { state, prefix, reason, due_from_ms: from, due_to_ms: to } = filter;
  const headers = Object.entries(filter.headers ?? {}).map(([name, value]) => `${name}=${value}`);
  const parts: [string, string | undefined][] = [
    [t("state"), state && t(state)],
    [t("find_prefix"), prefix],
    [t("headers"), headers.join(", ")],
    [t("reason"), reason],
    [t("due_from"), from === undefined ? undefined : time(from)],
    [t("due_to"), to === undefined ? undefined : time(to)],
  ];
  const given = parts.filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0
    ? t("bulk_whole")
    : given.map(([name, value]) => `${name}: ${value ?? ""}`).join("; ");
}

export function BulkPanel(props: {
  queue: string;
  filter: BulkFilter;
  verbs: ("cancel" | "run" | "move" | "revive")[];
  locked: boolean;
  onDone: () => void;
}): JSX.Element {
  const { queue, filter, verbs, locked } = props;
  const [by, setBy] = useState("");
  const [counting, setCounting] = useState<number>();
  const [plan, setPlan] = useState<Plan>();
  const [running, setRunning] = useState<{ all: number; so: Progress; ended: boolean }>();
  const [error, setError] = useState<string>();
  const going = useRef(true);
  const goes = (): boolean => going.current;
  const live = useLive();

  const prepare = async (ask: Word, verb: Verb): Promise<void> => {
    setError(undefined);
    setRunning(undefined);
    going.current = true;
    setCounting(0);
    try {
      const found = await bulk(queue, filter, verb, true, (so) => {
        setCounting(so.done);
        return goes();
      });
      if (goes()) setPlan({ verb, ask, matched: found.done });
    } catch (failed) {
      setError(reasonOf(failed));
    }
    setCounting(undefined);
  };
  const run = async ({ verb, matched }: Plan): Promise<void> => {
    setPlan(undefined);
    going.current = true;
    try {
      const so = await bulk(queue, filter, verb, false, (page) => {
        setRunning({ all: matched, so: page, ended: false });
        return goes();
      });
      setRunning({ all: matched, so, ended: true });
    } catch (failed) {
      setError(reasonOf(failed));
    }
    props.onDone();
  };
  const move = (): void => {
    const ms = parseDuration(by);
    if (ms === undefined || filter.due_from_ms === undefined || filter.due_to_ms === undefined) {
      setError(t("bulk_needs_range"));
      return;
    }
    void prepare("bulk_move", { action: "reschedule", by_ms: ms });
  };
  const busy = counting !== undefined || running?.ended === false;
  const off = locked || busy;
  return (
    <section class="panel" aria-label={t("bulk_all")}>
      <h2>{t("bulk_all")}</h2>
      {locked && <p class="quiet">{t("no_rights")}</p>}
      <div class="buttons">
        {verbs.includes("run") && (
          <Button
            disabled={off}
            onClick={() =>
              void prepare("bulk_run", {
                action: "reschedule",
                due_ms: Math.floor(storeNow(live)),
              })
            }
          >
            {t("act_run")}
          </Button>
        )}
        {verbs.includes("revive") && (
          <Button
            kind="main"
            disabled={off}
            onClick={() => void prepare("bulk_revive", { action: "revive" })}
          >
            {t("act_revive")}
          </Button>
        )}
        {verbs.includes("cancel") && (
          <Button
            kind="danger"
            disabled={off}
            onClick={() => void prepare("bulk_cancel", { action: "cancel" })}
          >
            {t("act_cancel_all")}
          </Button>
        )}
        {verbs.includes("move") && (
          <>
            <Input label={t("bulk_by")} value={by} disabled={off} onValue={setBy} />
            <Button disabled={off} onClick={move}>
              {t("act_move")}
            </Button>
          </>
        )}
        {busy && (
          <Button
            onClick={() => {
              going.current = false;
            }}
          >
            {t("bulk_stop")}
          </Button>
        )}
      </div>
      {counting !== undefined && <p role="status">{t("bulk_counting", count(counting))}</p>}
      {error !== undefined && <Notice kind="bad">{error}</Notice>}
      {plan !== undefined && (
        <Confirm
          title={`${t(plan.ask, count(plan.matched), by.trim())}?`}
          text={<Foreign text={t("bulk_in", queue, told(filter))} />}
          yes={t(plan.ask, count(plan.matched), by.trim())}
          typed={plan.matched > typedAbove ? plan.matched : undefined}
          danger={plan.verb.action === "cancel"}
          onYes={() => void run(plan)}
          onNo={() => {
            setPlan(undefined);
          }}
        />
      )}
      {running !== undefined && (
        <div role="status">
          <progress
            max={Math.max(1, running.all)}
            value={running.so.done}
            aria-label={t("bulk_all")}
          />
          <p>
            {t("bulk_done", count(running.so.done), count(running.all))}{" "}
            {Object.entries(running.so.outcomes)
              .map(([name, value]) => `${name}: ${count(value)}`)
              .join(", ")}
          </p>
          {running.so.failed > 0 && (
            <Notice kind="bad">
              {t("bulk_failed", count(running.so.failed), running.so.error ?? "")}
            </Notice>
          )}
        </div>
      )}
    </section>
  );
}
