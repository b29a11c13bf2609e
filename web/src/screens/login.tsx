// The login: a token, which the server changes for a cookie. The page does not keep the token.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, type Session } from "../api";
import { t } from "../i18n";
import { Input, Notice, reasonOf } from "../ui";

export function Login({ onLogin }: { onLogin: (session: Session) => void }): JSX.Element {
  const [token, setToken] = useState("");
  const [error, setError] = useState<string>();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    try {
      const session = await call<Session>("POST", "/console/login", { token: token.trim() });
      setToken("");
      onLogin(session);
    } catch (failed) {
      setError(reasonOf(failed));
    }
  };
  return (
    <main id="content" class="login">
      <h1>tarry</h1>
      <form onSubmit={(event) => void submit(event)}>
        <Input
          label={t("login_token")}
          help={t("login_help")}
          type="password"
          autocomplete="current-password"
          required
          value={token}
          onValue={setToken}
        />
        <button class="main">{t("log_in")}</button>
      </form>
      {error !== undefined && <Notice kind="bad">{error}</Notice>}
    </main>
  );
}
