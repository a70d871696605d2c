/** What the config and the usual variables of OpenTelemetry mean. */
import { describe, expect, test } from "bun:test";
import { traceIn } from "../../src/base/trace-context.ts";
import { loadConfig } from "../../src/config/load.ts";
import { parsedConfig } from "../../src/config/plain-config.ts";
import { telemetryOf } from "../../src/config/telemetry.ts";
import { linesOf } from "../../src/setup/trust/lines.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** The addresses by signal. */
function urls(...given: Parameters<typeof telemetryOf>): Record<string, string> | undefined {
  const settings = telemetryOf(...given);
  return (
    settings && Object.fromEntries(Object.entries(settings.destinations).map(([signal, { url }]) => [signal, url]))
  );
}

const all = (base: string) => ({
  traces: `${base}/v1/traces`,
  metrics: `${base}/v1/metrics`,
  logs: `${base}/v1/logs`,
});

describe("the call log and people", () => {
  const chosen = (...given: Parameters<typeof telemetryOf>) => {
    const { calls, people, problems } = telemetryOf(...given) ?? {};
    return { calls, people, problems };
  };
  const endpoint = "http://otel";

  test("are sent if the config or a variable says so, and the variable has precedence", () => {
    expect(chosen({ endpoint }, {})).toEqual({ calls: false, people: false, problems: [] });
    expect(chosen({ endpoint, calls: true, people: true }, {})).toEqual({ calls: true, people: true, problems: [] });
    const on = { CLAUDIKINS_TELEMETRY_CALLS: "true", CLAUDIKINS_TELEMETRY_PEOPLE: "TRUE" };
    expect(chosen({ endpoint }, on)).toEqual({ calls: true, people: true, problems: [] });
    const off = { CLAUDIKINS_TELEMETRY_CALLS: "false", CLAUDIKINS_TELEMETRY_PEOPLE: "no" };
    expect(chosen({ endpoint, calls: true, people: true }, off)).toEqual({ calls: false, people: false, problems: [] });
  });

  test("need an address for logs", () => {
    const problems = ["the call log is not sent: telemetry has no address for logs"];
    expect(chosen({ endpoint, calls: true, logs: false }, {})).toEqual({ calls: true, people: false, problems });
  });
});

