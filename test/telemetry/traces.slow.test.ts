/** Traces and metrics of a host, programs and servers, as a receiver of OTLP gets them. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hasEnded } from "../../src/daemon/peers.ts";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { openHost } from "../support/host.ts";
import { httpServe, sdkHost } from "../support/http-serve.ts";
import { openModernHost } from "../support/modern-host.ts";
import { type NetworkFixture, networkFixture } from "../support/network.ts";
import { OtlpReceiver, type ReceivedSpan } from "../support/otlp.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { storedCounts, storedSummaries } from "../support/stored.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let receiver: OtlpReceiver;
let network: NetworkFixture;
let env: Record<string, string>;
beforeEach(async () => {
  folder = temporaryFolder();
  receiver = new OtlpReceiver();
  network = await networkFixture("http", { program: "traced", args: ["far", receiver.url] });
  const runtime = join(folder.path, "runtime");
  mkdirSync(runtime, { mode: 0o700 });
  env = {
    XDG_DATA_HOME: join(folder.path, "data"),
    XDG_RUNTIME_DIR: runtime,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: "100",
    OTEL_METRIC_EXPORT_INTERVAL: "500",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  };
  folder.write("claudikins.json", {
    mcpServers: {
      near: { ...fixture("traced", "stdio", "near", receiver.url), deny: ["meta"], confirm: { echo: "never" } },
      far: { url: `http://127.0.0.1:${network.port}/mcp` },
      asking: { ...fixture("traced", "stdio", "asking", receiver.url), confirm: { echo: "always" } },
    },
  });
});
afterEach(async () => {
  await run(["daemon", "stop", "--all"]);
  await network.kill();
  receiver[Symbol.dispose]();
  folder[Symbol.dispose]();
});

function run(argv: string[], more: Record<string, string> = {}) {
  return runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env: { ...env, ...more } });
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const agentSpan = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${agentSpan}-01`;

/** The spans of the trace as a tree of lines: the service, the name, and what is within. */
function tree(parent: string | undefined = agentSpan): object {
  const within = receiver.spans.filter((span) => span.trace === traceId && span.parent === parent);
  return Object.fromEntries(within.map((span) => [`${span.service}: ${span.name}`, tree(span.id)]));
}

function spanOf(service: string, name: string): ReceivedSpan {
  const found = receiver.spans.find((span) => span.service === service && span.name === name);
  if (!found) throw new Error(`there is no span "${name}" of ${service}`);
  return found;
}

const code = `const answers = await Promise.all([near.echo({ a: 1 }), far.echo({ b: 2 })]);
  await near.fail({}).catch(() => {});
  return answers;`;

test.each(["off", "on"])("one trace shows the agent, its program and both servers (daemon %s)", async (daemon) => {
  const host = await openHost(folder, { env: { ...env, CLAUDIKINS_DAEMON: daemon } });
  const _meta = { traceparent, tracestate: "agent=7" };
  await host.request("tools/call", { name: "execute_code", arguments: { code }, _meta });
  await host.client.close();
  await eventually(() => receiver.spans.filter(({ trace }) => trace === traceId).length === 8);
  // Both servers were called in one execution. Their spans of the same name are told apart by their server.
  expect(tree()).toMatchObject({ "claudikins: tools/call execute_code": { "claudikins: execution": {} } });
  const request = spanOf("claudikins", "tools/call execute_code");
  const execution = spanOf("claudikins", "execution");
  const calls = receiver.spans.filter(({ service, kind }) => service === "claudikins" && kind === 3);
  expect(calls.map(({ parent, state }) => [parent, state])).toEqual(Array(3).fill([execution.id, "agent=7"]));
  for (const [server, tool] of [
    ["near", "echo"],
    ["near", "fail"],
    ["far", "echo"],
  ] as const) {
    const call = calls.find(
      ({ name, attributes }) => name === `tools/call ${tool}` && attributes["claudikins.server"] === server,
    );
    expect(spanOf(server, `tools/call ${tool}`)).toMatchObject({ trace: traceId, parent: call!.id });
  }
  expect(request).toMatchObject({ kind: 2, parent: agentSpan, failed: false });
  expect(request.attributes).toMatchObject({
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "execute_code",
    "gen_ai.operation.name": "execute_tool",
    "network.transport": "pipe",
    "mcp.protocol.version": "2025-11-25",
    "jsonrpc.request.id": expect.stringMatching(/^\d+$/),
    "claudikins.execution.id": execution.attributes["claudikins.execution.id"],
  });
  expect(calls.find(({ attributes }) => attributes["claudikins.server"] === "far")!.attributes).toMatchObject({
    "network.transport": "tcp",
    "network.protocol.name": "http",
    "server.address": "127.0.0.1",
    "server.port": network.port,
  });
  const failed = calls.find(({ name }) => name === "tools/call fail");
  expect(failed).toMatchObject({ failed: true, attributes: { "error.type": "tool_error" } });
  // Nothing has contents unless they are asked for.
  expect(JSON.stringify(receiver.spans)).not.toContain("gen_ai.tool.call");
});

