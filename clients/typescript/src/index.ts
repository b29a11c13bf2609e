// tarry: a delay queue. This is its client; docs/guide/typescript.md shows how to use it.

export type { Tls } from "./address.js";
export type { Counts } from "./book.js";
export type { Result } from "./calls.js";
export { Client } from "./client.js";
export type { ClientOptions } from "./client.js";
export { Taken, deliveries } from "./deliveries.js";
export type { DeliveriesOptions } from "./deliveries.js";
export { Delivery } from "./delivery.js";
export {
  Conflict,
  InvalidRequest,
  NoSpace,
  NotFound,
  PermissionDenied,
  ServerFailure,
  TarryError,
  Unavailable,
  UnknownOutcome,
  Unsupported,
} from "./errors.js";
export type { NextStep } from "./errors.js";
export { Outcome } from "./model.js";
export type {
  Action,
  Bulk,
  Bytes,
  Changed,
  Claimed,
  Forecast,
  History,
  HistoryEvent,
  IfExists,
  Message,
  Page,
  ProjectedSpan,
  Projection,
  PushOptions,
  Pushed,
  QueueInfo,
  Rates,
  Settings,
  Settled,
  State,
  Stored,
  Why,
} from "./model.js";
export type { Duration, Moment } from "./moments.js";
export { Queue } from "./queue.js";
export type {
  Missed,
  Occurrence,
  OccurrencesQuery,
  Schedule,
  ScheduleDefinition,
  ScheduleTimes,
} from "./schedules.js";
export type {
  BulkOptions,
  ClaimOptions,
  ListOptions,
  Move,
  Settlement,
  SettingsPatch,
} from "./verbs.js";
export { Verdict, ack, bury, release, retry } from "./verdicts.js";
export { version } from "./version.js";
export { Worker } from "./worker.js";
export type { Handler, WorkerOptions } from "./worker.js";
