/** The exporters of the three signals. Each sends to its receiver in the protocol of its settings. */
import type { LogRecordExporter } from "@opentelemetry/sdk-logs";
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Destination, Signal } from "../config/telemetry.ts";

export interface ExporterOptions {
  /** Time for one message with all attempts. Undefined: a variable sets it. */
  timeoutMs: number | undefined;
  /** Called when a message was not taken. */
  failed: (signal: Signal, why: string) => void;
}

export async function spanExporter(to: Destination, options: ExporterOptions): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    to.protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  return watched("traces", new OTLPTraceExporter(configOf(to, options)), options);
}

export async function metricExporter(to: Destination, options: ExporterOptions): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    to.protocol === "http/json"
      ? await import("@opentelemetry/exporter-metrics-otlp-http")
      : await import("@opentelemetry/exporter-metrics-otlp-proto");
  return watched("metrics", new OTLPMetricExporter(configOf(to, options)), options);
}

export async function logExporter(to: Destination, options: ExporterOptions): Promise<LogRecordExporter> {
  const { OTLPLogExporter } =
    to.protocol === "http/json"
      ? await import("@opentelemetry/exporter-logs-otlp-http")
      : await import("@opentelemetry/exporter-logs-otlp-proto");
  return watched("logs", new OTLPLogExporter(configOf(to, options)), options);
}

/** The exporters add the headers, the compression and the certificates that the usual variables name. */
function configOf({ url, headers }: Destination, { timeoutMs }: ExporterOptions) {
  return { url, headers, ...(timeoutMs === undefined ? {} : { timeoutMillis: timeoutMs }) };
}

interface ExportResult {
  code: number;
  error?: Error | undefined;
}

/** The same exporter, which reports failures. */
function watched<Item, Exporter extends { export(items: Item, done: (result: ExportResult) => void): void }>(
  signal: Signal,
  exporter: Exporter,
  { failed }: ExporterOptions,
): Exporter {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code !== 0) failed(signal, result.error?.message || "it did not answer in time");
      done(result);
    });
  return exporter;
}
