// Durations and times as callers give them.

/** Milliseconds, or text such as "250ms", "30s", "15m", "2h", "7d", "PT30M". */
export type Duration = number | string;

/** A Date, milliseconds since 1970, or RFC 3339 text with an offset. */
export type Moment = Date | number | string;

/** A request's body, or the query of its path. */
export type Fields = Record<string, unknown>;

function whole(name: string, value: number): number {
  if (!Number.isFinite(value))
    throw new TypeError(`${name} is ${value}; give milliseconds or text`);
  return Math.ceil(value);
}

/** Sets `name` or `name_ms` of a request. Rounds up, so that nothing comes early. */
export function putDuration(fields: Fields, name: string, value: Duration | undefined): void {
  if (value === undefined) return;
  if (typeof value === "number") fields[`${name}_ms`] = whole(name, value);
  else fields[name] = value;
}

/** Sets `name` or `name_ms` of a request. */
export function putMoment(fields: Fields, name: string, value: Moment | undefined): void {
  if (value === undefined) return;
  if (typeof value === "string") fields[name] = value;
  else fields[`${name}_ms`] = whole(name, value instanceof Date ? value.getTime() : value);
}

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in milliseconds. Texts: one number and its unit; not ISO 8601. */
export function millisecondsOf(name: string, value: Duration): number {
  if (typeof value === "number") return whole(name, value);
  const parts = /^(\d+)(ms|s|m|h|d)$/.exec(value);
  if (!parts)
    throw new TypeError(`${name} is "${value}"; give milliseconds, or text such as "20s"`);
  return Number(parts[1]) * units[parts[2] as string]!;
}
