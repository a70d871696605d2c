/** `claudikins calls`: the list and its filters, and the export. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { issueToken } from "../../src/serve/tokens/manage.ts";
import { tokenId } from "../../src/serve/tokens/token-file.ts";
import { maxCallsReadAtOnce, type StoredCall } from "../../src/store/call-log.ts";
import { storedCall } from "../store/contract/call-log.ts";
import { inStore } from "../support/stored.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const config = "/shop/claudikins.json";
const run = (...argv: string[]) => cli(["calls", ...argv], { cwd: folder.path });
const found = async (...argv: string[]) => {
  const { calls } = JSON.parse((await run(...argv, "--json")).stdout) as { calls: StoredCall[] };
  return calls.map(({ id }) => id);
};

const now = Date.now();
let token: string;

beforeAll(async () => {
  const { stored } = await issueToken({ config, name: "ci" }, { HOME: folder.path });
  token = tokenId(stored);
  const ann = { config, id: "p1", issuer: "https://id.example", subject: "ann", name: "Ann", email: "ann@example.com" };
  await inStore(folder.path, async (store) => {
    await store.people.seen({ ...ann, doors: ["qa"], firstAt: 1, lastAt: 1, revokedAt: null });
    await store.callLog.add([
      storedCall("a", now - 3 * 86_400_000, {
        config,
        person: "p1",
        personName: "Ann",
        agent: "an agent 1.0",
        door: "qa",
      }),
      storedCall("b", now - 60_000, {
        config,
        token,
        server: "mail",
        tool: "send",
        outcome: "denied",
        code: "POLICY_DENIED",
        approval: "denied",
        execution: "e1",
        call: 2,
      }),
      storedCall("c", now - 50_000, { config: null, startedBy: "schedule", program: "report", durationMs: 1_234 }),
      storedCall("d", now - 40_000, { config, startedBy: "call", outcome: "tool_error", tool: "\u001b[31mget" }),
    ]);
  });
});

describe("the list", () => {
  test("has the latest calls first, for people and for programs", async () => {
    expect(await found()).toEqual(["d", "c", "b", "a"]);
    expect(await found("list", "-n", "2")).toEqual(["d", "c"]);
    const { stdout, exitCode } = await run();
    const rows = stdout.split("\n").map((line) => line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, "TIME").trim());
    expect(exitCode).toBe(0);
    expect(
      rows
        .map((row) => row.split(/ {2,}/).join(" | "))
        .join("\n")
        .replace(token, "TOKEN"),
    ).toMatchSnapshot();
    expect(stdout).not.toContain("\u001b[31m");
  });

  test("can be filtered by who called, what, when and how it ended", async () => {
    for (const word of ["p1", "Ann", "ann@example.com", "ann"]) expect(await found("--user", word)).toEqual(["a"]);
    for (const word of [token, "ci"]) expect(await found("--user", word)).toEqual(["b"]);
    expect(await found("--user", "nobody")).toEqual([]);
    expect(await found("--server", "mail")).toEqual(["b"]);
    expect(await found("--tool", "mail.send")).toEqual(["b"]);
    expect(await found("--door", "qa")).toEqual(["a"]);
    expect(await found("--execution", "e1")).toEqual(["b"]);
    expect(await found("--failed")).toEqual(["d", "b"]);
    expect(await found("--outcome", "ok")).toEqual((await found()).filter((id) => !["d", "b"].includes(id)));
    expect(
      [
        ...(await found("--outcome", "failed")),
        ...(await found("--outcome", "denied")),
        ...(await found("--outcome", "cancelled")),
      ].sort(),
    ).toEqual(["b", "d"]);
    expect(await found("--outcome", "ok", "--failed")).toEqual([]);
    expect(await found("--since", "1h", "--server", "crm")).toEqual(["d", "c"]);
  });

  test("without calls is a sentence", async () => {
    expect(await run("--server", "none")).toMatchObject({ stdout: "", stderr: "The call log has no such calls.\n" });
  });
});

describe("the export", () => {
  test("has one line for each call of a long log, oldest first", async () => {
    const { stdout } = await run("export", "--failed");
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toEqual(["b", "d"]);
    expect(lines[0]).toEqual(JSON.parse((await run("--server", "mail", "--json")).stdout).calls[0]);
    const ids = Array.from({ length: maxCallsReadAtOnce + 5 }, (_, place) => `z${String(place).padStart(6, "0")}`);
    await inStore(folder.path, (store) => store.callLog.add(ids.map((id) => storedCall(id, now, { server: "many" }))));
    const all = (await run("export", "--server", "many")).stdout.trim().split("\n");
    expect(all.map((line) => JSON.parse(line).id)).toEqual(ids);
  });

  test("without calls is empty", async () => {
    expect(await run("export", "--server", "none")).toMatchObject({ stdout: "", stderr: "", exitCode: 0 });
  });
});