describe("telemetry", () => {
  test("is off without an address or an exporter, whatever else is set", () => {
    const env = { OTEL_SERVICE_NAME: "x", OTEL_RESOURCE_ATTRIBUTES: "a=b", OTEL_EXPORTER_OTLP_ENDPOINT: " " };
    expect(telemetryOf(undefined, env)).toBeUndefined();
    expect(telemetryOf({ contents: true, headers: { a: "b" } }, {})).toBeUndefined();
    expect(telemetryOf({ prometheus: true }, {})).toBeUndefined();
  });

  test("goes to the address of the variables before that of the config", () => {
    const entry = { endpoint: "https://of.config/base/", headers: { "x-key": "k" } };
    expect(urls(entry, {})).toEqual(all("https://of.config/base"));
    expect(telemetryOf(entry, {})!.destinations.traces!.headers).toEqual({ "x-key": "k" });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://of.env:4318" };
    expect(urls(entry, env)).toEqual(all("http://of.env:4318"));
    // The headers of the config are for its own address.
    expect(telemetryOf(entry, env)!.destinations.traces!.headers).toEqual({});
    const own = { ...env, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: "http://logs/x" };
    expect(urls(undefined, own)).toEqual({ ...all("http://of.env:4318"), logs: "http://logs/x" });
    expect(urls(undefined, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://t/x" })).toEqual({ traces: "http://t/x" });
  });

  test("turns signals on and off", () => {
    expect(urls(undefined, { OTEL_TRACES_EXPORTER: "otlp" })).toEqual({ traces: "http://localhost:4318/v1/traces" });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_LOGS_EXPORTER: "none" };
    expect(urls(undefined, env)).toEqual({ traces: "http://a/v1/traces", metrics: "http://a/v1/metrics" });
    expect(urls({ endpoint: "http://a", metrics: false, logs: false }, {})).toEqual({ traces: "http://a/v1/traces" });
    expect(urls({ endpoint: "http://a" }, { OTEL_SDK_DISABLED: "TRUE" })).toBeUndefined();
  });

  test("has /metrics only for serve --http", () => {
    const http = { metrics: false };
    expect(telemetryOf({ prometheus: true }, {}, { http })?.prometheus).toBe(true);
    expect(telemetryOf(undefined, { OTEL_METRICS_EXPORTER: "prometheus" }, { http })?.prometheus).toBe(true);
    expect(telemetryOf(undefined, {}, { http: { metrics: true } })?.prometheus).toBe(true);
    expect(telemetryOf(undefined, {}, { http })).toBeUndefined();
    expect(telemetryOf({ prometheus: true, endpoint: "http://a" }, {})?.prometheus).toBe(false);
  });

  test("says which settings have no effect, and what to do", () => {
    const problems = (env: Record<string, string>, entry?: Parameters<typeof telemetryOf>[0]) =>
      telemetryOf(entry, env)?.problems;
    expect(problems({ OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toEqual([
      "traces are not sent: OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported. Use http/protobuf or http/json, and the port of OTLP over HTTP, which is usually 4318",
    ]);
    expect(problems({ OTEL_TRACES_EXPORTER: "zipkin" })).toEqual([
      "OTEL_TRACES_EXPORTER=zipkin has no effect: use otlp or none",
    ]);
    expect(problems({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "localhost:4317" })).toEqual([
      "traces are not sent: the address of their receiver must start with http:// or https://",
    ]);
    expect(problems({}, { endpoint: "http://a/${TEAM}" })).toEqual([
      '"telemetry" of the config is not used: it needs TEAM in the environment',
    ]);
    const sampling = { OTEL_TRACES_EXPORTER: "otlp", OTEL_TRACES_SAMPLER: "toString", OTEL_TRACES_SAMPLER_ARG: "2" };
    expect(problems(sampling)).toEqual([
      "OTEL_TRACES_SAMPLER=tostring has no effect: use one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio",
      "OTEL_TRACES_SAMPLER_ARG has no effect: it takes a number from 0 to 1",
    ]);
  });

  test("samples as the variables say", () => {
    const sampled = (name: string, ratio = "") =>
      telemetryOf({ endpoint: "http://a" }, { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio })!.sampled;
    expect(sampled("")).toEqual({ ratio: 1, followsCaller: true });
    expect(sampled("traceidratio", "0.25")).toEqual({ ratio: 0.25, followsCaller: false });
    expect(sampled("parentbased_traceidratio", "0.5")).toEqual({ ratio: 0.5, followsCaller: true });
    expect(sampled("always_off", "1")).toEqual({ ratio: 0, followsCaller: false });
  });

  test("has contents only on request", () => {
    const contents = (value: string) =>
      telemetryOf({ endpoint: "http://a" }, { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: value })!.contents;
    expect([contents("true"), contents("SPAN_ONLY"), contents("no_content"), contents("event_only")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("the key telemetry", () => {
  const text = (telemetry: object) => JSON.stringify({ mcpServers: {}, telemetry });

  test("is checked", async () => {
    const problem = async (telemetry: object) =>
      parsedConfig(text(telemetry), "f.json").catch((error) => error.message);
    expect(await problem({ endpoint: "localhost:4318" })).toContain("telemetry.endpoint: expected an address");
    expect(await problem({ protocol: "grpc" })).toContain("telemetry.protocol");
    expect(await problem({ endpoints: "http://a" })).toContain(
      'telemetry.endpoints: unknown key, did you mean "endpoint"?',
    );
    expect(await problem({ headers: { authorization: 7 } })).not.toContain("found 7");
  });

  test("comes from the user's own config if the project has none", async () => {
    using folder = temporaryFolder();
    const env = { HOME: folder.path, XDG_CONFIG_HOME: folder.path, CI: "true" };
    folder.write("claudikins/claudikins.json", JSON.parse(text({ endpoint: "http://own" })));
    const cwd = `${folder.path}/project`;
    const of = async (project: object) => {
      folder.write("project/claudikins.json", { mcpServers: {}, ...project });
      return (await loadConfig({ cwd, env })).telemetry?.endpoint;
    };
    expect(await of({})).toBe("http://own");
    expect(await of({ telemetry: { endpoint: "http://project" } })).toBe("http://project");
    expect(await of({ extends: false })).toBeUndefined();
  });

  test("is shown before a project is trusted, without secrets", async () => {
    const headers = { authorization: "Bearer abcdefgh12345", "x-team": "${TEAM}" };
    const config = await parsedConfig(
      text({ endpoint: "https://a.example/?key=abc", headers, contents: true }),
      "f.json",
    );
    expect(linesOf(config).map(({ part, label, text }) => `${part}: ${label} ${text}`)).toEqual([
      "telemetry: send what programs do to https://a.example/?key=***",
      "telemetry: send authorization: Bearer ***",
      "telemetry: send x-team: ${TEAM}",
      "telemetry: contents true",
      "telemetry: read from the environment TEAM",
    ]);
  });
});

describe("a trace", () => {
  const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  test("is read as W3C Trace Context writes it", () => {
    expect(traceIn({ traceparent: valid })).toEqual({ traceparent: valid });
    expect(traceIn({ traceparent: valid, tracestate: "a=1,b=2" })).toEqual({
      traceparent: valid,
      tracestate: "a=1,b=2",
    });
    // A later version may have more fields.
    expect(traceIn({ traceparent: `01${valid.slice(2)}-more` })).toEqual({ traceparent: `01${valid.slice(2)}-more` });
  });

  test.each([
    undefined,
    {},
    { traceparent: 7 },
    { traceparent: valid.toUpperCase() },
    { traceparent: `ff${valid.slice(2)}` },
    { traceparent: `00-${"0".repeat(32)}-00f067aa0ba902b7-01` },
    { traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${"0".repeat(16)}-01` },
    { traceparent: `${valid}-${"x".repeat(101)}` },
    { traceparent: `${valid}\n` },
  ])("is none if it is not valid: %j", (meta) => {
    expect(traceIn(meta)).toBeUndefined();
  });

  test("loses a state that is too long or has other characters", () => {
    for (const tracestate of ["", 7, "a=1\n", `a=${"x".repeat(600)}`]) {
      expect(traceIn({ traceparent: valid, tracestate })).toEqual({ traceparent: valid });
    }
  });
});
