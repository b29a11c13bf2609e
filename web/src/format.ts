// Numbers, durations, times and bytes as text, and back.
import { language, t } from "./i18n";

const units: [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

export function count(value: number): string {
  return value.toLocaleString(language() === "zh" ? "zh-CN" : "en-US");
}

export function rate(value: number): string {
  if (value === 0) return "0";
  return value < 10 ? value.toFixed(1) : count(Math.round(value));
}

/** A duration in at most two units: "2h 5m". */
export function duration(ms: number): string {
  if (ms < 1) return "0s";
  let rest = ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000;
  const parts: string[] = [];
  for (const [name, size] of units) {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    if (whole > 0) parts.push(`${whole}${name}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** A lateness: below a second with its tenths of a millisecond. */
export function lateness(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(1)} ms` : duration(ms);
}

/** The exact duration in the form that the API takes. */
export function exact(ms: number): string {
  for (const [name, size] of units) {
    if (ms >= size && ms % size === 0) return `${ms / size}${name}`;
  }
  return ms === 0 ? "0s" : `${ms}ms`;
}

/** "90s", "1h30m" or "-2h" in milliseconds; undefined if it is no duration. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  const sign = trimmed.startsWith("-") ? -1 : 1;
  const words = trimmed.replace(/^[+-]/, "");
  if (!/^(\d+(\.\d+)?(ms|[smhd])\s*)+$/.test(words)) return undefined;
  let sum = 0;
  for (const [, number, , unit] of words.matchAll(/(\d+(\.\d+)?)(ms|[smhd])/g)) {
    const size = units.find(([name]) => name === unit)?.[1] ?? 0;
    sum += Number(number) * size;
  }
  return sign * Math.round(sum);
}

export function time(ms: number): string {
  return new Date(ms).toLocaleString(language() === "zh" ? "zh-CN" : "en-GB", {
    dateStyle: "medium",
    timeStyle: "medium",
  });
}

/** For the middle of an axis: the time of day, or the day if steps are wider than half an hour. */
export function timeOrDay(ms: number, step: number): string {
  const locale = language() === "zh" ? "zh-CN" : "en-GB";
  return step > 1_800_000
    ? new Date(ms).toLocaleDateString(locale, { dateStyle: "medium" })
    : new Date(ms).toLocaleTimeString(locale, { timeStyle: step < 60_000 ? "medium" : "short" });
}

/** "in 5m" or "5m ago". */
export function fromNow(ms: number, now: number): string {
  const away = ms - now;
  return away >= 0 ? t("in", duration(away)) : t("ago", duration(-away));
}

export function bytes(size: number): string {
  const names = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  let value = size;
  while (value >= 1000 && at < names.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${names[at] ?? ""}`;
}

/** For an input of type datetime-local, in the browser's time zone. */
export function localInput(ms: number): string {
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

export function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  return Uint8Array.from(binary, (one) => one.charCodeAt(0));
}

export function hexDump(data: Uint8Array, most = 4096): string {
  const lines: string[] = [];
  const shown = data.subarray(0, most);
  for (let at = 0; at < shown.length; at += 16) {
    const row = [...shown.subarray(at, at + 16)];
    const hex = row.map((one) => one.toString(16).padStart(2, "0")).join(" ");
    const ascii = row.map((one) => (one > 31 && one < 127 ? String.fromCharCode(one) : "."));
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${ascii.join("")}`);
  }
  if (data.length > most) lines.push(`… ${data.length - most}`);
  return lines.join("\n");
}

/**
 * Text from outside with control and direction marks made visible, so that a key cannot change how
 * the text around it is read.
 */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
