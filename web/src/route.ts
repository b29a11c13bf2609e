// The address of a screen: a hash such as #/queue/orders/messages?state=dead, so that a link to it
// can be kept, and the server serves one page only.
import { useEffect, useState } from "preact/hooks";

import type { Key } from "./api";

export interface Route {
  parts: string[];
  query: URLSearchParams;
}

function parse(): Route {
  const hash = location.hash.replace(/^#\/?/, "");
  const mark = hash.indexOf("?");
  const path = mark < 0 ? hash : hash.slice(0, mark);
  const parts = path.split("/").filter((part) => part !== "");
  const decode = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  };
  return {
    parts: parts.map(decode),
    query: new URLSearchParams(mark < 0 ? "" : hash.slice(mark + 1)),
  };
}

export function useRoute(): Route {
  const [route, setRoute] = useState(parse);
  useEffect(() => {
    const follow = (): void => {
      setRoute(parse());
    };
    window.addEventListener("hashchange", follow);
    return () => {
      window.removeEventListener("hashchange", follow);
    };
  }, []);
  return route;
}

export function link(parts: string[], query: Record<string, string | undefined> = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") given.set(name, value);
  }
  const text = given.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

export function go(parts: string[], query: Record<string, string | undefined> = {}): void {
  location.hash = link(parts, query);
}

export function messageLink(queue: string, key: Key): string {
  return key.key !== undefined
    ? link(["queue", queue, "message"], { key: key.key })
    : link(["queue", queue, "message"], { key_base64: key.key_base64 });
}
