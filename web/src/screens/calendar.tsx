// The due calendar: how many messages fall due when. A bar leads to its messages. A span of bars,
// chosen by dragging or with the keyboard, can be moved or cancelled.
import type { JSX, TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";

import { call, queuePath } from "../api";
import { count, duration, time, timeOrDay } from "../format";
import { t } from "../i18n";
import { go } from "../route";
import { Button, Field, Loading, useLoaded } from "../ui";
import { BulkPanel } from "./bulkpanel";

interface Forecast {
  width_ms: number;
  due_now: number;
  buckets: number[];
  later: number;
  projection?: { clear_in_ms?: number; latest_ms: number };
}

// Without arrivals, every backlog ends.
function outlook({ clear_in_ms = 0, latest_ms }: NonNullable<Forecast["projection"]>): string {
  return clear_in_ms === 0
    ? t("calendar_no_backlog")
    : t("calendar_drained", duration(clear_in_ms), duration(latest_ms));
}

// The name of each scale, the width of a bar, and the number of bars.
const scales: [string, number, number][] = [
  ["1m", 1_000, 60],
  ["1h", 60_000, 60],
  ["1d", 1_800_000, 48],
  ["1w", 10_800_000, 56],
  ["30d", 43_200_000, 60],
  ["1y", 604_800_000, 53],
];
const height = 120;

/** When the bar begins that `now` is in: bars begin at round times of the browser's time zone. */
function roundDown(now: number, width: number): number {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  return midnight + Math.floor((now - midnight) / width) * width;
}

/** When the bar begins where the choice began, and the one where it ends. */
interface Chosen {
  anchor: number;
  end: number;
}

interface Span {
  from: number;
  to: number;
}

export function Calendar({
  queue,
  now,
  fresh,
  locked,
}: {
  queue: string;
  now: number;
  fresh: number;
  locked: boolean;
}): JSX.Element {
  const [scale, setScale] = useState(1);
  const [rate, setRate] = useState("");
  const [, width, bars] = scales[scale] ?? ["", 60_000, 60];
  const loaded = useLoaded(async () => {
    const from = roundDown(now, width);
    const asked = (parts: number, more: string): Promise<Forecast> => {
      const spans = `width_ms=${width / parts}&buckets=${bars * parts}`;
      return call("GET", queuePath(queue, `/forecast?${spans}&${more}`));
    };
    // A bucket includes its end, and a bar its beginning. What is foreseen counts from now on, and
    // is the better the narrower the buckets are.
    const [forecast, foreseen] = await Promise.all([
      asked(1, `from_ms=${from - 1}`),
      rate === "" ? undefined : asked(10, `rate=${encodeURIComponent(rate)}`),
    ]);
    return { forecast, projection: foreseen?.projection, from };
  }, [queue, scale, rate, Math.floor(fresh / 5000)]);
  const [chosen, setChosen] = useState<Chosen>();
  const pressed = useRef<number>(); // the bar where the pointer went down
  const spanOf = ({ anchor, end }: Chosen): Span => ({
    from: Math.floor(Math.min(anchor, end)),
    to: Math.floor(Math.max(anchor, end) + width),
  });
  const show = ({ from, to }: Span): void => {
    go(["queue", queue, "messages"], { due_from: String(from), due_to: String(to) });
  };
  const barAt = (event: TargetedPointerEvent<SVGSVGElement>): number => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * bars);
    return Math.max(0, Math.min(bars - 1, at));
  };
  const drag = (event: TargetedPointerEvent<SVGSVGElement>, from: number): void => {
    const anchor = pressed.current;
    if (anchor === undefined) return;
    const end = barAt(event);
    const svg = event.currentTarget;
    // Not before it moves to another bar, so that a click stays a click.
    if (end === anchor && !svg.hasPointerCapture(event.pointerId)) return;
    svg.setPointerCapture(event.pointerId);
    setChosen({ anchor: from + anchor * width, end: from + end * width });
  };
  const press = (event: KeyboardEvent, from: number, focused: number): void => {
    if (event.key === "Escape") setChosen(undefined);
    const step = { ArrowLeft: -width, ArrowRight: width }[event.key];
    if (!event.shiftKey || step === undefined) return;
    event.preventDefault();
    const { anchor, end } = chosen ?? {
      anchor: from + focused * width,
      end: from + focused * width,
    };
    const last = from + (bars - 1) * width;
    setChosen({ anchor, end: Math.max(from, Math.min(last, end + step)) });
  };
  const span = chosen && spanOf(chosen);
  return (
    <section aria-labelledby="calendar">
      <h2 id="calendar">{t("calendar")}</h2>
      <div class="buttons" role="group" aria-label={t("width")}>
        {scales.map(([name], at) => (
          <button
            key={name}
            type="button"
            aria-pressed={at === scale}
            onClick={() => {
              setScale(at);
              setChosen(undefined);
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <Loading of={loaded}>
        {({ forecast, projection, from }) => {
          const most = Math.max(1, ...forecast.buckets);
          const step = 100 / forecast.buckets.length;
          return (
            <>
              <p class="quiet">
                {t(
                  "calendar_sums",
                  count(forecast.due_now),
                  count(forecast.buckets.reduce((all, one) => all + one, 0)),
                  count(forecast.later),
                )}{" "}
                {t("calendar_hint")}
              </p>
              {projection && <p role="status">{outlook(projection)}</p>}
              <svg
                class="bars"
                viewBox={`0 0 100 ${height}`}
                preserveAspectRatio="none"
                role="group"
                aria-label={t("calendar")}
                onPointerDown={(event) => {
                  pressed.current = event.button === 0 ? barAt(event) : undefined;
                }}
                onPointerMove={(event) => {
                  drag(event, from);
                }}
                onPointerUp={() => {
                  pressed.current = undefined;
                }}
                onPointerCancel={() => {
                  pressed.current = undefined;
                }}
                onDragStart={(event) => {
                  event.preventDefault();
                }}
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
                        const bar = from + at * width;
                        show(spanOf({ anchor: bar, end: bar }));
                      }}
                      onKeyDown={(event: KeyboardEvent) => {
                        press(event, from, at);
                      }}
                    >
                      <title>{label}</title>
                      <rect x={at * step} y={0} width={step} height={height} class="target" />
                      <rect x={at * step} y={height - tall} width={step * 0.8} height={tall} />
                    </a>
                  );
                })}
                {span !== undefined && (
                  <rect
                    class="chosen"
                    x={((span.from - from) / width) * step}
                    y={0}
                    width={((span.to - span.from) / width) * step}
                    height={height}
                  />
                )}
              </svg>
              <p class="axis">
                <span>{time(from)}</span>
                {[0.25, 0.5, 0.75].map((part) => (
                  <span key={part} class="mid">
                    {timeOrDay(from + bars * part * width, width)}
                  </span>
                ))}
                <span>{time(from + bars * width)}</span>
              </p>
            </>
          );
        }}
      </Loading>
      <div class="buttons">
        <Field label={t("calendar_rate")}>
          <input
            inputMode="decimal"
            value={rate}
            onChange={(event) => {
              setRate(event.currentTarget.value.trim());
            }}
          />
        </Field>
        <Button onClick={loaded.reload}>{t("reload")}</Button>
      </div>
      {span !== undefined && (
        <>
          <p role="status">{t("calendar_chosen", time(span.from), time(span.to))}</p>
          <div class="buttons">
            <Button
              onClick={() => {
                show(span);
              }}
            >
              {t("messages")}
            </Button>
            <Button
              onClick={() => {
                setChosen(undefined);
              }}
            >
              {t("calendar_clear")}
            </Button>
          </div>
          <BulkPanel
            queue={queue}
            filter={{ state: "scheduled", due_from_ms: span.from, due_to_ms: span.to }}
            verbs={["move", "cancel"]}
            locked={locked}
            onDone={loaded.reload}
          />
        </>
      )}
    </section>
  );
}
