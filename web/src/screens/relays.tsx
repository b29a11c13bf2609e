// The relays that run in the server, from its metrics.
import type { JSX } from "preact";

import { text } from "../api";
import { count } from "../format";
import { t } from "../i18n";
import { useLive } from "../live";
import { number, Table } from "../table";
import { Chip, Foreign, Loading, useLoaded } from "../ui";

type Samples = Map<string, Map<string, number>>; // relay, then metric

function unescape(value: string): string {
  return value.replace(/\\(.)/g, (_, one: string) => (one === "n" ? "\n" : one));
}

function read(page: string): Samples {
  const relays: Samples = new Map();
  for (const line of page.split("\n")) {
    const found = /^tarry_relay_(\w+)\{relay="((?:[^"\\]|\\.)*)"\} (\S+)$/.exec(line);
    if (found === null) continue;
    const [, metric = "", name = "", value = ""] = found;
    const relay = unescape(name);
    const known = relays.get(relay) ?? new Map<string, number>();
    known.set(metric, Number(value));
    relays.set(relay, known);
  }
  return relays;
}

function State({ good, bad }: { good: boolean; bad: string }): JSX.Element {
  return good ? <Chip kind="ready">{t("relay_up")}</Chip> : <Chip kind="dead">{bad}</Chip>;
}

export function Relays(): JSX.Element {
  const live = useLive();
  const loaded = useLoaded(() => text("/metrics").then(read), [Math.floor(live.at / 5000)]);
  return (
    <>
      <h1>{t("relays")}</h1>
      <Loading of={loaded}>
        {(relays) => (
          <Table
            columns={[
              [t("relay"), ([name]) => <Foreign text={name} />],
              [t("state"), ([, of]) => <State good={of.get("up") === 1} bad={t("relay_ended")} />],
              [
                t("relay_breaker"),
                ([, of]) => <State good={of.get("breaker_open") !== 1} bad={t("relay_down")} />,
              ],
              [t("confirmed"), ([, of]) => count(of.get("confirmed_total") ?? 0), number],
              [t("failed"), ([, of]) => count(of.get("failed_total") ?? 0), number],
              [t("in_flight"), ([, of]) => count(of.get("in_flight") ?? 0), number],
            ]}
            rows={[...relays]}
            id={([name]) => name}
            none={t("relays_none")}
          />
        )}
      </Loading>
    </>
  );
}
