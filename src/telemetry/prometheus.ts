/** The metrics as the text that Prometheus reads. They are collected when it asks. */
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { AggregationTemporality, MetricReader } from "@opentelemetry/sdk-metrics";
import { maxSeries } from "./limits.ts";

class PulledMetrics extends MetricReader {
  readonly #serializer = new PrometheusSerializer("", false, undefined, false, true);

  constructor() {
    super({
      aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE,
      cardinalitySelector: () => maxSeries,
    });
  }

  async text(): Promise<string> {
    const { resourceMetrics } = await this.collect();
    return this.#serializer.serialize(resourceMetrics);
  }

  protected override async onForceFlush(): Promise<void> {}

  protected override async onShutdown(): Promise<void> {}
}

export function prometheusReader(): { reader: MetricReader; text: () => Promise<string> } {
  const reader = new PulledMetrics();
  return { reader, text: () => reader.text() };
}
