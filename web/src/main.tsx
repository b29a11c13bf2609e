// The console: who is logged in, the frame around the screens, and which screen is shown.
import { render, type JSX } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";

import { call, Failure, mayAll, whenLoggedOut, type Key, type Session } from "./api";
import { language, setLanguage, t } from "./i18n";
import { useLive } from "./live";
import { link, useRoute, type Route } from "./route";
import { Audit } from "./screens/audit";
import { ClientsScreen } from "./screens/clients";
import { Dead } from "./screens/dead";
import { Login } from "./screens/login";
import { MessageScreen } from "./screens/message";
import { Messages } from "./screens/messages";
import { Overview } from "./screens/overview";
import { Push } from "./screens/push";
import { QueueScreen } from "./screens/queue";
import { Relays } from "./screens/relays";
import { Schedules } from "./screens/schedules";
import { Sessions } from "./screens/sessions";
import { Button, Notice, reasonOf } from "./ui";

type Theme = "light" | "dark";

function keptTheme(): Theme {
  const kept = localStorage.getItem("tarry.theme");
  if (kept === "light" || kept === "dark") return kept;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function keyIn(query: URLSearchParams): Key {
  const binary = query.get("key_base64");
  return binary === null ? { key: query.get("key") ?? "" } : { key_base64: binary };
}

function Screen({ route, session }: { route: Route; session: Session }): JSX.Element {
  const [first, queue, third] = route.parts;
  if (first === undefined) return <Overview />;
  if (first === "push") return <Push query={route.query} session={session} />;
  if (first === "relays") return <Relays />;
  if (first === "clients") return <ClientsScreen />;
  if (first === "sessions") return <Sessions />;
  if (first === "audit") return <Audit />;
  if (first === "schedules") return <Schedules session={session} />;
  if (first === "queue" && queue !== undefined) {
    if (third === undefined) return <QueueScreen key={queue} name={queue} session={session} />;
    if (third === "messages") {
      const { query } = route;
      return <Messages key={`${queue} ${query.toString()}`} {...{ queue, query, session }} />;
    }
    if (third === "dead") return <Dead queue={queue} session={session} />;
    if (third === "message") {
      return (
        <MessageScreen
          key={route.query.toString()}
          queue={queue}
          of={keyIn(route.query)}
          session={session}
        />
      );
    }
  }
  return <p>{t("not_found")}</p>;
}

/** A screen that fails says so; the other screens stay usable. */
function Guarded({ route, session }: { route: Route; session: Session }): JSX.Element {
  const boundary = useErrorBoundary();
  const error: unknown = boundary[0];
  if (error === undefined) return <Screen route={route} session={session} />;
  return (
    <Notice kind="bad">
      {t("screen_failed")} {reasonOf(error)} <Button onClick={boundary[1]}>{t("reload")}</Button>
    </Notice>
  );
}

function Frame(props: {
  session: Session;
  onLogout: () => void;
  onLanguage: () => void;
}): JSX.Element {
  const { session } = props;
  const route = useRoute();
  const live = useLive();
  const [theme, setTheme] = useState(keptTheme);
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  const other: Theme = theme === "dark" ? "light" : "dark";
  const [first] = route.parts;
  const item = (parts: string[], name: string): JSX.Element => (
    <a href={link(parts)} aria-current={first === parts[0] ? "page" : undefined}>
      {name}
    </a>
  );
  const logout = async (): Promise<void> => {
    try {
      await call("DELETE", "/console/session");
    } catch {
      // The session has ended anyway, or the server is away, and then nobody can use it.
    }
    props.onLogout();
  };
  return (
    <>
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("content")?.focus();
        }}
      >
        {t("skip")}
      </a>
      <header>
        <a class="brand" href="#/">
          tarry
        </a>
        <nav aria-label={t("menu")}>
          {item([], t("overview"))}
          {item(["push"], t("push"))}
          {item(["schedules"], t("schedules"))}
          {item(["relays"], t("relays"))}
          {mayAll(session, "admin") && (
            <>
              {item(["clients"], t("clients"))}
              {session.login && item(["sessions"], t("sessions"))}
              {item(["audit"], t("audit"))}
            </>
          )}
        </nav>
        <span class="tools">
          <span class={live.connected ? "dot on" : "dot"} role="status">
            {live.connected ? t("live") : "…"}
          </span>
          <Button
            label={t("light_dark")}
            onClick={() => {
              localStorage.setItem("tarry.theme", other);
              setTheme(other);
            }}
          >
            ◐
          </Button>
          <Button label="English / 中文" onClick={props.onLanguage}>
            {language() === "en" ? "中文" : "English"}
          </Button>
          {session.login && (
            <Button onClick={() => void logout()}>
              {t("log_out")} {session.name}
            </Button>
          )}
        </span>
      </header>
      {!live.connected && live.store !== undefined && <Notice kind="bad">{t("away")}</Notice>}
      <main id="content" tabIndex={-1}>
        <Guarded key={location.hash} route={route} session={session} />
      </main>
      <footer>tarry {session.version}</footer>
    </>
  );
}

function App(): JSX.Element {
  const [session, setSession] = useState<Session | "none">();
  const [error, setError] = useState<string>();
  const [, setTurn] = useState(0);
  const ask = (): void => {
    call<Session>("GET", "/console/session").then(
      (one) => {
        setError(undefined);
        setSession(one);
      },
      (failed: unknown) => {
        if (failed instanceof Failure && failed.status === 401) {
          setError(undefined);
          setSession("none");
        } else {
          setError(failed instanceof Failure && failed.status !== 0 ? failed.message : t("away"));
          window.setTimeout(ask, 2000);
        }
      },
    );
  };
  useEffect(() => {
    document.documentElement.dataset["theme"] = keptTheme();
    whenLoggedOut(() => {
      setSession("none");
    });
    ask();
  }, []);
  if (error !== undefined) return <Notice kind="bad">{error}</Notice>;
  if (session === undefined) return <p aria-busy="true">{t("loading")} …</p>;
  if (session === "none") return <Login onLogin={setSession} />;
  return (
    <Frame
      session={session}
      onLogout={() => {
        setSession("none");
      }}
      onLanguage={() => {
        setLanguage(language() === "en" ? "zh" : "en");
        setTurn((one) => one + 1);
      }}
    />
  );
}

const root = document.getElementById("app");
if (root !== null) render(<App />, root);
