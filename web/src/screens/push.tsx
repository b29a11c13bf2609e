// Push a message.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, may, queuePath, type Session } from "../api";
import { time } from "../format";
import { t } from "../i18n";
import { useLive } from "../live";
import { messageLink } from "../route";
import { Field, Input, KeyText, Notice, reasonOf } from "../ui";

interface Pushed {
  outcome: string;
  key?: string;
  key_base64?: string;
  due_ms: number;
}

export function Push({
  query,
  session,
}: {
  query: URLSearchParams;
  session: Session;
}): JSX.Element {
  const live = useLive();
  const [queue, setQueue] = useState(query.get("queue") ?? "");
  const [key, setKey] = useState("");
  const [delay, setDelay] = useState("");
  const [payload, setPayload] = useState("");
  const [ifExists, setIfExists] = useState("");
  const [pushed, setPushed] = useState<Pushed>();
  const [error, setError] = useState<string>();
  const push = async (): Promise<void> => {
    const body: Record<string, string> = { payload };
    if (key !== "") body["key"] = key;
    if (delay.trim() !== "") body["delay"] = delay.trim();
    if (ifExists !== "") body["if_exists"] = ifExists;
    setPushed(undefined);
    try {
      setPushed(await call<Pushed>("POST", queuePath(queue, "/messages"), body));
      setError(undefined);
    } catch (failed) {
      setError(reasonOf(failed));
    }
  };
  const allowed = queue === "" ? session.scopes.includes("push") : may(session, "push", queue);
  return (
    <>
      <h1>{t("push")}</h1>
      <form
        class="grid"
        onSubmit={(event) => {
          event.preventDefault();
          void push();
        }}
      >
        <Input label={t("queue")} required list="queues" value={queue} onValue={setQueue} />
        <datalist id="queues">
          {[...live.queues.keys()].slice(0, 100).map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <Input label={t("key")} help={t("key_help")} value={key} onValue={setKey} />
        <Input label={t("delay")} help={t("delay_help")} value={delay} onValue={setDelay} />
        <Field label={t("if_exists")}>
          <select
            value={ifExists}
            onChange={(event) => {
              setIfExists(event.currentTarget.value);
            }}
          >
            <option value="">–</option>
            {["reject", "keep", "replace", "earlier", "later"].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
        <Field label={t("payload")} wide>
          <textarea
            rows={6}
            value={payload}
            onInput={(event) => {
              setPayload(event.currentTarget.value);
            }}
          />
        </Field>
        <button class="main" disabled={!allowed}>
          {t("push")}
        </button>
        {!allowed && <p class="quiet">{t("no_rights")}</p>}
      </form>
      {pushed !== undefined && (
        <Notice kind="good">
          {t("push_done", pushed.outcome, time(pushed.due_ms))}{" "}
          <a href={messageLink(queue, pushed)}>
            <KeyText of={pushed} />
          </a>
        </Notice>
      )}
      {error !== undefined && <Notice kind="bad">{error}</Notice>}
    </>
  );
}
