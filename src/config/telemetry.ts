/** Reads the settings of telemetry: the key `telemetry` of the config, and the variables of OpenTelemetry, which have precedence. */
import type { Environment } from "./environment.ts";
import { expand } from "./expand.ts";

const signals = ["traces", "metrics", "logs"] as const;
export type Signal = (typeof signals)[number];

export const telemetryProtocols = ["http/protobuf", "http/json"] as const;
type TelemetryProtocol = (typeof telemetryProtocols)[number];

export type TelemetryEntry = {
  [Name in Signal | "audit" | "calls" | "people" | "contents" | "prometheus"]?: boolean | undefined;
} & {
  /** The base address of a receiver, to which a path such as `/v1/traces` is added. */
  endpoint?: string | undefined;
  headers?: Record<string, string> | undefined;
  protocol?: TelemetryProtocol | undefined;
};

/** Where one signal goes. Its address and headers may contain secrets. */
export interface Destination {
  url: string;
  /** Headers of the config. The headers of the variables are added to them. */
  headers: Record<string, string>;
  protocol: TelemetryProtocol;
}

export interface TelemetrySettings {
  /** Where each signal goes. A signal that is missing is not sent. */
  destinations: { [Name in Signal]?: Destination };
  /** Whether `serve --http` answers at `/metrics`. */
  prometheus: boolean;
  /** Whether spans have the arguments and results of calls. */
  contents: boolean;
  /** Whether the entries of the audit log are sent with the lines of the log. */
  audit: boolean;
  /** Whether the calls of the call log are sent with the lines of the log. */
  calls: boolean;
  /** Whether spans name the person for whom they are. */
  people: boolean;
  serviceName: string | undefined;
  /** The share of new traces that are recorded. */
  sampled: Sampling;
  /** Time between two messages, by the usual variables. Undefined: the usual one. */
  delays: Delays;
  /** Whether a variable limits the time for one message. */
  hasTimeout: boolean;
  /** Settings that have no effect, each with what to do. */
  problems: string[];
}

/** In milliseconds. */
interface Delays {
  spansMs: number | undefined;
  metricsMs: number | undefined;
  logsMs: number | undefined;
}

export interface Sampling {
  ratio: number;
  /** Whether a trace that the caller records is recorded anyway, and one that it does not record is not. */
  followsCaller: boolean;
}

/**
 * Undefined if nothing is sent and nothing is wrong: then nothing of OpenTelemetry is loaded. `http` is given for `serve --http`, which alone
 * has `/metrics`: with `metrics`, a flag asks for it.
 */
