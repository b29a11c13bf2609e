// A payload as a tree of JSON, as text, or as hex. It is only ever shown, never run.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { Message } from "../api";
import { bytes, fromBase64, hexDump, visible } from "../format";
import { t } from "../i18n";

const mostText = 200_000;
const mostChildren = 200;
const mostDepth = 100; // a page that draws more levels runs out of stack

/** A number as it is written, because 12345678901234567890 has no exact value in a script. */
class Written {
  constructor(readonly text: string) {}
}

type Json = null | boolean | string | Written | Json[] | { [name: string]: Json };

// Browsers from before 2025 may not tell the text of a number.
function asWritten(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === "number" ? new Written(context?.source ?? String(value)) : value;
}

function plain(value: Json): string {
  return value instanceof Written ? value.text : visible(JSON.stringify(value));
}

function Node({ name, value, depth }: { name: string; value: Json; depth: number }): JSX.Element {
  if (value !== null && typeof value === "object" && !(value instanceof Written)) {
    if (depth > mostDepth) {
      return (
        <li>
          <b>{visible(name)}</b> …
        </li>
      );
    }
    const children = Object.entries(value);
    const brackets = Array.isArray(value) ? "[ ]" : "{ }";
    return (
      <li>
        <details open={depth < 4}>
          <summary>
            <b>{visible(name)}</b> {brackets} {children.length}
          </summary>
          <ul class="tree">
            {children.slice(0, mostChildren).map(([key, child]) => (
              <Node key={key} name={key} value={child} depth={depth + 1} />
            ))}
            {children.length > mostChildren && <li>… {children.length - mostChildren}</li>}
          </ul>
        </details>
      </li>
    );
  }
  return (
    <li>
      <b>{visible(name)}</b>: <code>{plain(value)}</code>
    </li>
  );
}

export function Payload({ message }: { message: Message }): JSX.Element {
  const data = useMemo(
    () =>
      message.payload !== undefined
        ? new TextEncoder().encode(message.payload)
        : fromBase64(message.payload_base64 ?? ""),
    [message],
  );
  const json = useMemo((): Json | undefined => {
    if (message.payload === undefined) return undefined;
    try {
      const value = JSON.parse(message.payload, asWritten) as Json;
      return value !== null && typeof value === "object" && !(value instanceof Written)
        ? value
        : undefined;
    } catch {
      return undefined;
    }
  }, [message]);
  const views = [
    json !== undefined && "json",
    message.payload !== undefined && "text",
    "hex",
  ].filter((one): one is "json" | "text" | "hex" => one !== false);
  const [chosen, setChosen] = useState<"json" | "text" | "hex">();
  const view = chosen !== undefined && views.includes(chosen) ? chosen : (views[0] ?? "hex");
  if (data.length === 0) return <p class="quiet">{t("payload_none")}</p>;
  return (
    <>
      <div class="buttons" role="group" aria-label={t("payload")}>
        {views.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === view}
            onClick={() => {
              setChosen(one);
            }}
          >
            {t(one)}
          </button>
        ))}
        <span class="quiet">{bytes(data.length)}</span>
      </div>
      {view === "json" && json !== undefined && (
        <ul class="tree">
          <Node name={t("payload")} value={json} depth={0} />
        </ul>
      )}
      {view === "text" && <pre tabIndex={0}>{(message.payload ?? "").slice(0, mostText)}</pre>}
      {view === "hex" && <pre tabIndex={0}>{hexDump(data)}</pre>}
    </>
  );
}
