// The due calendar: how many messages fall due when. A bar leads to its messages.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, queuePath } from "../api";
import { count, time } from "../format";
import { t } from "../i18n";
import { go } from "../route";
import { Button, Loading, useLoaded } from "../ui";

interface Forecast {
  width_ms: number;
  due_now: number;
  buckets: number[];
  later: number;
}

// The name of each span, the width of a bar, and the number of bars.
const spans: [string, number, number][] = [
  ["1m", 1_000, 60],
  ["1h", 60_000, 60],
  ["1d", 1_800_000, 48],
  ["1w", 10_800_000, 56],
  ["30d", 43_200_000, 60],
  ["1y", 604_800_000, 53],
];
const height = 120;

export function Calendar({
  queue,
  now,
  fresh,
}: {
  queue: string;
  now: number;
  fresh: number;
}): JSX.Element {
  const [span, setSpan] = useState(1);
  const [, width, bars] = spans[span] ?? ["", 60_000, 60];
  const loaded = useLoaded(
    async () => ({
      forecast: await call<Forecast>(
        "GET",
        queuePath(queue, `/forecast?width_ms=${width}&buckets=${bars}`),
      ),
      from: now,
    }),
    [queue, span, Math.floor(fresh / 5000)],
  );
  const show = (from: number, at: number): void => {
    go(["queue", queue, "messages"], {
      due_from: String(Math.floor(from + at * width)),
      due_to: String(Math.ceil(from + (at + 1) * width)),
    });
  };
  return (
    <section aria-labelledby="calendar">
      <h2 id="calendar">{t("calendar")}</h2>
      <div class="buttons" role="group" aria-label={t("width")}>
        {spans.map(([name], at) => (
          <button
            key={name}
            type="button"
            aria-pressed={at === span}
            onClick={() => {
              setSpan(at);
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <Loading of={loaded}>
        {({ forecast, from }) => {
          const most = Math.max(1, ...forecast.buckets);
          const step = 100 / forecast.buckets.length;
          return (
            <>
              <p class="quiet">
                {count(forecast.due_now)} {t("due_now")}, {count(forecast.later)} {t("later")}.{" "}
                {t("calendar_hint")}
              </p>
              <svg
                class="bars"
                viewBox={`0 0 100 ${height}`}
                preserveAspectRatio="none"
                role="group"
                aria-label={t("calendar")}
              >
                {forecast.buckets.map((value, at) => {
                  const tall = value === 0 ? 1 : Math.max(4, (value / most) * height);
                  const label = `${time(from + at * width)}: ${count(value)}`;
                  return value === 0 ? (
                    <rect
                      key={at}
                      x={at * step}
                      y={height - tall}
                      width={step * 0.8}
                      height={tall}
                      class="none"
                    />
                  ) : (
                    <a
                      key={at}
                      href="#/"
                      aria-label={label}
                      onClick={(event: MouseEvent) => {
                        event.preventDefault();
                        show(from, at);
                      }}
                    >
                      <title>{label}</title>
                      <rect x={at * step} y={0} width={step} height={height} class="target" />
                      <rect x={at * step} y={height - tall} width={step * 0.8} height={tall} />
                    </a>
                  );
                })}
              </svg>
              <p class="axis">
                <span>{time(from)}</span>
                <span>{time(from + bars * width)}</span>
              </p>
            </>
          );
        }}
      </Loading>
      <Button onClick={loaded.reload}>{t("reload")}</Button>
    </section>
  );
}
