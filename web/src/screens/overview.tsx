// All queues: counts, rates, the oldest message that is due, and where their messages went.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Queue } from "../api";
import { bytes, count, duration, lateness, rate } from "../format";
import { t } from "../i18n";
import { storeNow, useLive, type Rates } from "../live";
import { link } from "../route";
import { number, Table } from "../table";
import { Chip, Foreign, Input, Notice } from "../ui";
import { Flow } from "./flow";

const shownAtOnce = 200;

export function Overview(): JSX.Element {
  const live = useLive();
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(shownAtOnce);
  const now = storeNow(live);
  const all = [...live.queues.values()];
  const late = (queue: Queue): number => now - (queue.oldest_ready_ms ?? now);
  const rates = (queue: Queue): Rates => live.rates.get(queue.queue) ?? { in: 0, out: 0 };
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
              {lateness(store.lateness.p50_ms)} / {lateness(store.lateness.p99_ms)}
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
        <Input label={t("filter")} type="search" value={filter} onValue={setFilter} />
      )}
      {store === undefined && live.trouble === undefined && (
        <p aria-busy="true">{t("loading")} …</p>
      )}
      {store !== undefined && (
        <Table
          columns={[
            [
              t("queue"),
              (one) => (
                <>
                  <a href={link(["queue", one.queue])}>
                    <Foreign text={one.queue} />
                  </a>{" "}
                  {one.paused && <Chip kind="paused">{t("paused")}</Chip>}{" "}
                  {one.objective?.burning === true && <Chip kind="dead">{t("burning")}</Chip>}
                </>
              ),
            ],
            [t("scheduled"), (one) => count(one.scheduled), number],
            [t("ready"), (one) => count(one.ready), number],
            [t("leased"), (one) => count(one.leased), number],
            [t("dead"), (one) => count(one.dead), { number: true, bad: (one) => one.dead > 0 }],
            [t("rate_in"), (one) => rate(rates(one).in), number],
            [t("rate_out"), (one) => rate(rates(one).out), number],
            [
              t("oldest"),
              (one) => (one.oldest_ready_ms === undefined ? "–" : duration(late(one))),
              { number: true, bad: (one) => late(one) > 60_000 },
            ],
          ]}
          rows={found.slice(0, most)}
          id={(one) => one.queue}
          none={all.length === 0 ? t("no_queues") : t("no_such_queue")}
          left={found.length - most}
          more={
            found.length > most
              ? () => {
                  setMost(most + shownAtOnce);
                }
              : undefined
          }
        />
      )}
      {all.length > 1 && <Flow queues={all} />}
    </>
  );
}
