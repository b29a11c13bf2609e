// For NestJS: a module with the client, and workers whose handlers are methods of providers.

import { Inject, Injectable, Module } from "@nestjs/common";
import type {
  DynamicModule,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
} from "@nestjs/common";
import { DiscoveryModule, DiscoveryService } from "@nestjs/core";

import { Client } from "./client.js";
import type { ClientOptions } from "./client.js";
import type { Delivery } from "./delivery.js";
import { Worker } from "./worker.js";
import type { WorkerOptions } from "./worker.js";

export interface TarryModuleOptions extends ClientOptions {
  url?: string;
  /** Of all workers; a listener's own options come first. */
  worker?: WorkerOptions;
  /** False: listeners do not run, for example in a process that only pushes. */
  listen?: boolean;
}

interface Listener {
  queue: string;
  method: string;
  options: WorkerOptions;
}

const listeners = Symbol.for("@tarry/client listeners");
const moduleOptions = Symbol.for("@tarry/client options");

/** The method handles deliveries of this queue: `@TarryListener("orders", { concurrency: 4 })`. */
export function TarryListener(queue: string, options: WorkerOptions = {}): MethodDecorator {
  return (target, method) => {
    const holder = target as { [listeners]?: Listener[] };
    const own = Object.hasOwn(holder, listeners) ? holder[listeners] : undefined;
    holder[listeners] = [...(own ?? []), { queue, method: String(method), options }];
  };
}

/** Starts a worker for each listener once the application is up, and stops them with it. */
class Listeners implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  readonly #running: { worker: Worker; ended: Promise<unknown> }[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly client: Client,
    private readonly options: TarryModuleOptions,
  ) {}

  onApplicationBootstrap(): void {
    if (this.options.listen === false) return;
    for (const { instance } of this.discovery.getProviders()) {
      if (typeof instance !== "object" || instance === null) continue;
      const found = (instance as { [listeners]?: Listener[] })[listeners];
      for (const listener of found ?? []) this.#start(instance as object, listener);
    }
  }

  /** Handlers may still use other providers while they end. */
  async onModuleDestroy(): Promise<void> {
    for (const { worker } of this.#running) worker.stop();
    await Promise.all(this.#running.map(({ ended }) => ended));
  }

  onApplicationShutdown(): void {
    this.client.close();
  }

  #start(instance: object, { queue, method, options }: Listener): void {
    const methods = instance as Record<string, (delivery: Delivery) => unknown>;
    const handler = (delivery: Delivery): unknown => methods[method]?.(delivery);
    const worker = new Worker(
      this.client,
      { [queue]: handler },
      { ...this.options.worker, ...options },
    );
    const ended = worker.run().catch((error: unknown) => {
      process.stderr.write(`tarry: the worker of ${queue} has ended: ${String(error)}\n`);
    });
    this.#running.push({ worker, ended });
  }
}
Injectable()(Listeners);
Inject(DiscoveryService)(Listeners, undefined, 0);
Inject(Client)(Listeners, undefined, 1);
Inject(moduleOptions)(Listeners, undefined, 2);

/** `imports: [TarryModule.forRoot({ url })]` provides `Client`, and runs the listeners. */
export class TarryModule {
  static forRoot(options: TarryModuleOptions = {}): DynamicModule {
    return {
      module: TarryModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        { provide: moduleOptions, useValue: options },
        { provide: Client, useFactory: () => new Client(options.url, options) },
        Listeners,
      ],
      exports: [Client],
    };
  }
}
Module({})(TarryModule);
