// All queues: counts, rates, and the oldest message that is due.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Queue } from "../api";
import { bytes, count, duration, rate } from "../format";
import { t } from "../i18n";
import { storeNow, useLive } from "../live";
import { link } from "../route";
import { Chip, Field, Foreign, Notice } from "../ui";

const shownAtOnce = 200;

function Row({
  queue,
  now,
  into,
  out,
}: {
  queue: Queue;
  now: number;
  into: number;
  out: number;
}): JSX.Element {
  const late = queue.oldest_ready_ms === undefined ? 0 : Math.max(0, now - queue.oldest_ready_ms);
  return (
    <tr>
      <th scope="row">
        <a href={link(["queue", queue.queue])}>
          <Foreign text={queue.queue} />
        </a>{" "}
        {queue.paused && <Chip kind="paused">{t("paused")}</Chip>}
      </th>
      <td data-name={t("scheduled")}>{count(queue.scheduled)}</td>
      <td data-name={t("ready")}>{count(queue.ready)}</td>
      <td data-name={t("leased")}>{count(queue.leased)}</td>
      <td data-name={t("dead")} class={queue.dead > 0 ? "bad" : ""}>
        {count(queue.dead)}
      </td>
      <td data-name={t("rate_in")}>{rate(into)}</td>
      <td data-name={t("rate_out")}>{rate(out)}</td>
      <td data-name={t("oldest")} class={late > 60_000 ? "bad" : ""}>
        {queue.oldest_ready_ms === undefined ? "–" : duration(late)}
      </td>
    </tr>
  );
}

export function Overview(): JSX.Element {
  const live = useLive();
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(shownAtOnce);
  const now = storeNow(live);
  const all = [...live.queues.values()];
  const found = all.filter((one) => one.queue.includes(filter));
  const { store } = live;
  return (
    <>
      <h1>{t("overview")}</h1>
      {live.trouble !== undefined && <Notice kind="bad">{live.trouble}</Notice>}
      {store?.unreadable !== undefined && (
        <Notice kind="bad">
          {t("unreadable")} {store.unreadable.map((one) => one.queue).join(", ")}
        </Notice>
      )}
      {store !== undefined && (
        <dl class="figures">
          <div>
            <dt>{t("engine")}</dt>
            <dd>{store.served ?? store.engine}</dd>
          </div>
          <div>
            <dt>{t("lateness")} p50 / p99</dt>
            <dd>
              {store.lateness.p50_ms.toFixed(1)} / {store.lateness.p99_ms.toFixed(1)} ms
            </dd>
          </div>
          {store.disk_bytes > 0 && (
            <div>
              <dt>{t("disk")}</dt>
              <dd>{bytes(store.disk_bytes)}</dd>
            </div>
          )}
        </dl>
      )}
      {all.length > 10 && (
        <Field label={t("filter")}>
          <input
            type="search"
            value={filter}
            onInput={(event) => {
              setFilter(event.currentTarget.value);
            }}
          />
        </Field>
      )}
      {store === undefined && live.trouble === undefined && (
        <p aria-busy="true">{t("loading")} …</p>
      )}
      {store !== undefined && all.length === 0 && <p>{t("no_queues")}</p>}
      {found.length > 0 && (
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">{t("queue")}</th>
              <th scope="col">{t("scheduled")}</th>
              <th scope="col">{t("ready")}</th>
              <th scope="col">{t("leased")}</th>
              <th scope="col">{t("dead")}</th>
              <th scope="col">{t("rate_in")}</th>
              <th scope="col">{t("rate_out")}</th>
              <th scope="col">{t("oldest")}</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, most).map((queue) => {
              const rates = live.rates.get(queue.queue);
              return (
                <Row
                  key={queue.queue}
                  queue={queue}
                  now={now}
                  into={rates?.in ?? 0}
                  out={rates?.out ?? 0}
                />
              );
            })}
          </tbody>
        </table>
      )}
      {found.length > most && (
        <button
          type="button"
          onClick={() => {
            setMost(most + shownAtOnce);
          }}
        >
          {t("more")} ({count(found.length - most)})
        </button>
      )}
    </>
  );
}
