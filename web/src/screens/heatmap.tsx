// The lateness of a queue's claims: time from left to right, lateness from below upwards. It begins
// when somebody looks, because the server keeps sums only.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { text } from "../api";
import { count, time } from "../format";
import { t } from "../i18n";

const columns = 60;
const each = 5000; // ms between two looks
// The upper ends of the rows, in seconds.
const rows: [string, number][] = [
  ["1ms", 0.001],
  ["10ms", 0.01],
  ["100ms", 0.1],
  ["1s", 1],
  ["10s", 10],
  ["1m", 60],
  ["> 1m", Infinity],
];

interface Column {
  at: number;
  counts: number[];
}

/** The cumulative counts of the rows, from the server's metrics. */
function read(page: string, queue: string): number[] | undefined {
  const sums = rows.map(() => 0);
  const name = queue.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  const start = `tarry_lateness_seconds_bucket{queue="${name}",le="`;
  let found = false;
  for (const line of page.split("\n")) {
    if (!line.startsWith(start)) continue;
    found = true;
    const [, le = "", value = ""] = /le="([^"]+)"\} (\S+)$/.exec(line) ?? [];
    const bound = le === "+Inf" ? Infinity : Number(le);
    rows.forEach(([, end], at) => {
      if (bound <= end * 1.0001) sums[at] = Math.max(sums[at] ?? 0, Number(value));
    });
  }
  return found ? sums : undefined;
}

export function HeatMap({ queue }: { queue: string }): JSX.Element | null {
  const [all, setAll] = useState<Column[]>([]);
  const [known, setKnown] = useState(true);
  useEffect(() => {
    let last: number[] | undefined;
    let timer: number | undefined;
    let wanted = true;
    const look = async (): Promise<void> => {
      if (!document.hidden) {
        try {
          const sums = read(await text("/metrics"), queue);
          if (!wanted) return;
          setKnown(sums !== undefined);
          const before = last;
          if (sums !== undefined && before !== undefined) {
            const grown = sums.map((sum, at) => Math.max(0, sum - (before[at] ?? 0)));
            const counts = grown.map((one, at) => Math.max(0, one - (grown[at - 1] ?? 0)));
            setAll((old) => [...old, { at: Date.now(), counts }].slice(-columns));
          }
          last = sums;
        } catch {
          last = undefined;
        }
      }
      if (wanted) timer = window.setTimeout(() => void look(), each);
    };
    void look();
    return () => {
      wanted = false;
      window.clearTimeout(timer);
    };
  }, [queue]);
  if (!known) return null;
  const most = Math.max(1, ...all.flatMap((one) => one.counts));
  const width = 100 / columns;
  return (
    <section aria-labelledby="heat">
      <h2 id="heat">{t("lateness")}</h2>
      <p class="quiet">{t("heat_hint")}</p>
      <div class="heat">
        <ul aria-hidden="true">
          {[...rows].reverse().map(([name]) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
        <svg
          viewBox={`0 0 100 ${rows.length * 10}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t("lateness")}
        >
          {all.map((column, x) =>
            column.counts.map((value, y) =>
              value === 0 ? null : (
                <rect
                  key={`${column.at} ${y}`}
                  x={(columns - all.length + x) * width}
                  y={(rows.length - 1 - y) * 10}
                  width={width * 0.9}
                  height={9}
                  fill-opacity={0.25 + 0.75 * Math.sqrt(value / most)}
                >
                  <title>{`${time(column.at)}: ${rows[y]?.[0] ?? ""}: ${count(value)}`}</title>
                </rect>
              ),
            ),
          )}
        </svg>
      </div>
    </section>
  );
}
