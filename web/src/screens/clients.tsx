// Who is connected to the server.
import type { JSX } from "preact";

import { call } from "../api";
import { bytes, count } from "../format";
import { t } from "../i18n";
import { useLive } from "../live";
import { number, Table } from "../table";
import { Foreign, Loading, useLoaded } from "../ui";

interface Client {
  peer: string;
  identity?: string;
  front: string;
  connections: number;
  waiting_claims: number;
  held_bytes: number;
}

interface Clients {
  clients: Client[];
  all_clients: number;
  all_connections: number;
}

export function ClientsScreen(): JSX.Element {
  const live = useLive();
  const loaded = useLoaded(
    () => call<Clients>("GET", "/v1/clients?limit=1000"),
    [Math.floor(live.at / 5000)],
  );
  return (
    <>
      <h1>{t("clients")}</h1>
      <Loading of={loaded}>
        {({ clients, all_clients, all_connections }) => (
          <>
            <p class="quiet">{t("clients_all", count(all_clients), count(all_connections))}</p>
            <Table
              columns={[
                [t("address"), (one) => <Foreign text={one.peer} />],
                [t("token"), (one) => <Foreign text={one.identity ?? "–"} />],
                [t("protocol"), (one) => one.front],
                [t("connections"), (one) => count(one.connections), number],
                [t("claims_waiting"), (one) => count(one.waiting_claims), number],
                [t("held"), (one) => bytes(one.held_bytes), number],
              ]}
              rows={clients}
              id={(one) => `${one.front} ${one.peer} ${one.identity ?? ""}`}
              none={t("clients_none")}
            />
          </>
        )}
      </Loading>
    </>
  );
}
