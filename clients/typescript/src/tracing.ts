// Traces: `traceparent` travels with messages. OpenTelemetry's API is used if it is installed.

type Api = typeof import("@opentelemetry/api");

let api: Api | undefined;
let looking: Promise<void> | undefined = import("@opentelemetry/api").then(
  (found) => {
    // A CommonJS module may come as the default of its namespace.
    api = "trace" in found ? found : (found as { default: Api }).default;
    looking = undefined;
  },
  () => {
    looking = undefined;
  },
);

/** Resolves once it is known whether the API is there. */
export async function found(): Promise<void> {
  if (looking) await looking;
}

type Carrier = Record<string, string>;

function attributes(queue: string): Carrier {
  return { "messaging.system": "tarry", "messaging.destination.name": queue };
}

/** Runs a push in a span; gives it the headers that carry the span. */
export async function sending<T>(queue: string, run: (headers: Carrier) => Promise<T>): Promise<T> {
  await found();
  if (!api) return run({});
  const { context, propagation, trace, SpanKind } = api;
  const options = { kind: SpanKind.PRODUCER, attributes: attributes(queue) };
  const span = trace.getTracer("tarry").startSpan(`push ${queue}`, options);
  const headers: Carrier = {};
  const active = trace.setSpan(context.active(), span);
  propagation.inject(active, headers);
  const wanted: Carrier = {};
  for (const name of ["traceparent", "tracestate"]) {
    const value = headers[name];
    if (value) wanted[name] = value;
  }
  return inSpan(span, () => run(wanted), active);
}

/** Runs a handler in a span, within the trace of the push. */
export async function handling<T>(
  queue: string,
  key: string,
  headers: Readonly<Carrier>,
  run: () => T | Promise<T>,
): Promise<T> {
  if (!api) return run();
  const { context, propagation, trace, SpanKind } = api;
  const parent = propagation.extract(context.active(), headers);
  const options = {
    kind: SpanKind.CONSUMER,
    attributes: { ...attributes(queue), "messaging.message.id": key },
  };
  const span = trace.getTracer("tarry").startSpan(`process ${queue}`, options, parent);
  return inSpan(span, run, trace.setSpan(parent, span));
}

async function inSpan<T>(
  span: import("@opentelemetry/api").Span,
  run: () => T | Promise<T>,
  active: import("@opentelemetry/api").Context,
): Promise<T> {
  const { context, SpanStatusCode } = api as Api;
  try {
    return await context.with(active, run);
  } catch (error) {
    if (error instanceof Error) span.recordException(error);
    span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
    throw error;
  } finally {
    span.end();
  }
}
