// The console's sessions: who is logged in, and ending a session.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call } from "../api";
import { time } from "../format";
import { t } from "../i18n";
import { useLive } from "../live";
import { Table } from "../table";
import { Button, Chip, Confirm, Foreign, Loading, useActs, useLoaded } from "../ui";

interface ConsoleSession {
  id: string;
  identity: string;
  client: string;
  began_ms: number;
  seen_ms: number;
  own: boolean;
}

export function Sessions(): JSX.Element {
  const live = useLive();
  const loaded = useLoaded(
    () => call<{ sessions: ConsoleSession[] }>("GET", "/v1/sessions"),
    [Math.floor(live.at / 5000)],
  );
  const [asked, setAsked] = useState<ConsoleSession>();
  const { act, notice } = useActs(loaded.reload);
  const end = (of: ConsoleSession): void => {
    setAsked(undefined);
    void act(() =>
      call("DELETE", `/v1/sessions/${of.id}`).then(() => t("session_ended", of.identity)),
    );
  };
  return (
    <>
      <h1>{t("sessions")}</h1>
      {notice}
      <Loading of={loaded}>
        {({ sessions }) => (
          <Table
            columns={[
              [
                t("token"),
                (one) => (
                  <>
                    <Foreign text={one.identity} />{" "}
                    {one.own && <Chip kind="ready">{t("session_own")}</Chip>}
                  </>
                ),
              ],
              [t("client"), (one) => <Foreign text={one.client} />],
              [t("session_began"), (one) => time(one.began_ms)],
              [t("session_seen"), (one) => time(one.seen_ms)],
              [
                t("acts"),
                (one) => (
                  <Button
                    kind="danger"
                    label={`${t("session_end")} ${one.identity} ${one.client}`}
                    onClick={() => {
                      setAsked(one);
                    }}
                  >
                    {t("session_end")}
                  </Button>
                ),
              ],
            ]}
            rows={sessions}
            id={(one) => one.id}
            none={t("sessions_none")}
          />
        )}
      </Loading>
      {asked !== undefined && (
        <Confirm
          title={t("session_end")}
          text={t("session_confirm", asked.identity)}
          yes={t("session_end")}
          danger
          onYes={() => {
            end(asked);
          }}
          onNo={() => {
            setAsked(undefined);
          }}
        />
      )}
    </>
  );
}