test("metrics equal the records and the statistics", async () => {
  const programs = [
    "return [await near.echo({}), await far.echo({}), await far.echo({})]",
    "await near.fail({})",
    "await near.meta({}).catch(() => {}); throw new Error('no')",
  ];
  for (const program of programs) await run(["exec", "-e", program]);
  await run(["call", "far.echo", "--args", "{}"]);
  const summaries = await storedSummaries(env);
  expect(receiver.sum("claudikins.executions")).toBe(summaries.length);
  expect(receiver.sum("claudikins.executions", { "claudikins.outcome": "ok" })).toBe(
    summaries.filter(({ ok }) => ok).length,
  );
  expect(receiver.sum("claudikins.execution.duration")).toBe(summaries.length);
  const [counts] = (await storedCounts(env)).values();
  for (const [server, tool, { calls }] of counts!.uses()) {
    const named = { "claudikins.server": server, "gen_ai.tool.name": tool };
    expect([server, tool, receiver.sum("claudikins.calls", named)]).toEqual([server, tool, calls]);
  }
  expect(receiver.sum("claudikins.calls")).toBe(6);
  const sums = (outcome: string) => receiver.sum("claudikins.calls", { "claudikins.outcome": outcome });
  expect([sums("ok"), sums("tool_error"), sums("denied")]).toEqual([4, 1, 1]);
  // A denied call never left.
  expect(receiver.sum("mcp.client.operation.duration")).toBe(5);
  const [point] = receiver.points("mcp.client.operation.duration");
  expect(point).toMatchObject({
    unit: "s",
    bounds: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
  });
  expect(point!.sum! / point!.value).toBeLessThan(10);
  const calls = receiver.spans.filter(({ service, kind }) => service === "claudikins" && kind === 3);
  expect(calls).toHaveLength(6);
});

test("a program that another process continues stays in its trace", async () => {
  const on = { CLAUDIKINS_DAEMON: "on" };
  const program = "const [a] = await Promise.all([near.echo({ a: 1 })]); return [a, await asking.echo({ b: 2 })]";
  const { stdout } = await run(["exec", "--detach", "-e", program], { ...on, TRACEPARENT: traceparent });
  const id = stdout.trim();
  await using approvals = new Approvals({ env });
  const open = await eventually(async () => (await approvals.open({ execution: id }))[0]);
  await eventually(() => receiver.spans.some(({ service }) => service === "near"));
  const { daemons } = JSON.parse((await run(["daemon", "status", "--json"], on)).stdout);
  process.kill(daemons[0].pid, "SIGTERM");
  await hasEnded(daemons[0].pid, AbortSignal.timeout(10_000));
  await approvals.decide(open.id, { state: "approved", scope: "once", by: "command" });
  expect(JSON.parse((await run(["executions", "wait", id, "--no-daemon"])).stdout)).toEqual([{ a: 1 }, { b: 2 }]);
  expect(tree()).toEqual({
    "claudikins: execution": {
      "claudikins: tools/call echo": { "near: tools/call echo": {} },
      "claudikins: execution": { "claudikins: tools/call echo": { "asking: tools/call echo": {} } },
    },
  });
  const executions = receiver.spans.filter(({ name }) => name === "execution");
  expect(executions.map(({ attributes }) => attributes["claudikins.outcome"])).toEqual(["continues elsewhere", "ok"]);
  expect(receiver.sum("claudikins.executions")).toBe(1);
  expect(receiver.sum("claudikins.calls")).toBe(2);
});

test("contents are sent on request, without secrets", async () => {
  const secret = "s3cr3t-value-of-the-test";
  folder.write("claudikins.json", {
    mcpServers: { near: { ...fixture("traced", "stdio", "near", receiver.url), env: { TOKEN: secret } } },
    telemetry: { contents: true },
  });
  await run(["exec", "-e", `return near.echo({ text: "hello", token: "abc", copy: "${secret}" })`]);
  const { attributes } = spanOf("claudikins", "tools/call echo");
  expect(JSON.parse(String(attributes["gen_ai.tool.call.arguments"]))).toEqual({
    text: "hello",
    token: "***",
    copy: "***",
  });
  expect(attributes["gen_ai.tool.call.result"]).toContain("hello");
  expect(JSON.stringify(receiver.spans)).not.toContain(secret);
});

test("lines of the log have the trace in which they were written", async () => {
  await run(["exec", "-e", "return near.echo({})"], { TRACEPARENT: traceparent });
  const ready = receiver.lines.find(({ text }) => text.startsWith("near is ready"));
  expect(ready).toMatchObject({ severity: "INFO", trace: traceId });
});

