/** The metrics that only replicas with a database have, and what asks for them: the dashboard, the alerts and their runbook. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpServe, sdkHost } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { openReplicas, type Replicas } from "../support/replicas.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(120_000);

const promtool = Bun.which("promtool");

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}

const read = (...path: string[]) => readFileSync(join(root, ...path), "utf8");
const dashboard = JSON.parse(read("deploy", "grafana", "claudikins.json"));
const { groups } = Bun.YAML.parse(read("deploy", "kubernetes", "files", "alerts.yaml")) as {
  groups: { rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

describe.skipIf(postgresNote !== "")(`replicas with a database${postgresNote}`, () => {
  const folder = ownFolder({ isShared: true });
  let server: PostgresFixture;
  let set: Replicas;
  beforeAll(async () => {
    server = await postgresFixture();
    const servers = { near: fixture("traced", "stdio", "near") };
    folder.write("claudikins.json", { mcpServers: servers, executions: { totalMb: 64 } });
    set = await openReplicas(folder, server, 2, { flags: ["--metrics", "--lame-duck", "60s"] });
  });
  afterAll(async () => {
    await set[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const textOf = async ({ url }: HttpServe) => (await fetch(new URL("/metrics", url))).text();
  const metricOf = async (replica: HttpServe, name: string) => {
    const [, value] = new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, "m").exec(await textOf(replica)) ?? [];
    return value === undefined ? undefined : Number(value);
  };

  test("say what each has, and what all have together", async () => {
    const [one, two] = set.all as [HttpServe, HttpServe];
    await using host = await sdkHost(one.url);
    expect(await host.execute("return (await near.echo({})) !== undefined")).toBe("true");
    expect([await metricOf(one, "claudikins_sessions_open"), await metricOf(two, "claudikins_sessions_open")]).toEqual([
      1, 0,
    ]);
    await host.client.callTool({ name: "execute_code", arguments: { code: 'await sleep("1h")', background: true } });
    for (const replica of [one, two]) {
      await eventually(async () => (await metricOf(replica, "claudikins_programs_saved")) === 1);
      expect(await metricOf(replica, "claudikins_stored_size")).toBeGreaterThan(10_000);
      expect(await metricOf(replica, "claudikins_stored_limit")).toBe(64 * 1024 * 1024);
      expect(await metricOf(replica, "claudikins_replicas")).toBe(2);
      expect(await metricOf(replica, "claudikins_lease_held")).toBe(1);
      expect(await metricOf(replica, "claudikins_lease_lapses_total")).toBe(0);
      expect(await metricOf(replica, "claudikins_database_up")).toBe(1);
      expect(await metricOf(replica, "claudikins_database_answer")).toBeLessThan(1.5);
      expect(await metricOf(replica, "claudikins_leaving")).toBe(0);
    }
  });

  test("have every metric that the dashboard and the alerts ask for", async () => {
    const queries: string[] = [
      ...rules.map(({ expr }) => expr),
      ...dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
        targets.map(({ expr }) => expr),
      ),
    ];
    const [one] = set.all as [HttpServe];
    const text = await textOf(one);
    const known = new Set(text.match(/\b[a-z]\w+/g));
    const words = queries.flatMap((query) => query.match(/\b(?:claudikins|mcp|gen_ai|error)_\w+/g) ?? []);
    expect(words.length).toBeGreaterThan(50);
    // Nothing has failed here.
    expect([...new Set(words)].filter((word) => !known.has(word))).toEqual(["error_type"]);
    const asked = queries.join("\n");
    const names = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
    names.delete("target_info");
    expect([...names].filter((name) => !asked.includes(name))).toEqual([]);
  });

  test("answer while the database is away, and say so", async () => {
    const [one] = set.all as [HttpServe];
    const { promise: away, resolve: back } = Promise.withResolvers<void>();
    const restarted = server.restart(away);
    try {
      await eventually(async () => (await metricOf(one, "claudikins_database_up")) === 0);
      const begunAt = performance.now();
      expect(await textOf(one)).not.toContain("claudikins_database_answer{");
      expect(performance.now() - begunAt).toBeLessThan(4_000);
    } finally {
      back();
      await restarted;
    }
    await eventually(async () => (await metricOf(one, "claudikins_database_up")) === 1);
  });

  test("say that they leave", async () => {
    const [, two] = set.all as [HttpServe, HttpServe];
    two.signal("SIGTERM");
    await eventually(async () => (await metricOf(two, "claudikins_leaving")) === 1);
  });
});

test("each alert has a part of the runbook, which says what it means and what to do", () => {
  const parts = read("docs", "runbook.md").split(/^## /m).slice(1);
  const titles = parts.map((part) => part.split("\n", 1)[0]!);
  for (const { alert, annotations } of rules) {
    expect(annotations.runbook_url).toEndWith(`/docs/runbook.md#${alert.toLowerCase()}`);
    const part = parts[titles.indexOf(alert)];
    expect([alert, part?.includes("**Meaning.**"), part?.includes("**What to do.**")]).toEqual([alert, true, true]);
  }
  expect(titles.filter((title) => title.startsWith("Claudikins"))).toEqual(rules.map(({ alert }) => alert));
});

/** For each alert: what is measured once a minute for 90 minutes, and when the alert has begun and not begun. */
const measured: Record<string, { series: Record<string, string>; quiet: string; fires: string }> = {
  ClaudikinsReplicaDown: {
    series: { 'up{job="team-claudikins",instance="a"}': "1+0x9 0+0x80" },
    quiet: "9m",
    fires: "13m",
  },
  ClaudikinsDatabaseDown: {
    series: { 'claudikins_database_up{instance="a"}': "1+0x9 0+0x80" },
    quiet: "9m",
    fires: "12m",
  },
  ClaudikinsDatabaseSlow: {
    series: { 'claudikins_database_answer{instance="a"}': "0.01+0x9 0.8+0x80" },
    quiet: "12m",
    fires: "16m",
  },
  ClaudikinsLeaseLapsed: {
    series: { 'claudikins_lease_lapses_total{instance="a"}': "0+0x9 1+0x80" },
    quiet: "9m",
    fires: "12m",
  },
  ClaudikinsDrainHangs: { series: { 'claudikins_leaving{instance="a"}': "0+0x9 1+0x80" }, quiet: "20m", fires: "26m" },
  ClaudikinsRoomFull: {
    series: { 'claudikins_stored_size{job="x"}': "10+0x9 90+0x80", 'claudikins_stored_limit{job="x"}': "100+0x90" },
    quiet: "15m",
    fires: "21m",
  },
  ClaudikinsProgramsQueue: {
    series: { 'claudikins_executions_active{job="x",claudikins_state="queued"}': "0+0x9 2+0x80" },
    quiet: "15m",
    fires: "21m",
  },
  ClaudikinsServerFails: {
    series: {
      'claudikins_calls_total{job="x",claudikins_server="s",claudikins_outcome="ok"}': "0+10x90",
      'claudikins_calls_total{job="x",claudikins_server="s",claudikins_outcome="failed"}': "0+0x9 0+10x80",
    },
    quiet: "9m",
    fires: "30m",
  },
  ClaudikinsApprovalsWait: {
    series: { 'claudikins_approvals_waiting{job="x"}': "3+0x9 30+0x80" },
    quiet: "60m",
    fires: "82m",
  },
  ClaudikinsMemory: {
    series: { 'claudikins_process_memory{instance="a"}': "3e8+0x9 1.9e9+0x80" },
    quiet: "15m",
    fires: "21m",
  },
};

