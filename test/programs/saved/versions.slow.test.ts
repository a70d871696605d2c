/** The versions of saved programs: their history, the way back, calls of one version, and what schedules run. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileDocuments } from "../../../src/base/documents.ts";
import { ProgramLibrary } from "../../../src/programs/saved/library.ts";
import { cli } from "../../cli/in-memory.ts";
import { ownFolder } from "../../support/own-folder.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const at = (more: object = {}) => ({ cwd: folder.path, env: { NO_COLOR: "1" }, ...more });

async function done(argv: string[], more: object = {}) {
  const result = await cli(argv, at(more));
  expect([argv, result.exitCode, result.exitCode === 0 ? "" : result.stderr]).toEqual([argv, 0, ""]);
  return result;
}

const json = async (...argv: string[]) => JSON.parse((await done([...argv, "--json"])).stdout);

async function refused(...argv: string[]) {
  const { exitCode, stderr } = await cli([...argv, "--json"], at());
  const { code, message } = JSON.parse(stderr.trim().split("\n").at(-1) ?? "").error;
  return { exitCode, code, message };
}

async function saved(code: string, ...more: string[]) {
  folder.write("total.ts", code);
  return json("programs", "save", "total.ts", "--name", "order-total", "--replace", ...more);
}

const first = "// Adds.\nreturn { total: input.a + 1 };\n";
const second =
  "// Adds.\nconst { total } = await demo.list_orders({ limit: input.limit ?? 1 });\nreturn { total: input.a + total };\n";

async function twoVersions(): Promise<void> {
  expect(await saved(first, "a:=7")).toMatchObject({ state: "new", version: 1 });
  expect(await saved(second, "a:=7", "--why", "orders count, too")).toMatchObject({ state: "changed", version: 2 });
}

const value = async (...argv: string[]) => (await json(...argv)).value;

describe("the history of a program", () => {
  test("says who changed what, when and why", async () => {
    await twoVersions();
    const { versions } = await json("programs", "history", "order-total");
    expect(versions).toMatchObject([
      {
        ...{ version: 2, current: true, accepted: false, savedBy: "user", why: "orders count, too" },
        changes: ["limit is new", "it may call demo.list_orders"],
        call: "programs.order_total({ a, limit })",
        calls: ["demo.list_orders"],
        code: second,
      },
      { version: 1, current: false, savedBy: "user", code: first },
    ]);
    expect(versions[1].changes).toBeUndefined();
    const { stdout } = await done(["programs", "history", "order-total"]);
    expect(stdout.split("\n").slice(1, 3)).toEqual([
      expect.stringMatching(/^2 \(now\) +.* you +limit is new; it may call demo.list_orders +orders count, too$/),
      expect.stringMatching(/^1 +.* you +first version$/),
    ]);
    const one = (await done(["programs", "history", "order-total", "2"])).stdout;
    expect(one).toContain("Version 2 of order-total, saved by you");
    expect(one).toContain("  it may call demo.list_orders\n");
    expect(one).toContain("-return { total: input.a + 1 };\n+const { total } = await demo.list_orders");
    expect(await refused("programs", "history", "order-total", "7")).toMatchObject({
      exitCode: 2,
      code: "PROGRAM_NOT_FOUND",
      message: 'Version 7 of "order-total" is not kept',
    });
    expect(await refused("programs", "history", "order-total", "two")).toMatchObject({ code: "USAGE" });
  });

  test("has no version for what did not change, and ends with the program", async () => {
    await twoVersions();
    expect(await saved(second, "a:=7")).toMatchObject({ state: "unchanged", version: 2 });
    await done(["programs", "remove", "order-total"]);
    expect(await saved(first, "a:=7")).toMatchObject({ state: "new", version: 1 });
    expect((await json("programs", "history", "order-total")).versions).toHaveLength(1);
  });

  test("is bounded in number and in characters", async () => {
    const wide = "x".repeat(150_000);
    for (let version = 1; version <= 6; version++) await saved(`return "${wide}${version}";`);
    const kept = async () => (await json("programs", "history", "order-total")).versions.map(versionOf);
    expect(await kept()).toEqual([6, 5, 4, 3]);
    for (let version = 7; version <= 30; version++) await saved(`return ${version};`);
    expect(await kept()).toEqual(Array.from({ length: 21 }, (_, at) => 30 - at));
  });
});

const versionOf = ({ version }: { version: number }) => version;

describe("the way back", () => {
  test("makes a new version of an old one, after a review", async () => {
    await twoVersions();
    expect(await refused("programs", "back", "order-total", "1")).toMatchObject({ exitCode: 2, code: "USAGE" });
    const asked = await done(["programs", "back", "order-total", "1"], { answers: ["y"], terminal: true });
    expect(asked.stderr).toContain("  it may no longer call demo.list_orders\n");
    expect(asked.stderr).toContain("+return { total: input.a + 1 };");
    expect(asked.stdout).toBe("order-total is as version 1 was. This is version 3\n");
    const { versions } = await json("programs", "history", "order-total");
    expect(versions[0]).toMatchObject({ version: 3, why: "back to version 1", code: first });
    expect(await value("programs", "run", "order-total", "a:=4")).toEqual({ total: 5 });
    expect(await json("programs", "back", "order-total", "3")).toMatchObject({ state: "unchanged", version: 3 });
  });
});

describe("one version", () => {
  test("is run by its number", async () => {
    await twoVersions();
    expect(await value("programs", "run", "order-total", "a:=4", "--version", "1")).toEqual({ total: 5 });
    expect((await value("programs", "run", "order-total", "a:=4")).total).toBeGreaterThan(5);
    expect(await refused("programs", "run", "order-total", "a:=4", "--version", "3")).toMatchObject({ exitCode: 2 });
  });

  test("is called by other programs, with its own input", async () => {
    folder.write("claudikins.json", { mcpServers: {} });
    await twoVersions();
    const call = "return await programs.order_total_v1({ a: 4 });";
    expect(await value("exec", "-e", call)).toEqual({ total: 5 });
    const wrong = await cli(["exec", "-e", "return await programs.order_total_v1({ a: 4, limit: 2 });"], at());
    expect([wrong.exitCode, wrong.stderr]).toEqual([6, expect.stringContaining('there is no argument "limit"')]);
    const missing = await cli(["exec", "-e", "return await programs.order_total_v9({ a: 4 });"], at());
    expect([missing.exitCode, missing.stderr]).toEqual([6, expect.stringContaining("order_total_v9")]);
    folder.write("twice.ts", call);
    expect(await json("programs", "save", "twice.ts", "--name", "twice")).toMatchObject({
      calls: ["programs.order-total_v1"],
    });
    // Later versions do not hold a program that has named an earlier one.
    await saved("return 0;");
    expect(await value("programs", "run", "twice")).toEqual({ total: 5 });
    folder.write("claudikins.json", { mcpServers: {}, policy: { deny: ["programs.order-total"] } });
    const denied = await cli(["exec", "-e", call], at());
    expect([denied.exitCode === 0, denied.stderr]).toEqual([false, expect.stringContaining("programs.order-total")]);
  });
});

test("a schedule runs the accepted version, which stays", async () => {
  await saved(first, "a:=7");
  await done(["programs", "schedule", "order-total", "--cron", "0 0 1 1 *", "a:=4"], {
    env: { CLAUDIKINS_DAEMON: "off" },
  });
  folder.write("total.ts", second);
  const changed = await done(["programs", "save", "total.ts", "--name", "order-total", "--replace", "a:=7"]);
  expect(changed.stderr).toBe(
    "Its schedules and triggers run version 1 until you accept version 2: claudikins programs accept order-total\n",
  );
  for (let version = 3; version <= 25; version++) await saved(`return ${version};`);
  const { versions } = await json("programs", "history", "order-total");
  expect(versions.at(-1)).toMatchObject({ version: 1, accepted: true, code: first });
  expect(await json("programs", "show", "order-total")).toMatchObject({ version: 25, accepted: 1 });
  expect(await refused("programs", "accept", "order-total")).toMatchObject({ exitCode: 2, code: "USAGE" });
  const asked = await done(["programs", "accept", "order-total"], { answers: ["y"], terminal: true });
  expect(asked.stderr).toContain("-return { total: input.a + 1 };\n+return 25;");
  expect((await json("programs", "show", "order-total")).accepted).toBeUndefined();
});

test("the versions of a person's programs end with them, and those of others stay", async () => {
  const place = { documents: fileDocuments, folder: join(folder.path, "kept"), mark: join(folder.path, "mark") };
  const of = (owner?: string) => new ProgramLibrary(place, owner);
  for (const owner of ["person:ann", "person:bob", undefined]) {
    for (const number of [1, 2, 3]) {
      const code = `return ${number};`;
      const program = { version: 1, name: "report", description: "", code, input: {}, calls: [], number } as const;
      await of(owner).change("report", () => ({ ...program, calls: [], savedAt: number, savedBy: "agent" }));
    }
  }
  const numbers = (owner?: string) =>
    of(owner)
      .versions("report")
      .map(({ number }) => number);
  expect(numbers("person:ann")).toEqual([3, 2, 1]);
  await of("person:ann").remove("report");
  const files = readdirSync(join(place.folder, "owners", "versions"));
  expect(files).toHaveLength(2);
  expect([numbers("person:bob"), numbers()]).toEqual([
    [3, 2, 1],
    [3, 2, 1],
  ]);
  expect(of("person:bob").version("report", 1)?.code).toBe("return 1;");
});

test("a name that means a version cannot be used", async () => {
  folder.write("a.ts", "return 1;");
  expect(await refused("programs", "save", "a.ts", "--name", "report-v2")).toMatchObject({
    message: expect.stringContaining("means a version"),
  });
});
