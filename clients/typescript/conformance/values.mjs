// The protocol's values: fields of requests, and answers as they are written.

import { TarryError } from "../dist/esm/index.js";

export const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");

export const raw = (fields, name) =>
  `${name}_base64` in fields ? Buffer.from(fields[`${name}_base64`], "base64") : fields[name];

/** Of the fields, those that are given, under the library's names. */
export function given(fields, ...names) {
  const wanted = {};
  for (const name of names) {
    if (fields[name] === undefined) continue;
    const plain =
      /^(delay|due|lease|wait|by|due_from|due_to|width|until|start|end|jitter|from)_ms$/.test(name);
    wanted[camel(plain ? name.slice(0, -3) : name)] = fields[name];
  }
  return wanted;
}

export const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
export const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const messageOf = (f) => ({
  ...given(f, "delay_ms", "due_ms", "headers", "priority", "if_exists", "max_attempts"),
  ...(raw(f, "key") === undefined ? {} : { key: raw(f, "key") }),
  ...(raw(f, "payload") === undefined ? {} : { payload: raw(f, "payload") }),
});

export function failure(error) {
  if (!(error instanceof TarryError)) return { code: "bug", message: String(error?.stack) };
  const { code, nextStep, status, detail } = error;
  return { code, next: nextStep, status, message: detail };
}

/** Sets `name`, or `name_base64` if the bytes are not UTF-8. */
export function putBytes(said, name, bytes) {
  const text = bytes.toString("utf8");
  if (Buffer.from(text).equals(bytes)) said[name] = text;
  else said[`${name}_base64`] = bytes.toString("base64");
}

/** A value of the library as the protocol writes it. */
export function shown(value) {
  if (value instanceof TarryError) return { error: failure(value) };
  if (Array.isArray(value)) return value.map(shown);
  if (value === null || typeof value !== "object") return value;
  const said = {};
  for (const [name, one] of Object.entries(value)) {
    if (name === "raw" || name === "headers" || Buffer.isBuffer(one)) continue;
    if (name === "key" && value.keyBytes) continue;
    said[snake(name)] = shown(one);
  }
  if (value.headers) said.headers = value.headers;
  if (Buffer.isBuffer(value.keyBytes)) putBytes(said, "key", value.keyBytes);
  if (Buffer.isBuffer(value.payload)) putBytes(said, "payload", value.payload);
  return said;
}
