// The latest acts of the server's audit log.
import type { JSX } from "preact";

import { call, Failure, type Key } from "../api";
import { time } from "../format";
import { t } from "../i18n";
import { link, messageLink } from "../route";
import { Table } from "../table";
import { Button, Foreign, KeyText, Loading, usePages } from "../ui";

interface Act extends Key {
  time: string;
  act: string;
  identity?: string;
  peer: string;
  queue?: string;
  outcome: string;
  [other: string]: unknown;
}

const shown = new Set(
  "time act identity peer front request_id queue key key_base64 outcome".split(" "),
);

async function load(after: string): Promise<{ items: Act[]; next: string }> {
  const query = new URLSearchParams({ limit: "50" });
  if (after !== "") query.set("after", after);
  const answer = await call<{ acts: Act[]; next: string }>("GET", `/v1/audit?${query.toString()}`);
  return { items: answer.acts, next: answer.next };
}

/** On which queue and message. */
function Target({ of }: { of: Act }): JSX.Element {
  if (of.queue === undefined) return <>–</>;
  const named = of.key !== undefined || of.key_base64 !== undefined;
  return (
    <>
      <a href={link(["queue", of.queue])}>
        <Foreign text={of.queue} />
      </a>{" "}
      {named && (
        <a href={messageLink(of.queue, of)}>
          <KeyText of={of} />
        </a>
      )}
    </>
  );
}

/** Whatever else the line has, as it has it. */
function details(of: Act): string {
  return Object.entries(of)
    .filter(([name]) => !shown.has(name))
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

export function Audit(): JSX.Element {
  const loaded = usePages(load);
  const off = loaded.error instanceof Failure && loaded.error.status === 404;
  return (
    <>
      <h1>{t("audit")}</h1>
      {off ? (
        <p>{t("audit_off")}</p>
      ) : (
        <Loading of={loaded}>
          {(acts) => (
            <>
              <Button onClick={loaded.reload}>{t("reload")}</Button>
              <Table
                columns={[
                  [t("when"), (one) => time(Date.parse(one.time))],
                  [t("token"), (one) => <Foreign text={one.identity ?? "–"} />],
                  [t("address"), (one) => <Foreign text={one.peer} />],
                  [t("act"), (one) => one.act],
                  [t("target"), (one) => <Target of={one} />],
                  [
                    t("audit_outcome"),
                    (one) => one.outcome,
                    { bad: (one) => one.outcome === "refused" || one.outcome === "failed" },
                  ],
                  [t("details"), (one) => <Foreign text={details(one)} />],
                ]}
                rows={acts}
                id={(_, at) => String(acts.length - at)}
                none={t("audit_none")}
                more={loaded.more}
              />
            </>
          )}
        </Loading>
      )}
    </>
  );
}
