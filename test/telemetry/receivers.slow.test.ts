/** Receivers of telemetry that are down, that hang, or that nobody named. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { freePort } from "../support/free-port.ts";
import { openHost } from "../support/host.ts";
import { OtlpReceiver } from "../support/otlp.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { echo: fixture("echo", "well", folder.path) } });
});
afterEach(() => folder[Symbol.dispose]());

const data = () => ({ XDG_DATA_HOME: join(folder.path, "data") });

function exec(code: string, env: Record<string, string>) {
  return runProgram([...claudikinsCommand, "exec", "-e", code], { cwd: folder.path, env: { ...data(), ...env } });
}

/** Runs a program, and returns the times of its answer and of its end, in milliseconds. */
async function timed(code: string, env: Record<string, string>) {
  const startedAt = performance.now();
  const child = Bun.spawn([...claudikinsCommand, "exec", "-e", code], {
    cwd: folder.path,
    env: testEnvironment({ ...data(), ...env }),
    stdout: "pipe",
    stderr: "ignore",
  });
  const { value } = await child.stdout.getReader().read();
  const answerMs = performance.now() - startedAt;
  const exitCode = await child.exited;
  return { answer: new TextDecoder().decode(value), answerMs, exitCode, endMs: performance.now() - startedAt };
}

test("a receiver that hangs delays no answer, and the end by two seconds at most", async () => {
  using receiver = new OtlpReceiver({ hangs: true });
  const usual = await timed("return (await echo.echo({ a: 1 })).a", {});
  const { answer, exitCode, answerMs, endMs } = await timed("return (await echo.echo({ a: 1 })).a", {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  });
  expect([answer, exitCode]).toEqual([usual.answer, usual.exitCode]);
  expect(receiver.requests.map(({ path }) => path).sort()).toEqual(["/v1/logs", "/v1/metrics", "/v1/traces"]);
  expect(endMs - answerMs).toBeGreaterThan(1_000);
  expect(endMs - answerMs).toBeLessThan(5_000);
});

test("a receiver that is down is named once in the log, and changes nothing", async () => {
  const port = freePort();
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`, CLAUDIKINS_LOG: "warn" };
  const { stdout, stderr, exitCode } = await exec("return (await echo.echo({ a: 1 })).a", env);
  expect([stdout, exitCode]).toEqual(["1\n", 0]);
  expect(stderr.match(/traces cannot be sent to 127\.0\.0\.1:\d+/g)).toHaveLength(1);
  const failed = await exec("throw new Error('no')", env);
  expect(failed.exitCode).toBe(6);
});

test("spans that a receiver does not take are dropped, and all calls are answered", async () => {
  using receiver = new OtlpReceiver({ hangs: true });
  const code = `let sum = 0;
    for (let round = 0; round < 60; round++) {
      const all = await Promise.all(Array.from({ length: 100 }, () => echo.echo({ a: 1 })));
      sum += all.reduce((total, { a }) => total + a, 0);
    }
    return sum`;
  const { stdout } = await exec(code, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: "2000",
  });
  expect(stdout).toBe("6000\n");
  expect(receiver.spans.length).toBeGreaterThan(500);
  // A full queue, and the messages that were under way.
  expect(receiver.spans.length).toBeLessThan(5_000);
});

test("nothing is sent without settings, and the trace of the agent reaches the server unchanged", async () => {
  using receiver = new OtlpReceiver();
  folder.write("claudikins.json", { mcpServers: { traced: fixture("traced", "stdio", "near", receiver.url) } });
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const ask = async (flags: string[], name: string, args: object) => {
    await using host = await openHost(folder, { flags });
    const _meta = { traceparent, tracestate: "agent=7" };
    return await host.request("tools/call", { name, arguments: args, _meta });
  };
  const inCode = await ask([], "execute_code", { code: "return traced.meta({})" });
  for (const answer of [inCode, await ask(["--mode", "direct"], "meta", {})]) {
    expect(JSON.stringify(answer)).toContain(traceparent);
    expect(JSON.stringify(answer)).toContain("agent=7");
  }
  expect(receiver.spans.map(({ service, parent }) => [service, parent])).toEqual(
    Array(2).fill(["near", "00f067aa0ba902b7"]),
  );
  expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(["/v1/traces"]));
});

test("a trace that is not valid is ignored", async () => {
  folder.write("claudikins.json", { mcpServers: { traced: fixture("traced", "stdio", "near") } });
  await using host = await openHost(folder);
  for (const traceparent of ["", "x".repeat(10_000), "00-0-0-00", 7, { a: 1 }]) {
    const params = { name: "execute_code", arguments: { code: "return traced.meta({})" }, _meta: { traceparent } };
    expect(JSON.stringify(await host.request("tools/call", params))).not.toContain("traceparent");
  }
});
