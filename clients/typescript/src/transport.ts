// Requests over kept connections, by Node's own HTTP client.

import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";

import type { Address } from "./address.js";

export interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly retryAfter?: number;
  readonly body: string;
}

/** Nothing was done: the request has not left. */
export class NotSent extends Error {}

/** The request may have been carried out, and its answer was lost. */
export class Lost extends Error {}

export interface Exchange {
  method: string;
  path: string;
  body?: string;
  /** Milliseconds for the whole answer. */
  timeout: number;
  /** Ends the request: its connection is closed, so the server withdraws a waiting claim. */
  signal?: AbortSignal;
}

/** One for each client. Thread safety: as usual in JavaScript, one thread. */
export class Transport {
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #base: RequestOptions;
  readonly #send: typeof httpRequest;
  readonly #secure: boolean;
  readonly #url: string;

  constructor(address: Address, agentName: string, token: string | undefined) {
    const kept = {
      keepAlive: true,
      maxFreeSockets: 32,
      scheduling: "lifo" as const,
      noDelay: true,
    };
    this.#secure = address.tls !== undefined;
    this.#agent = address.tls ? new HttpsAgent({ ...kept, ...address.tls }) : new HttpAgent(kept);
    this.#send = this.#secure ? httpsRequest : httpRequest;
    this.#url = address.url;
    const headers: Record<string, string> = { "User-Agent": agentName };
    if (token) headers["Authorization"] = `Bearer ${token}`;
    this.#base = address.path
      ? { socketPath: address.path, headers: { ...headers, Host: "localhost" } }
      : { host: address.host, port: address.port, headers };
  }

  /** Rejects with NotSent, with Lost, or with the reason of the signal. */
  async ask(exchange: Exchange): Promise<Answer> {
    // The end of a kept connection may have come in this turn of the event loop: it is seen first.
    await new Promise((resolve) => setImmediate(resolve));
    exchange.signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      let sent = false;
      let over = false;
      const end = (result: () => void): void => {
        if (over) return;
        over = true;
        clearTimeout(timer);
        exchange.signal?.removeEventListener("abort", aborted);
        result();
      };
      const lose = (why: string): void => {
        end(() => reject(sent ? this.#lost(why) : this.#notSent(why)));
      };
      const headers: Record<string, string | number> = {
        ...(this.#base.headers as Record<string, string>),
      };
      if (exchange.body !== undefined) {
        headers["Content-Type"] = "application/json";
        headers["Content-Length"] = Buffer.byteLength(exchange.body);
      } else if (exchange.method !== "GET") {
        headers["Content-Length"] = 0;
      }
      const { method, path } = exchange;
      const request = this.#send({ ...this.#base, agent: this.#agent, method, path, headers });
      const aborted = (): void => {
        end(() => reject(exchange.signal?.reason as Error));
        request.destroy();
      };
      const timer = setTimeout(() => {
        lose(`did not answer within ${exchange.timeout} ms`);
        request.destroy();
      }, exchange.timeout);
      exchange.signal?.addEventListener("abort", aborted);
      request.once("socket", (socket: Socket) => {
        if (request.reusedSocket || !socket.connecting) sent = true;
        else socket.once(this.#secure ? "secureConnect" : "connect", () => (sent = true));
      });
      request.on("error", (error) => lose(`gave no whole answer: ${error.message}`));
      request.once("response", (response) => {
        read(response, lose, (answer) => end(() => resolve(answer)));
      });
      request.end(exchange.body);
    });
  }

  /** Closes the connections; requests under way are lost. */
  close(): void {
    this.#agent.destroy();
  }

  #lost(why: string): Lost {
    return new Lost(`${this.#url} ${why}`);
  }

  #notSent(why: string): NotSent {
    return new NotSent(
      `${this.#url} cannot be reached: ${why.replace("gave no whole answer: ", "")}`,
    );
  }
}

function read(
  response: IncomingMessage,
  lose: (why: string) => void,
  done: (answer: Answer) => void,
): void {
  const pieces: Buffer[] = [];
  response.on("data", (piece: Buffer) => pieces.push(piece));
  response.on("error", (error) => lose(`gave no whole answer: ${error.message}`));
  response.once("close", () => lose("gave no whole answer: the connection ended before it did"));
  response.once("end", () => {
    if (!response.complete) return;
    const after = response.headers["retry-after"];
    done({
      status: response.statusCode ?? 0,
      reason: response.statusMessage ?? "",
      body: Buffer.concat(pieces).toString("utf8"),
      ...(after !== undefined && /^\d+$/.test(after) ? { retryAfter: Number(after) * 1000 } : {}),
    });
  });
}
