// Where the server is, and how it is reached.

import { readFileSync } from "node:fs";

import { InvalidRequest } from "./errors.js";

export const defaultUrl = "http://127.0.0.1:7733";

/** TLS files in PEM: the authorities to trust, and the client's own certificate and key. */
export interface Tls {
  /** Path of a PEM file. */
  ca?: string;
  cert?: string;
  key?: string;
}

/** A server's host and port, or the path of its unix socket. */
export interface Address {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly path?: string;
  /** Contents of the PEM files; absent without TLS. */
  readonly tls?: { ca?: Buffer; cert?: Buffer; key?: Buffer };
}

function invalid(detail: string): InvalidRequest {
  return new InvalidRequest(detail, "invalid_argument");
}

function read(name: string, path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw invalid(`the ${name} file ${path} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Reads `http://HOST[:PORT]`, `https://HOST[:PORT]` or `http+unix:///PATH`. Without a URL: the
 * environment's TARRY_URL, else http://127.0.0.1:7733.
 */
export function addressOf(given: string | undefined, files: Tls = {}): Address {
  const url = given ?? (process.env["TARRY_URL"] || defaultUrl);
  const hasFiles = Boolean(files.ca ?? files.cert ?? files.key);
  const unix = /^http\+unix:\/\/(\/[^?#]+)$/.exec(url);
  if (unix) {
    if (hasFiles) throw invalid(`${url} has no TLS, so ca, cert and key have no use`);
    return { url, host: "localhost", port: 0, path: decodeURIComponent(unix[1] as string) };
  }
  let parts: URL;
  try {
    parts = new URL(url);
  } catch {
    throw invalid(
      `the URL "${url}" must be http://HOST:PORT, https://HOST:PORT or http+unix:///PATH`,
    );
  }
  const secure = parts.protocol === "https:";
  if (!secure && parts.protocol !== "http:") {
    throw invalid(`the URL ${url} must begin with http://, https:// or http+unix:///`);
  }
  if (parts.username || parts.password || parts.pathname !== "/" || parts.search || parts.hash) {
    throw invalid(
      `the URL of a server is ${parts.protocol}//HOST:PORT and no more; the token goes into` +
        " `token` or TARRY_TOKEN",
    );
  }
  const host = parts.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(parts.port || (secure ? 443 : 80));
  if (!secure) {
    if (hasFiles) throw invalid(`${url} has no TLS, so ca, cert and key have no use; https://?`);
    return { url, host, port };
  }
  const tls: NonNullable<Address["tls"]> = {};
  for (const name of ["ca", "cert", "key"] as const) {
    const content = read(name, files[name]);
    if (content) tls[name] = content;
  }
  return { url, host, port, tls };
}
