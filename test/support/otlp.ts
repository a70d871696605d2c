/** A receiver of OTLP over HTTP, which decodes what it gets with the protocol's own definitions. */
import root from "otlp-decoder/build/src/generated/root.js";

// biome-ignore lint/suspicious/noExplicitAny: messages of a protocol, whose classes have no types
type Any = any;

const { collector } = (root as Any).opentelemetry.proto;

export interface ReceivedSpan {
  service: string;
  name: string;
  kind: number;
  trace: string;
  id: string;
  /** Undefined for the first span of a trace. */
  parent: string | undefined;
  state: string;
  failed: boolean;
  attributes: Record<string, unknown>;
  ms: number;
}

export interface ReceivedPoint {
  metric: string;
  unit: string;
  /** The value, or the number of values of a histogram. */
  value: number;
  sum: number | undefined;
  bounds: number[] | undefined;
  attributes: Record<string, unknown>;
  /** The process. */
  instance: string;
}

interface ReceivedLine {
  text: string;
  severity: string;
  trace: string;
  /** Empty for a line of the log. */
  event: string;
  attributes: Record<string, unknown>;
}

interface Received {
  path: string;
  type: string;
  headers: Headers;
}

export class OtlpReceiver implements Disposable {
  readonly spans: ReceivedSpan[] = [];
  readonly lines: ReceivedLine[] = [];
  readonly requests: Received[] = [];
  readonly #points: ReceivedPoint[] = [];
  readonly #server: Bun.Server<undefined>;
  readonly #hangs: boolean;

  /** With `hangs`, it takes everything and never answers. */
  constructor({ hangs = false } = {}) {
    this.#hangs = hangs;
    this.#server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => this.#take(request) });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** The last values of a metric, by its attributes and the process. */
  points(metric: string): ReceivedPoint[] {
    const last = new Map<string, ReceivedPoint>();
    for (const each of this.#points) {
      if (each.metric === metric) last.set(JSON.stringify([each.instance, each.attributes]), each);
    }
    return [...last.values()];
  }

  get metrics(): string[] {
    return [...new Set(this.#points.map(({ metric }) => metric))].sort();
  }

  /** The sum of a metric over all attributes that fit. */
  sum(metric: string, fitting: Record<string, unknown> = {}): number {
    const fits = ({ attributes }: ReceivedPoint) =>
      Object.entries(fitting).every(([name, value]) => attributes[name] === value);
    return this.points(metric)
      .filter(fits)
      .reduce((sum, { value }) => sum + value, 0);
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  async #take(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const type = request.headers.get("content-type") ?? "";
    this.requests.push({ path, type, headers: request.headers });
    const message = decoded(path, type, new Uint8Array(await request.arrayBuffer()));
    for (const each of message.resourceSpans ?? []) this.#takeSpans(each);
    for (const each of message.resourceMetrics ?? []) this.#takeMetrics(each);
    for (const each of message.resourceLogs ?? []) this.#takeLines(each);
    if (this.#hangs) await new Promise(() => {});
    return type === "application/json" ? Response.json({}) : new Response("", { headers: { "content-type": type } });
  }

  #takeSpans({ resource, scopeSpans }: Any): void {
    const service = String(attributesOf(resource?.attributes)["service.name"]);
    for (const span of scopeSpans.flatMap((each: Any) => each.spans)) {
      this.spans.push({
        service,
        name: span.name,
        kind: kindOf(span.kind),
        trace: hex(span.traceId),
        id: hex(span.spanId),
        parent: hex(span.parentSpanId) || undefined,
        state: span.traceState ?? "",
        failed: ["STATUS_CODE_ERROR", 2].includes(span.status?.code),
        attributes: attributesOf(span.attributes),
        ms: (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6,
      });
    }
  }

  #takeMetrics({ resource, scopeMetrics }: Any): void {
    const instance = String(attributesOf(resource?.attributes)["service.instance.id"]);
    for (const { name, unit, ...data } of scopeMetrics.flatMap((each: Any) => each.metrics)) {
      const { dataPoints } = data.sum ?? data.gauge ?? data.histogram;
      for (const point of dataPoints) {
        this.#points.push({
          metric: name,
          unit,
          value: Number(point.count ?? point.asInt ?? point.asDouble),
          sum: point.sum,
          bounds: point.explicitBounds,
          attributes: attributesOf(point.attributes),
          instance,
        });
      }
    }
  }

  #takeLines({ scopeLogs }: Any): void {
    for (const { body, severityText, traceId, eventName, attributes } of scopeLogs.flatMap(
      (each: Any) => each.logRecords,
    )) {
      this.lines.push({
        text: body.stringValue,
        severity: severityText,
        trace: hex(traceId),
        event: eventName ?? "",
        attributes: attributesOf(attributes),
      });
    }
  }
}

const messages: Record<string, Any> = {
  "/v1/traces": collector.trace.v1.ExportTraceServiceRequest,
  "/v1/metrics": collector.metrics.v1.ExportMetricsServiceRequest,
  "/v1/logs": collector.logs.v1.ExportLogsServiceRequest,
};

function decoded(path: string, type: string, bytes: Uint8Array): Any {
  if (type === "application/json") return JSON.parse(new TextDecoder().decode(bytes));
  const message = messages[path];
  return message.toObject(message.decode(bytes), { longs: Number, bytes: Buffer });
}

function attributesOf(list: Any[] = []): Record<string, unknown> {
  return Object.fromEntries(
    list.map(({ key, value }) => {
      const [kind = "", raw] = Object.entries(value)[0] ?? [];
      return [key, kind === "intValue" ? Number(raw) : raw];
    }),
  );
}

/** JSON has ids as hexadecimal, and protobuf as bytes. */
function hex(id: string | Uint8Array | undefined): string {
  return typeof id === "string" ? id : Buffer.from(id ?? []).toString("hex");
}

function kindOf(kind: number | string): number {
  const names = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT"];
  return typeof kind === "number" ? kind : names.indexOf(kind.replace("SPAN_KIND_", ""));
}
