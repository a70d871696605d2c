/** `/metrics` of `serve --http`: who may read it, what Prometheus makes of it, and the dashboard that asks for it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { statisticsOf } from "../../src/programs/ledger/statistics.ts";
import { root } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { type HttpServe, httpServe, sdkHost } from "../support/http-serve.ts";
import { fixture } from "../support/servers.ts";
import { storedCounts } from "../support/stored.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

const token = "0123456789abcdef0123456789abcdef";
const prometheus = Bun.which("prometheus");
const promtool = Bun.which("promtool");
const note = " (skipped: Prometheus is not installed)";

let folder: TemporaryFolder;
let serve: HttpServe;
beforeAll(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: {
      near: { ...fixture("traced", "stdio", "near"), deny: ["meta"] },
      asking: { ...fixture("traced", "stdio", "asking"), confirm: "always" },
      slow: { ...fixture("echo", "well", folder.path), maxCallsInFlight: 1 },
    },
    doors: { qa: { servers: ["near"] } },
  });
  folder.write("token", token);
  serve = await httpServe(folder, ["--metrics", "--token-file", join(folder.path, "token")]);
  for (const url of [serve.url, serve.url.replace("/mcp", "/qa")]) {
    const headers = { authorization: `Bearer ${token}` };
    await using host = await sdkHost(url, {}, { headers });
    await host.execute("return [await near.echo({}), await near.echo({})]");
    await host.execute("await near.fail({})");
    await host.execute("await near.meta({})");
  }
});
afterAll(async () => {
  await serve[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const data = () => ({ XDG_DATA_HOME: join(folder.path, "data") });
const address = () => new URL("/metrics", serve.url);
const ask = (authorization?: string, method = "GET") =>
  fetch(address(), { method, headers: authorization === undefined ? {} : { authorization } });

/** A sample: its name, its labels and its value. */
function samples(text: string): { name: string; labels: Record<string, string>; value: number }[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, each]) => [key, each]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

