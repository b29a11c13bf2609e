// The dead messages of a queue, grouped by reason; each group can be revived.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, may, queuePath, type Message, type Session } from "../api";
import { count } from "../format";
import { t } from "../i18n";
import { link, messageLink } from "../route";
import { number, Table } from "../table";
import { Button, Foreign, KeyText, Loading, useLoaded } from "../ui";
import { BulkPanel } from "./bulkpanel";

const sample = 5000;
const page = 1000;

interface Group {
  reason: string;
  count: number;
  first: Message;
}

async function group(queue: string): Promise<{ groups: Group[]; looked: number; whole: boolean }> {
  const groups = new Map<string, Group>();
  let looked = 0;
  let after = "";
  do {
    const query = new URLSearchParams({ state: "dead", limit: String(page) });
    if (after !== "") query.set("after", after);
    const answer = await call<{ messages: Message[]; next?: string }>(
      "GET",
      queuePath(queue, `/messages?${query.toString()}`),
    );
    for (const message of answer.messages) {
      const reason = message.reason ?? "";
      const known = groups.get(reason);
      if (known === undefined) groups.set(reason, { reason, count: 1, first: message });
      else known.count += 1;
    }
    looked += answer.messages.length;
    after = answer.next ?? "";
  } while (after !== "" && looked < sample);
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  return { groups: sorted, looked, whole: after === "" };
}

/** The reason as a pattern that matches only it: the API's `*` and `?` stand for other text. */
function patternOf(reason: string): string {
  return reason.replace(/[*?]/g, "?");
}

export function Dead({ queue, session }: { queue: string; session: Session }): JSX.Element {
  const loaded = useLoaded(() => group(queue), [queue]);
  const [chosen, setChosen] = useState<string>();
  return (
    <>
      <h1>
        <a href={link(["queue", queue])}>
          <Foreign text={queue} />
        </a>
        : {t("dead_reasons")}
      </h1>
      <Loading of={loaded}>
        {({ groups, looked, whole }) => (
          <>
            {!whole && <p class="quiet">{t("dead_sample", count(looked))}</p>}
            <Table
              columns={[
                [t("reason"), (one) => <Foreign text={one.reason === "" ? "–" : one.reason} />],
                [t("messages"), (one) => count(one.count), number],
                [
                  t("key"),
                  (one) => (
                    <a href={messageLink(queue, one.first)}>
                      <KeyText of={one.first} />
                    </a>
                  ),
                ],
                [
                  t("act_revive"),
                  // No pattern matches only the messages without a reason.
                  (one) =>
                    one.reason !== "" && (
                      <Button
                        onClick={() => {
                          setChosen(one.reason);
                        }}
                      >
                        {t("act_revive")} …
                      </Button>
                    ),
                ],
              ]}
              rows={groups}
              id={(one) => one.reason}
              none={t("dead_none")}
            />
            {chosen !== undefined && (
              <>
                <p>
                  {t("reason")}: <Foreign text={chosen} />
                </p>
                <BulkPanel
                  key={chosen}
                  queue={queue}
                  filter={{ state: "dead", reason: patternOf(chosen) }}
                  verbs={["revive", "cancel"]}
                  locked={!may(session, "admin", queue)}
                  onDone={loaded.reload}
                />
              </>
            )}
          </>
        )}
      </Loading>
    </>
  );
}
