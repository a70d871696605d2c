/** The entries of the audit log as log records: each once, from the process that has written it, and without contents. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { openStore } from "../../src/store/open.ts";
import { auditLines } from "../support/audit.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { openHost } from "../support/host.ts";
import { OtlpReceiver } from "../support/otlp.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

let server: PostgresFixture | undefined;
beforeAll(async () => {
  if (postgresNote === "") server = await postgresFixture();
});
afterAll(() => server?.[Symbol.asyncDispose]());

function project(telemetry: object = {}): TemporaryFolder {
  const folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: { echo: fixture("echo", "well", folder.path) },
    policy: { confirm: { "echo.echo": "always" } },
    ...telemetry,
  });
  return folder;
}

const eventsOf = (receiver: OtlpReceiver) => receiver.lines.filter(({ event }) => event !== "");

test("decisions about calls and changes by commands are sent once, and no argument is", async () => {
  using receiver = new OtlpReceiver();
  using folder = project();
  const env = {
    XDG_DATA_HOME: join(folder.path, "data"),
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BLRP_SCHEDULE_DELAY: "50",
    CLAUDIKINS_TELEMETRY_AUDIT: "true",
    CLAUDIKINS_DAEMON: "off",
  };
  const run = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env });
  expect((await run("tokens", "add", "--name", "ci", "--json")).exitCode).toBe(0);
  {
    await using host = await openHost(folder, { env });
    const code = 'return await echo.echo({ secretly: "the argument" })';
    const call = host.client.callTool({ name: "execute_code", arguments: { code } });
    const approval = await eventually(async () => {
      await using store = openStore(env);
      return (await store.approvals.list({ state: "open" }))[0];
    });
    await using store = openStore(env);
    const by = { place: "command", user: "ada", pid: 1, terminal: true } as const;
    // Another process without telemetry decides: nobody sends this entry.
    await store.approvals.change({ type: "withdraw", ids: [approval.id] }, by, Date.now());
    await call;
    const { execution } = approval;
    const denied = host.client.callTool({ name: "execute_code", arguments: { code } });
    const next = await eventually(async () => (await store.approvals.list({ state: "open" }))[0]);
    expect(next.execution).not.toBe(execution);
    expect((await run("approvals", "deny", next.id)).exitCode).toBe(0);
    await denied;
  }
  const events = eventsOf(receiver);
  const names = events.map(({ event }) => event).sort();
  expect(names).toContain("claudikins.audit.issued");
  expect(names.filter((name) => name === "claudikins.audit.denied")).toHaveLength(1);
  const denied = events.find(({ event }) => event === "claudikins.audit.denied")!;
  const lines = auditLines(env);
  const line = lines.find(({ decision }) => decision === "denied")!;
  expect(denied).toMatchObject({
    text: "denied echo.echo",
    severity: "INFO",
    attributes: {
      "claudikins.audit.decision": "denied",
      "claudikins.server": "echo",
      "gen_ai.tool.name": "echo",
      "claudikins.execution.id": line.execution,
      "claudikins.approval.id": line.approval,
      "claudikins.audit.decider.place": "command",
      "process.pid": line.by.pid,
    },
  });
  expect(JSON.stringify(receiver.lines)).not.toContain("the argument");
});

test("nothing is sent without the setting, and the config can have it", async () => {
  for (const audit of [false, true]) {
    using receiver = new OtlpReceiver();
    using folder = project({ telemetry: { endpoint: receiver.url, audit } });
    const env = { XDG_DATA_HOME: join(folder.path, "data"), CLAUDIKINS_DAEMON: "off" };
    const run = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env });
    expect((await run("trust", "--yes")).exitCode).toBe(0);
    const prepare = (client: Client) =>
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept" as const, content: { answer: "once" } }));
    {
      await using host = await openHost(folder, { env, prepare, capabilities: { elicitation: {} } });
      await host.call("execute_code", { code: "return await echo.echo({ a: 1 })" });
    }
    await eventually(() => !audit || eventsOf(receiver).length > 0);
    const decided = auditLines(env).filter(({ server }) => server === "echo").length;
    expect(decided).toBeGreaterThan(0);
    expect(eventsOf(receiver)).toHaveLength(audit ? decided : 0);
  }
});

test.skipIf(postgresNote !== "")(`two replicas on one Postgres send each entry once${postgresNote}`, async () => {
  using receiver = new OtlpReceiver();
  using folder = project();
  const url = await server!.database();
  const env = {
    XDG_DATA_HOME: join(folder.path, "data"),
    CLAUDIKINS_DATABASE: url,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${receiver.url}/v1/logs`,
    CLAUDIKINS_TELEMETRY_AUDIT: "true",
  };
  const names = ["one", "two", "three", "four"];
  const add = (name: string) =>
    runProgram([...claudikinsCommand, "tokens", "add", "--name", name], { cwd: folder.path, env });
  const added = await Promise.all(names.map(add));
  expect(added.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  await using store = openStore(env);
  expect(await store.audit.lastPlace()).toBe(4);
  const pids = eventsOf(receiver).map(({ attributes }) => attributes["process.pid"]);
  expect(new Set(pids).size).toBe(4);
  expect(pids).toHaveLength(4);
});
