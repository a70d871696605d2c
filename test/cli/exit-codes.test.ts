/** The exit codes are a promise to scripts: this test repeats them as literals and reaches each by a command. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { ClaudikinsError, type ErrorCode, messageOf, toClaudikinsError } from "../../src/base/errors.ts";
import { errorText, outcomeError } from "../../src/cli/output/report.ts";
import type { FailureReason } from "../../src/sandbox/contract.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { cli } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const exitCodes: Record<ErrorCode, number> = {
  UNEXPECTED: 1,
  REGISTRY_STALE: 1,
  UPGRADE_FAILED: 1,
  KEYCHAIN_UNAVAILABLE: 1,
  MODEL_REFUSED: 1,
  MODEL_ANSWER_INVALID: 1,
  USAGE: 2,
  VERSION_TOO_OLD: 2,
  VERSION_NOT_FOUND: 2,
  CONFIG_NOT_FOUND: 2,
  CONFIG_INVALID: 2,
  DOOR_NOT_FOUND: 2,
  CONFIG_NOT_TRUSTED: 2,
  EXECUTION_NOT_FOUND: 2,
  EXECUTION_LOST: 1,
  APPROVAL_NOT_FOUND: 2,
  TOKEN_NOT_FOUND: 2,
  PERSON_NOT_FOUND: 2,
  SECRET_NOT_FOUND: 2,
  FILE_NOT_FOUND: 2,
  FILE_NOT_WRITABLE: 2,
  REGISTRY_INVALID: 2,
  SERVER_NOT_FOUND: 2,
  TOOL_NOT_FOUND: 2,
  INVALID_ARGUMENTS: 2,
  NEEDS_VARIABLE: 2,
  NEEDS_SECRET: 2,
  POLICY_DENIED: 2,
  DEFINITION_CHANGED: 2,
  AUTH_REQUIRED: 3,
  SERVER_UNAVAILABLE: 4,
  DATABASE_UNAVAILABLE: 4,
  BUCKET_UNAVAILABLE: 4,
  SANDBOX_UNAVAILABLE: 4,
  EXECUTION_RUNNING: 4,
  CALL_TIMEOUT: 4,
  QUOTA_REACHED: 4,
  CALL_OUTCOME_UNKNOWN: 4,
  PROGRAM_NOT_FOUND: 2,
  NOT_RECORDED: 2,
  PROTOCOL_ERROR: 4,
  MODEL_UNAVAILABLE: 4,
  TOOL_FAILED: 5,
  CODE_FAILED: 6,
  EXECUTION_WAITS: 7,
  APPROVAL_PENDING: 7,
  CANCELLED: 130,
};

test.each(Object.entries(exitCodes) as [ErrorCode, number][])("%s has exit code %i", (code, exitCode) => {
  expect(new ClaudikinsError(code, "x").exitCode).toBe(exitCode);
});

describe("exec", () => {
  using folder = temporaryFolder();
  const path = folder.path;
  const configure = (mcpServers: object) => folder.write("claudikins.json", { mcpServers });

  test.each<[number, string, string, Record<string, object>]>([
    [0, "a value", "return 1", {}],
    [6, "code that throws", "throw new Error('x')", {}],
    [6, "code that throws undefined", "throw undefined", {}],
    [6, "code that cannot be parsed", "return (", {}],
    [6, "a tool that does not exist", "await odd.nope({})", { odd: fixture("odd") }],
    [5, "a tool that fails", "await odd.failing({})", { odd: fixture("odd") }],
    [4, "a server that does not start", "await broken.x({})", { broken: fixture("crash-on-start") }],
    [4, "a call without an answer", "await odd.hang({})", { odd: { ...fixture("odd"), callTimeoutMs: 100 } }],
    [2, "a variable that is not set", "await needy.x({})", { needy: { command: "x", env: { A: `\${NOT_SET}` } } }],
    [4, "a server over HTTP", "await far.x({})", { far: { type: "http", url: "https://example.com" } }],
    [
      0,
      "a failure that the code handles",
      "return await odd.failing({}).catch((e) => e.code)",
      { odd: fixture("odd") },
    ],
    [2, "a config that is none", "return 1", [] as never],
  ])("exits with %i for %s", async (exitCode, _, code, servers) => {
    configure(servers);
    const ended = await cli(["exec", "-e", code], { cwd: path });
    expect([ended.exitCode, ended.stdout === "", ended.stderr]).toEqual([exitCode, exitCode !== 0, expect.any(String)]);
    // The same failure as JSON: nothing on stdout, one line on stderr.
    const asJson = await cli(["exec", "--json", "-e", code], { cwd: path });
    expect(asJson.exitCode).toBe(exitCode);
    const [data, empty] = exitCode === 0 ? [asJson.stdout, asJson.stderr] : [asJson.stderr, asJson.stdout];
    expect(empty).toBe("");
    expect(data.trimEnd()).not.toContain("\n");
    if (exitCode !== 0) expect(exitCodes[JSON.parse(data).error.code as ErrorCode]).toBe(exitCode);
  });

  test("exits with 6 for code that takes too long", async () => {
    configure({});
    const ended = await cli(["exec", "--timeout", "50ms", "-e", "while (true) {}"], { cwd: path });
    expect([ended.exitCode, ended.stdout]).toEqual([6, ""]);
  });

  test("exits with 130 if it is interrupted", async () => {
    configure({ odd: fixture("odd") });
    const interrupted = AbortSignal.timeout(300);
    const ended = await cli(["exec", "-e", "await odd.hang({})"], { cwd: path, interrupted });
    expect([ended.exitCode, ended.stdout]).toEqual([130, ""]);
    expect(ended.stderr).toContain("The execution was cancelled");
  });
});

describe("outcomeError", () => {
  const receipt = { id: "x", durationMs: 0, calls: 0, failures: 0, tools: {}, charsIn: 0, charsOut: 0 };
  const codeOf = (reason: FailureReason, code?: string) =>
    outcomeError({
      ok: false,
      reason,
      error: { name: "ToolError", message: "x", stack: "", ...(code === undefined ? {} : { code }) },
      logs: [],
      display: [],
      receipt,
    }).code;

  test("has the code of the failed call that ended the program", () => {
    const codes = ["TOOL_FAILED", "AUTH_REQUIRED", "SERVER_UNAVAILABLE", "CALL_TIMEOUT", "NEEDS_VARIABLE"] as const;
    for (const code of codes) expect(codeOf("threw", code)).toBe(code);
    // Error codes that the program makes up are ignored.
    for (const code of ["USAGE", "toString", "__proto__", ""]) expect(codeOf("threw", code)).toBe("CODE_FAILED");
    expect(codeOf("threw")).toBe("CODE_FAILED");
  });

  test("has CODE_FAILED for limits and CANCELLED for an interruption", () => {
    for (const reason of ["check", "timeout", "cpu", "memory", "stack", "crashed"] as const) {
      expect(codeOf(reason, "TOOL_FAILED")).toBe("CODE_FAILED");
    }
    expect(codeOf("cancelled")).toBe("CANCELLED");
  });
});

describe("errorText", () => {
  test("shows each cause once, then the hint", () => {
    const root = new Error("the disk is full");
    const middle = new Error("cannot save", { cause: root });
    const error = new ClaudikinsError("FILE_NOT_WRITABLE", "Nothing was written", {
      cause: middle,
      hint: "Make room.",
    });
    expect(Bun.stripANSI(errorText(error))).toBe(
      "error: Nothing was written\n  caused by: cannot save\n  caused by: the disk is full\n\nhint: Make room.\n",
    );
    const same = new Error("cannot save", { cause: new Error("cannot save") });
    expect(
      Bun.stripANSI(errorText(new ClaudikinsError("FILE_NOT_WRITABLE", "Nothing was written", { cause: same }))),
    ).toBe("error: Nothing was written\n  caused by: cannot save\n");
    const said = new ClaudikinsError("UNEXPECTED", "It said: cannot save", { cause: new Error("cannot save") });
    expect(Bun.stripANSI(errorText(said))).toBe("error: It said: cannot save\n");
  });

  test("messageOf returns a message for any thrown value", () => {
    expect([new TypeError(""), "", "text", undefined, null, 5].map(messageOf)).toEqual([
      "TypeError",
      "unknown error",
      "text",
      "undefined",
      "null",
      "5",
    ]);
    const ours = new ClaudikinsError("USAGE", "x");
    expect(toClaudikinsError(ours)).toBe(ours);
    expect(toClaudikinsError("text")).toMatchObject({
      code: "UNEXPECTED",
      message: "text",
      cause: "text",
      exitCode: 1,
    });
  });
});