async function metrics() {
  const response = await ask(`Bearer ${token}`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return samples(await response.text());
}

async function sum(name: string, fitting: Record<string, string> = {}): Promise<number> {
  const fits = (labels: Record<string, string>) => Object.entries(fitting).every(([key, each]) => labels[key] === each);
  return (await metrics())
    .filter((sample) => sample.name === name && fits(sample.labels))
    .reduce((total, { value }) => total + value, 0);
}

test("only the token that opens every address reads the metrics", async () => {
  expect((await ask()).status).toBe(401);
  expect((await ask("Bearer wrong")).status).toBe(401);
  expect((await ask(`Bearer ${token}`)).status).toBe(200);
  expect((await ask(`Bearer ${token}`, "POST")).status).toBe(405);
});

test("there are no metrics unless they are asked for, by a flag, the config or a variable", async () => {
  using other = temporaryFolder();
  const statusOf = async (config: object, env: Record<string, string> = {}) => {
    other.write("claudikins.json", { mcpServers: {}, ...config });
    await using started = await httpServe(other, [], { env });
    return (await fetch(new URL("/metrics", started.url))).status;
  };
  expect(await statusOf({})).toBe(404);
  expect(await statusOf({ telemetry: { prometheus: true } })).toBe(200);
  expect(await statusOf({}, { OTEL_METRICS_EXPORTER: "prometheus" })).toBe(200);
  expect(await statusOf({ telemetry: { prometheus: true } }, { OTEL_SDK_DISABLED: "true" })).toBe(404);
});

test("the metrics count all doors, and equal the statistics", async () => {
  expect(await sum("claudikins_executions_total")).toBe(6);
  expect(await sum("claudikins_executions_total", { claudikins_door: "qa" })).toBe(3);
  expect(await sum("claudikins_calls_total", { claudikins_outcome: "ok" })).toBe(4);
  expect(await sum("claudikins_calls_total", { claudikins_outcome: "tool_error" })).toBe(2);
  expect(await sum("claudikins_calls_total", { error_type: "POLICY_DENIED" })).toBe(2);
  expect(await sum("mcp_server_operation_duration_count", { gen_ai_tool_name: "execute_code" })).toBe(6);
  expect(await sum("claudikins_servers_connected", { claudikins_server: "near" })).toBeGreaterThan(0);
  expect(await sum("claudikins_process_memory")).toBeGreaterThan(10_000_000);
  const counted = await eventually(async () => {
    const [counts] = (await storedCounts(data())).values();
    const calls = counts?.uses().reduce((total, [, , use]) => total + use.calls, 0);
    return calls === 8 ? calls : undefined;
  });
  expect(await sum("claudikins_calls_total")).toBe(counted);
});

test("the tokens that were kept out are those of the statistics", async () => {
  const of = async () => statisticsOf((await storedCounts(data())) as never, { now: new Date() }).total.tokens.keptOut;
  await eventually(async () => (await of()) === (await sum("claudikins_tokens_kept_out")) && (await of()) !== 0);
});

test("the metrics show what waits and what is queued", async () => {
  const headers = { authorization: `Bearer ${token}` };
  await using host = await sdkHost(serve.url, {}, { headers });
  const start = (code: string) =>
    host.client.callTool({ name: "execute_code", arguments: { code, background: true } }) as Promise<object>;
  const state = (name: string) => sum("claudikins_executions_active", { claudikins_state: name, claudikins_door: "" });
  const queued = () => sum("claudikins_calls_queued", { claudikins_server: "slow" });
  expect([await state("waiting"), await state("running"), await queued()]).toEqual([0, 0, 0]);
  await start('await sleep("1h")');
  await start("await asking.echo({})");
  await start("await Promise.all([1, 2, 3].map(() => slow.echo({ delayMs: 20000 })))");
  await eventually(async () => (await state("waiting")) === 2 && (await state("running")) === 1);
  await eventually(async () => (await queued()) === 2);
  await eventually(async () => (await sum("claudikins_approvals_waiting")) === 1);
});

describe("the dashboard", () => {
  const dashboard = JSON.parse(readFileSync(join(root, "deploy", "grafana", "claudikins.json"), "utf8"));
  const queries: string[] = [
    ...dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    ),
    ...dashboard.templating.list.flatMap(
      ({ query }: { query: string }) => /^label_values\((.*)\)$/.exec(query)?.[1] ?? [],
    ),
  ];

  test("asks only for metrics and labels that exist", async () => {
    expect(queries.length).toBeGreaterThan(15);
    const all = await metrics();
    const names = new Set(all.map(({ name }) => name));
    const labels = new Set(["job", "instance", ...all.flatMap((each) => Object.keys(each.labels))]);
    const words = queries.flatMap((query) => query.match(/\b(?:claudikins|mcp|gen_ai|error)_\w+/g) ?? []);
    expect(words.length).toBeGreaterThan(20);
    // The others are metrics of replicas with a database: team-metrics.slow.test.ts.
    const ofTeams = /^claudikins_(?:lease|database|stored|programs)_|^claudikins_replicas$/;
    expect(words.filter((word) => !names.has(word) && !labels.has(word) && !ofTeams.test(word))).toEqual([]);
  });

  test("shows every metric", async () => {
    const text = queries.join("\n");
    const names = new Set((await metrics()).map(({ name }) => name.replace(/_(?:bucket|count|sum)$/, "")));
    names.delete("target_info");
    expect([...names].filter((name) => !text.includes(name))).toEqual([]);
  });
});

test.skipIf(!prometheus)(
  `Prometheus scrapes the metrics and answers the dashboard${prometheus ? "" : note}`,
  async () => {
    const port = freePort();
    const config = folder.write(
      "prometheus.yml",
      `global: { scrape_interval: 1s }
scrape_configs:
  - job_name: claudikins
    authorization: { credentials_file: ${join(folder.path, "token")} }
    static_configs: [{ targets: ["${address().host}"] }]
`,
    );
    const checked = Bun.spawnSync([promtool!, "check", "metrics"], {
      stdin: Buffer.from(await (await ask(`Bearer ${token}`)).text()),
    });
    // It finds fault with names that the conventions give, but not with the format.
    expect(checked.stderr.toString()).not.toContain("error while linting");
    const child = Bun.spawn(
      [
        prometheus!,
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder.path, "prometheus")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdout: "ignore", stderr: "ignore" },
    );
    try {
      const query = async (text: string) => {
        const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(text)}`);
        const { status, data } = (await answer.json()) as {
          status: string;
          data: { result: { value: [number, string] }[] };
        };
        expect([text, status]).toEqual([text, "success"]);
        return data.result.map(({ value }) => Number(value[1]));
      };
      await eventually(async () => (await query("claudikins_process_memory").catch(() => [])).length > 0);
      expect(await query('sum(claudikins_calls_total{job="claudikins"})')).toEqual([
        await sum("claudikins_calls_total"),
      ]);
      const dashboard = JSON.parse(readFileSync(join(root, "deploy", "grafana", "claudikins.json"), "utf8"));
      for (const { targets = [] } of dashboard.panels) {
        for (const { expr } of targets) {
          await query(expr.replaceAll("$job", ".*").replaceAll(/\$__(?:rate_interval|range)/g, "1m"));
        }
      }
    } finally {
      child.kill("SIGKILL");
      await child.exited;
    }
  },
);
