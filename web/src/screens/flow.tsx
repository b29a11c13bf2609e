// Where the messages of one or more queues went: what was accepted is still here, or has ended.
import type { JSX } from "preact";

import type { Queue } from "../api";
import { count } from "../format";
import { t } from "../i18n";

const states = ["scheduled", "ready", "leased", "dead"] as const;
const ends = ["acked", "cancelled", "replaced", "expired", "purged", "moved_away"] as const;

export function Flow({ queues }: { queues: Queue[] }): JSX.Element {
  const sum = (of: (queue: Queue) => number): number =>
    queues.reduce((all, queue) => all + of(queue), 0);
  const counted = (name: string): number => sum((queue) => queue.counters[name] ?? 0);
  const here = states.map((name) => ({ name, value: sum((queue) => queue[name]) }));
  const ended = ends.map((name) => ({ name, value: counted(name) }));
  const total = (parts: { value: number }[]): number =>
    parts.reduce((all, { value }) => all + value, 0);
  const parts = [...here, ...ended];
  const all = Math.max(1, total(parts));
  let x = 0;
  return (
    <section aria-labelledby="flow">
      <h2 id="flow">{t("flow")}</h2>
      <p class="quiet">
        {t("flow_adds", count(counted("accepted")), count(total(here)), count(total(ended)))}
      </p>
      <svg class="flow" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ name, value }) => {
          const width = (value / all) * 100;
          x += width;
          return <rect key={name} class={name} x={x - width} y={0} width={width} height={10} />;
        })}
      </svg>
      <ul class="legend">
        {parts.map(({ name, value }) => (
          <li key={name} class={name}>
            {t(name)}: {count(value)}
          </li>
        ))}
      </ul>
    </section>
  );
}
