// The relays that run in the server, from its metrics.
import type { JSX } from "preact";

import { text } from "../api";
import { count } from "../format";
import { t } from "../i18n";
import { useLive } from "../live";
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

export function Relays(): JSX.Element {
  const live = useLive();
  const loaded = useLoaded(() => text("/metrics").then(read), [Math.floor(live.at / 5000)]);
  return (
    <>
      <h1>{t("relays")}</h1>
      <Loading of={loaded}>
        {(relays) =>
          relays.size === 0 ? (
            <p>{t("relays_none")}</p>
          ) : (
            <table class="cards">
              <thead>
                <tr>
                  <th scope="col">{t("relay")}</th>
                  <th scope="col">{t("state")}</th>
                  <th scope="col">{t("relay_breaker")}</th>
                  <th scope="col">{t("confirmed")}</th>
                  <th scope="col">{t("failed")}</th>
                  <th scope="col">{t("in_flight")}</th>
                </tr>
              </thead>
              <tbody>
                {[...relays].map(([name, of]) => (
                  <tr key={name}>
                    <th scope="row">
                      <Foreign text={name} />
                    </th>
                    <td data-name={t("state")}>
                      {of.get("up") === 1 ? (
                        <Chip kind="ready">{t("relay_up")}</Chip>
                      ) : (
                        <Chip kind="dead">{t("relay_ended")}</Chip>
                      )}
                    </td>
                    <td data-name={t("relay_breaker")}>
                      {of.get("breaker_open") === 1 ? (
                        <Chip kind="dead">{t("relay_down")}</Chip>
                      ) : (
                        <Chip kind="ready">{t("relay_up")}</Chip>
                      )}
                    </td>
                    <td data-name={t("confirmed")}>{count(of.get("confirmed_total") ?? 0)}</td>
                    <td data-name={t("failed")}>{count(of.get("failed_total") ?? 0)}</td>
                    <td data-name={t("in_flight")}>{count(of.get("in_flight") ?? 0)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loading>
    </>
  );
}
