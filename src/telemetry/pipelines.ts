/** Collects spans, metrics and log lines, and sends them in batches in the background. A message that a receiver refuses is dropped. */
import { createNoopMeter, type Logger, type Meter, type Tracer } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { MeterProvider } from "@opentelemetry/sdk-metrics";
import type { Sampler } from "@opentelemetry/sdk-trace";
import { version } from "../base/version.ts";
import type { Sampling, TelemetrySettings } from "../config/telemetry.ts";
import { type ExporterOptions, logExporter, metricExporter, spanExporter } from "./exporters.ts";
import { maxSeries } from "./limits.ts";

/** Ended spans and log records that wait to be sent. Further ones are dropped, so that a receiver that is down costs no more memory. */
const maxQueued = 2_048;

/** Spans or log records of one message. */
const maxBatch = 512;

export interface Pipelines {
  tracer: Tracer | undefined;
  meter: Meter;
  logger: Logger | undefined;
  prometheus: (() => Promise<string>) | undefined;
  /** Sends what is left and ends. Rejects if a receiver does not take it. */
  end(): Promise<unknown>;
}

/** The name under which everything is sent. */
const scope = "claudikins";

export async function openPipelines(settings: TelemetrySettings, options: ExporterOptions): Promise<Pipelines> {
  const resource = await resourceOf(settings);
  const [traces, metrics, logs] = await Promise.all([
    openTraces(settings, resource, options),
    openMetrics(settings, resource, options),
    openLogs(settings, resource, options),
  ]);
  return {
    tracer: traces?.getTracer(scope, version),
    meter: metrics?.provider.getMeter(scope, version) ?? createNoopMeter(),
    logger: logs?.getLogger(scope, version),
    prometheus: metrics?.prometheus,
    end: () => Promise.allSettled([traces?.shutdown(), metrics?.provider.shutdown(), logs?.shutdown()]),
  };
}

/** The resource that sends. The attributes of `OTEL_RESOURCE_ATTRIBUTES` are added to ours. */
async function resourceOf({ serviceName }: TelemetrySettings): Promise<Resource> {
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await import(
    "@opentelemetry/resources"
  );
  const own = resourceFromAttributes({
    "service.name": "claudikins",
    "service.version": version,
    "service.instance.id": crypto.randomUUID(),
    "process.pid": process.pid,
  });
  const named = serviceName === undefined ? {} : { "service.name": serviceName };
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes(named));
}

async function openTraces(
  { destinations, sampled, delays }: TelemetrySettings,
  resource: Resource,
  options: ExporterOptions,
) {
  if (!destinations.traces) return undefined;
  const sdk = await import("@opentelemetry/sdk-trace");
  const exporter = await spanExporter(destinations.traces, options);
  const processor = new sdk.BatchSpanProcessor({ exporter, ...batches(delays.spansMs) });
  return new sdk.TracerProvider({ resource, sampler: samplerOf(sampled, sdk), spanProcessors: [processor] });
}

function samplerOf({ ratio, followsCaller }: Sampling, sdk: typeof import("@opentelemetry/sdk-trace")): Sampler {
  const root = new sdk.TraceIdRatioBasedSampler(ratio);
  return followsCaller ? new sdk.ParentBasedSampler({ root }) : root;
}

function batches(delayMs: number | undefined) {
  const delay = delayMs === undefined ? {} : { scheduledDelayMillis: delayMs };
  return { maxQueueSize: maxQueued, maxExportBatchSize: maxBatch, ...delay };
}

async function openMetrics(
  { destinations, prometheus, delays }: TelemetrySettings,
  resource: Resource,
  options: ExporterOptions,
): Promise<{ provider: MeterProvider; prometheus: Pipelines["prometheus"] } | undefined> {
  if (!destinations.metrics && !prometheus) return undefined;
  const { MeterProvider, PeriodicExportingMetricReader } = await import("@opentelemetry/sdk-metrics");
  const pulled = prometheus ? await (await import("./prometheus.ts")).prometheusReader() : undefined;
  const pushed = destinations.metrics && [
    new PeriodicExportingMetricReader({
      exporter: await metricExporter(destinations.metrics, options),
      cardinalityLimits: { default: maxSeries },
      ...(delays.metricsMs === undefined ? {} : { exportIntervalMillis: delays.metricsMs }),
    }),
  ];
  const readers = [...(pushed ?? []), ...(pulled ? [pulled.reader] : [])];
  return { provider: new MeterProvider({ resource, readers }), prometheus: pulled?.text };
}

async function openLogs({ destinations, delays }: TelemetrySettings, resource: Resource, options: ExporterOptions) {
  if (!destinations.logs) return undefined;
  const { BatchLogRecordProcessor, LoggerProvider } = await import("@opentelemetry/sdk-logs");
  const exporter = await logExporter(destinations.logs, options);
  const processor = new BatchLogRecordProcessor({ exporter, ...batches(delays.logsMs) });
  return new LoggerProvider({ resource, processors: [processor] });
}