test("signals, protocols and services are chosen by variables", async () => {
  await run(["exec", "-e", "return 1"], {
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_HEADERS: "x-team=test",
    OTEL_METRICS_EXPORTER: "none",
    OTEL_LOGS_EXPORTER: "none",
    OTEL_SERVICE_NAME: "other",
  });
  expect(receiver.requests.map(({ path, type }) => [path, type])).toEqual([["/v1/traces", "application/json"]]);
  expect(receiver.requests[0]!.headers.get("x-team")).toBe("test");
  expect(spanOf("other", "execution").failed).toBe(false);
  const before = receiver.requests.length;
  const grpc = await run(["exec", "-e", "return 1"], { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
  expect(grpc).toMatchObject({ exitCode: 0, stdout: "1\n" });
  expect(grpc.stderr).toContain(
    "warning: traces are not sent: OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported. Use http/protobuf or http/json",
  );
  await run(["exec", "-e", "return 1"], { OTEL_SDK_DISABLED: "true" });
  expect(receiver.requests).toHaveLength(before);
});

test("requests over HTTP have the session and are counted by their duration", async () => {
  await using serve = await httpServe(folder, [], { env });
  const host = await sdkHost(serve.url);
  await host.execute("return far.echo({})");
  const { sessionId } = host.transport;
  await host.client.close();
  serve.signal("SIGTERM");
  await serve.exited;
  const { attributes } = spanOf("claudikins", "tools/call execute_code");
  expect(attributes).toMatchObject({ "network.transport": "tcp", "mcp.session.id": sessionId });
  const measured = { "gen_ai.tool.name": "execute_code", "mcp.method.name": "tools/call" };
  expect(receiver.sum("mcp.server.operation.duration", measured)).toBe(1);
});

test("a host of 2026-07-28 has its trace over stdio and over HTTP", async () => {
  await using serve = await httpServe(folder, [], { env });
  for (const url of [undefined, serve.url]) {
    await using client = await openModernHost(folder, { ...(url === undefined ? {} : { url }), env });
    const params = { name: "execute_code", arguments: { code: "return far.echo({})" }, _meta: { traceparent } };
    await client.callTool(params as never);
  }
  serve.signal("SIGTERM");
  await serve.exited;
  await eventually(() => receiver.spans.filter(({ trace }) => trace === traceId).length === 8);
  const requests = receiver.spans.filter(({ kind, service }) => kind === 2 && service === "claudikins");
  expect(requests.map(({ attributes, parent }) => [attributes["network.transport"], parent]).sort()).toEqual([
    ["pipe", agentSpan],
    ["tcp", agentSpan],
  ]);
  expect(new Set(requests.map(({ attributes }) => attributes["mcp.protocol.version"]))).toEqual(
    new Set(["2026-07-28"]),
  );
});

test("a saved program that a program calls is part of its trace", async () => {
  folder.write("inner.ts", "return (await near.echo({ a: 7 })).a");
  const file = join(folder.path, "inner.ts");
  const saved = await run([
    "programs",
    "save",
    file,
    "--name",
    "inner",
    "--description",
    "Seven",
    "--call",
    "near.echo",
  ]);
  expect(saved).toMatchObject({ exitCode: 0 });
  await run(["exec", "-e", "return programs.inner({})"], { TRACEPARENT: traceparent });
  expect(tree()).toEqual({
    "claudikins: execution": {
      "claudikins: tools/call inner": {
        "claudikins: execution": { "claudikins: tools/call echo": { "near: tools/call echo": {} } },
      },
    },
  });
});

test("the daemon sends the calls that it makes, in the trace of the command", async () => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...rest } = env;
  const { mcpServers } = JSON.parse(readFileSync(join(folder.path, "claudikins.json"), "utf8"));
  folder.write("claudikins.json", { mcpServers, telemetry: { endpoint } });
  const options = { cwd: folder.path, env: { ...rest, CLAUDIKINS_DAEMON: "on", TRACEPARENT: traceparent } };
  const { stdout } = await runProgram([...claudikinsCommand, "call", "near.echo", "--args", '{"a":1}'], options);
  expect(stdout).toContain('"a"');
  await eventually(() => receiver.spans.length === 2);
  expect(tree()).toEqual({ "claudikins: tools/call echo": { "near: tools/call echo": {} } });
  await eventually(() => receiver.sum("claudikins.calls") === 1);
});

test("in direct mode, the call of the agent and the call of its server are one trace", async () => {
  const host = await openHost(folder, { env, flags: ["--mode", "direct"] });
  const _meta = { traceparent };
  await host.request("tools/call", { name: "fail", arguments: {}, _meta }).catch(() => {});
  const { tools } = (await host.request("tools/list")) as { tools: { name: string }[] };
  const name = tools.map((tool) => tool.name).find((each) => /far/.test(each) && /echo/.test(each))!;
  await host.request("tools/call", { name, arguments: {}, _meta });
  await host.client.close();
  const call = receiver.spans.find(({ kind, attributes }) => kind === 3 && attributes["claudikins.server"] === "far")!;
  const request = receiver.spans.find(({ id }) => id === call.parent)!;
  expect(request).toMatchObject({ name: `tools/call ${name}`, kind: 2, parent: agentSpan, trace: traceId });
  expect(spanOf("far", "tools/call echo").parent).toBe(call.id);
});