describe.skipIf(!promtool)(`promtool${promtool ? "" : " (skipped: Prometheus is not installed)"}`, () => {
  const folder = ownFolder();
  const file = join(root, "deploy", "kubernetes", "files", "alerts.yaml");
  const run = (...args: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([promtool!, ...args]);
    return { exitCode, output: exitCode === 0 ? "" : `${stdout}${stderr}` };
  };

  test("reads the alerts", () => {
    expect(run("check", "rules", file)).toEqual({ exitCode: 0, output: "" });
  });

  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    "%s begins when it should, and not before",
    (name, rule) => {
      const { series, quiet, fires } = measured[name]!;
      const expr = `count(ALERTS{alertname="${name}",alertstate="firing"})`;
      const tests = {
        rule_files: [file],
        evaluation_interval: "1m",
        tests: [
          {
            interval: "1m",
            input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
            promql_expr_test: [
              { expr, eval_time: quiet, exp_samples: [] },
              { expr, eval_time: fires, exp_samples: [{ labels: "{}", value: 1 }] },
            ],
          },
        ],
      };
      expect(run("test", "rules", folder.write("tests.json", tests))).toEqual({ exitCode: 0, output: "" });
      expect(["critical", "warning", "info"]).toContain(rule.labels.severity);
    },
  );
});