export function telemetryOf(
  written: TelemetryEntry | undefined,
  env: Environment,
  { http }: { http?: { metrics: boolean } | undefined } = {},
): TelemetrySettings | undefined {
  if (variable(env, "OTEL_SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  const problems: string[] = [];
  const entry = filledIn(written, env, problems);
  const destinations: TelemetrySettings["destinations"] = {};
  for (const signal of signals) {
    const destination = destinationOf(signal, entry, env, problems);
    if (destination) destinations[signal] = destination;
  }
  const audit = wantsAudit(env) ?? entry.audit === true;
  if (audit && !destinations.logs && problems.length === 0) {
    problems.push("the audit log is not sent: telemetry has no address for logs");
  }
  const calls = flagOf("CLAUDIKINS_TELEMETRY_CALLS", env) ?? entry.calls === true;
  if (calls && !destinations.logs && problems.length === 0) {
    problems.push("the call log is not sent: telemetry has no address for logs");
  }
  const isPulled = exportersOf("metrics", env).includes("prometheus");
  const prometheus = http !== undefined && (http.metrics || entry.prometheus === true || isPulled);
  if (Object.keys(destinations).length === 0 && !prometheus && problems.length === 0) return undefined;
  return {
    destinations,
    prometheus,
    contents: entry.contents === true || capturing.includes(variable(env, captureVariable)?.toLowerCase() ?? ""),
    audit,
    calls,
    people: flagOf("CLAUDIKINS_TELEMETRY_PEOPLE", env) ?? entry.people === true,
    serviceName: variable(env, "OTEL_SERVICE_NAME"),
    sampled: samplingOf(env, problems),
    delays: {
      spansMs: milliseconds(env, "OTEL_BSP_SCHEDULE_DELAY"),
      metricsMs: milliseconds(env, "OTEL_METRIC_EXPORT_INTERVAL"),
      logsMs: milliseconds(env, "OTEL_BLRP_SCHEDULE_DELAY"),
    },
    hasTimeout: Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP_(?:\w+_)?TIMEOUT$/.test(name)),
    problems,
  };
}

/** What the variable says about the audit log. Undefined without it. */
export function wantsAudit(env: Environment): boolean | undefined {
  return flagOf("CLAUDIKINS_TELEMETRY_AUDIT", env);
}

/** Undefined without the variable. */
function flagOf(name: string, env: Environment): boolean | undefined {
  const value = variable(env, name)?.toLowerCase();
  return value === undefined ? undefined : value === "true";
}

const captureVariable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/** Values of the variable that want contents in spans. */
const capturing = ["true", "span_only", "span_and_event"];

/** The entry with the values of its variables. Empty if one of them is not set. */
function filledIn(written: TelemetryEntry = {}, env: Environment, problems: string[]): TelemetryEntry {
  const { value, missing } = expand(written, env);
  if (missing.length === 0) return value;
  problems.push(`"telemetry" of the config is not used: it needs ${missing.join(", ")} in the environment`);
  return {};
}

function exportersOf(signal: Signal, env: Environment): string[] {
  const named = variable(env, `OTEL_${signal.toUpperCase()}_EXPORTER`) ?? "";
  return named.split(",").flatMap((each) => each.trim().toLowerCase() || []);
}

function destinationOf(
  signal: Signal,
  entry: TelemetryEntry,
  env: Environment,
  problems: string[],
): Destination | undefined {
  const exporters = exportersOf(signal, env);
  for (const odd of exporters.filter((each) => !["otlp", "none"].includes(each))) {
    if (odd === "prometheus" && signal === "metrics") continue;
    problems.push(`OTEL_${signal.toUpperCase()}_EXPORTER=${odd} has no effect: use otlp or none`);
  }
  const own = variable(env, `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`);
  const base = variable(env, "OTEL_EXPORTER_OTLP_ENDPOINT");
  const ofConfig = entry[signal] === false ? undefined : entry.endpoint;
  const isNamed = exporters.length === 0 && [own, base, ofConfig].some((each) => each !== undefined);
  if (!exporters.includes("otlp") && !isNamed) return undefined;
  const protocol = protocolOf(signal, entry, env, problems);
  if (!protocol) return undefined;
  const url = own ?? `${(base ?? ofConfig ?? defaultEndpoint).replace(/\/+$/, "")}/v1/${signal}`;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    problems.push(`${signal} are not sent: the address of their receiver must start with http:// or https://`);
    return undefined;
  }
  const isOfConfig = own === undefined && base === undefined && ofConfig !== undefined;
  return { url, headers: isOfConfig ? (entry.headers ?? {}) : {}, protocol };
}

const defaultEndpoint = "http://localhost:4318";

/** Undefined if the protocol is not supported. */
function protocolOf(
  signal: Signal,
  entry: TelemetryEntry,
  env: Environment,
  problems: string[],
): TelemetryProtocol | undefined {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_PROTOCOL`;
  const name = variable(env, own) === undefined ? "OTEL_EXPORTER_OTLP_PROTOCOL" : own;
  const wanted = variable(env, name) ?? entry.protocol ?? "http/protobuf";
  const known = telemetryProtocols.find((each) => each === wanted);
  if (known) return known;
  const port = wanted === "grpc" ? ", and the port of OTLP over HTTP, which is usually 4318" : "";
  problems.push(
    `${signal} are not sent: ${name}=${wanted} is not supported. Use ${telemetryProtocols.join(" or ")}${port}`,
  );
  return undefined;
}

const samplers: Record<string, (ratio: number) => Sampling> = {
  always_on: () => ({ ratio: 1, followsCaller: false }),
  always_off: () => ({ ratio: 0, followsCaller: false }),
  traceidratio: (ratio) => ({ ratio, followsCaller: false }),
  parentbased_always_on: () => ({ ratio: 1, followsCaller: true }),
  parentbased_always_off: () => ({ ratio: 0, followsCaller: true }),
  parentbased_traceidratio: (ratio) => ({ ratio, followsCaller: true }),
};

function samplingOf(env: Environment, problems: string[]): Sampling {
  const name = variable(env, "OTEL_TRACES_SAMPLER")?.toLowerCase() ?? "parentbased_always_on";
  const written = variable(env, "OTEL_TRACES_SAMPLER_ARG");
  const ratio = Number(written ?? 1);
  const isRatio = ratio >= 0 && ratio <= 1;
  const make = Object.hasOwn(samplers, name) ? samplers[name] : undefined;
  if (!make) problems.push(`OTEL_TRACES_SAMPLER=${name} has no effect: use one of ${Object.keys(samplers).join(", ")}`);
  if (!isRatio) problems.push("OTEL_TRACES_SAMPLER_ARG has no effect: it takes a number from 0 to 1");
  return (make ?? samplers["parentbased_always_on"]!)(isRatio ? ratio : 1);
}

function milliseconds(env: Environment, name: string): number | undefined {
  const value = Number(variable(env, name));
  return Number.isInteger(value) && value > 0 ? value : undefined;
}

/** An empty variable counts as unset. */
function variable(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}
