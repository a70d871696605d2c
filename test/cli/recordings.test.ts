/** The life of a program with a recording: kept from an execution, recorded again, tested, shared, and its servers played. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { type CliOptions, type CliResult, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const at = (options: CliOptions = {}) => ({ cwd: folder.path, env: { NO_COLOR: "1" }, ...options });

async function done(argv: string[], options: CliOptions = {}): Promise<CliResult> {
  const result = await cli(argv, at(options));
  expect([argv, result.exitCode, result.exitCode === 0 ? "" : result.stderr]).toEqual([argv, 0, ""]);
  return result;
}

async function json(argv: string[], options: CliOptions = {}) {
  return JSON.parse((await done([...argv, "--json"], options)).stdout);
}

async function refused(argv: string[]) {
  const { exitCode, stderr } = await cli([...argv, "--json"], at());
  const { code, message } = JSON.parse(stderr.trim().split("\n").at(-1) ?? "").error;
  return { exitCode, code, message };
}

const code = `// Orders of one customer since a date.
const { total } = await demo.list_orders({ customer_id: "cus_0007", from: "2025-03-01", limit: 5 });
return { total, status: "done" };
`;

/** The demo server, whose data is nobody's. */
function open(): void {
  const [command, ...args] = claudikinsCommand;
  folder.write("claudikins.json", { mcpServers: { demo: { command, args: [...args, "demo"], labels: { "*": [] } } } });
}

async function executed(source = code): Promise<void> {
  open();
  folder.write("orders.ts", source);
  await done(["exec", "orders.ts", "--record"]);
}

const fileOf = (name: string) => join(folder.path, name);
const textOf = (name: string) => readFileSync(fileOf(name), "utf8");

describe("an execution is kept", () => {
  test("with inputs for what looks like input, and a recording", async () => {
    await executed();
    const proposed = await json(["programs", "keep", "last", "--dry-run"]);
    expect(proposed).toMatchObject({
      name: "orders-one-customer-since-date",
      state: "not saved",
      calls: ["demo.list_orders"],
      inputs: [
        { name: "customer_id", value: "cus_0007", kind: "an id" },
        { name: "from", value: "2025-03-01", kind: "a date" },
      ],
      output: "{ total: number; status: string }",
      recording: { state: "not saved", calls: 1 },
    });
    expect((await json(["programs", "list"])).programs).toEqual([]);
    const kept = await json(["programs", "keep", "last", "--fixed", "from", "--name", "orders", "--yes"]);
    expect(kept).toMatchObject({ name: "orders", state: "new", recording: { recording: "orders.recording.json" } });
    expect(kept.code).toContain('customer_id: input.customer_id, from: "2025-03-01"');
    expect(await json(["programs", "test", "orders"])).toMatchObject({ passed: 1, failed: 0 });
    expect((await json(["programs", "run", "orders", "customer_id=cus_0008"])).value.status).toBe("done");
  });

  test("after a person has seen and changed the proposal", async () => {
    await executed();
    const answers = ["customer", "-", "orders", "y"];
    const { stdout, stderr } = await done(["programs", "keep", "last"], { answers, terminal: true });
    expect(stderr).toContain('Input customer_id = "cus_0007" (an id). Enter keeps it');
    expect(stdout).toStartWith("Kept orders: programs.orders({ customer })");
    const none = await cli(["programs", "keep", "last"], at({ answers: ["", "", "other", "n"], terminal: true }));
    expect([none.exitCode, none.stderr]).toEqual([130, expect.stringContaining("Nothing was kept")]);
    expect((await json(["programs", "list"])).programs).toHaveLength(1);
  });

  test("without the fence around its code", async () => {
    await executed(`\`\`\`ts\n${code}\`\`\`\n`);
    await done(["programs", "keep", "last", "--name", "fenced", "--yes"]);
    expect(await json(["programs", "test", "fenced"])).toMatchObject({ passed: 1 });
  });

  test("without a terminal only with a flag", async () => {
    await executed();
    expect(await refused(["programs", "keep", "last"])).toMatchObject({ exitCode: 2, code: "USAGE" });
    expect(await refused(["programs", "keep", "last", "--fixed", "month", "--yes"])).toMatchObject({ code: "USAGE" });
  });

  test("without a recording if its results were not kept whole", async () => {
    await executed("return (await demo.list_orders({ limit: 200 })).orders.length;");
    const { notRecorded, state, recording } = await json(["programs", "keep", "last", "--name", "many", "--yes"]);
    expect([notRecorded, state, recording]).toEqual([expect.stringContaining("only the beginnings"), "new", undefined]);
    expect(await refused(["programs", "test", "many"])).toMatchObject({ exitCode: 2, code: "NOT_RECORDED" });
    await done(["programs", "record", "many"]);
    expect(await json(["programs", "test", "many"])).toMatchObject({ passed: 1 });
  });
});

describe("programs record", () => {
  test("adds recordings, and replaces one with its expectations", async () => {
    await executed();
    await done(["programs", "keep", "last", "--name", "orders", "--yes"]);
    const record = ["programs", "record", "orders", "customer_id=cus_0008", "from=2025-01-01"];
    expect(await json(record)).toMatchObject({ recording: "orders.2.recording.json", state: "new", calls: 1 });
    const named = [...record, "--as", "early", "--ignore", "output.total", "--matches", "output.status=^do"];
    expect(await json(named)).toMatchObject({ recording: "orders.early.recording.json", state: "new" });
    expect(await json([...record, "--as", "early"])).toMatchObject({ state: "replaced" });
    await done(["programs", "export", "orders", "--to", "out"]);
    expect(JSON.parse(textOf("out/orders.early.recording.json")).expect).toEqual({
      "output.total": {},
      "output.status": { type: "string", pattern: "^do" },
    });
    folder.write("out/orders.ts", textOf("out/orders.ts").replace('"done"', '"open"'));
    const { exitCode, stdout } = await cli(
      ["programs", "test", "--all", "--from", "out", "--junit", "out/report.xml"],
      at(),
    );
    expect(exitCode).toBe(1);
    expect(stdout).toContain('output.status is "open"; it was "done"');
    expect(stdout).toContain('output.status is "open", which is not as expected');
    expect(stdout).toEndWith("0 passed, 3 failed\n");
    expect(textOf("out/report.xml")).toContain('<testsuite name="orders" tests="3" failures="3"');
    await done(["programs", "remove", "orders"]);
    await done(["programs", "keep", "last", "--name", "orders", "--yes"]);
    expect((await json(["programs", "show", "orders"])).recordings).toEqual(["orders.recording.json"]);
  });

  test("replaces the first recording of a program that was repaired, with its input", async () => {
    open();
    folder.write("first.ts", "console.log((await demo.list_orders({ customer_id: input.id })).total, 'orders');");
    await done(["programs", "save", "first.ts", "--name", "first", "id=cus_0007"]);
    await done(["programs", "record", "first", "id=cus_0008"]);
    folder.write("first.ts", "console.log((await demo.list_orders({ customer_id: input.id })).total, 'found');");
    await done(["programs", "save", "first.ts", "--name", "first", "id=cus_0007", "--replace"]);
    // It returns nothing, so that its logs are its answer.
    const { tests } = JSON.parse((await cli(["programs", "test", "first", "--json"], at())).stdout);
    expect(tests[0].differences).toMatchObject([
      { at: "logs[0]", text: expect.stringMatching(/^logs\[0\] is "\d+ found"; it was "\d+ orders"$/) },
    ]);
    expect(await json(["programs", "record", "first", "--replace"])).toMatchObject({
      ...{ recording: "first.recording.json", state: "replaced" },
    });
    expect(await json(["programs", "test", "first"])).toMatchObject({ passed: 1 });
    const shown = await done(["programs", "export", "first", "--to", "out"]);
    expect(shown.exitCode).toBe(0);
    const { input } = JSON.parse(readFileSync(join(folder.path, "out/first.recording.json"), "utf8"));
    expect(input).toEqual({ id: "cus_0008" });
  });

  test("records nothing of a program that fails, or that depends on files", async () => {
    open();
    folder.write("fails.ts", "await demo.get_order({ order_id: 'none' });");
    folder.write(
      "reads.ts",
      'import fs from "node:fs/promises";\nreturn await fs.readFile("./workspace/a.txt", "utf8");',
    );
    folder.write(".claudikins/workspace/a.txt", "a");
    for (const name of ["fails", "reads"]) await done(["programs", "save", `${name}.ts`, "--name", name]);
    expect((await cli(["programs", "record", "fails"], at())).exitCode).toBe(5);
    await done(["exec", "-e", 'await (await import("node:fs/promises")).writeFile("./workspace/a.txt", "a")']);
    expect(await refused(["programs", "record", "reads"])).toMatchObject({ exitCode: 2, code: "NOT_RECORDED" });
    expect((await json(["programs", "show", "reads"])).recordings).toEqual([]);
  });

  test("replaces secrets and private data", async () => {
    const people = [{ name: "Ann Example", mail: "ann@corp.example", born: "1980-02-03", plan: "gold", token: "t-1" }];
    const result = { content: [{ type: "text", text: JSON.stringify({ people, note: "key s3cret-0815-value" }) }] };
    folder.write("tools.json", [{ name: "find", inputSchema: { type: "object" }, _results: [result] }]);
    const crm = { ...fixture("from-file", fileOf("tools.json")), env: { API_KEY: "s3cret-0815-value" } };
    folder.write("claudikins.json", { mcpServers: { crm: { ...crm, labels: { "*": ["private"] } } } });
    folder.write(
      "gold.ts",
      `const { people, note } = await crm.find({ at: 0 });
const gold = people.filter(({ plan }) => plan === "gold");
return { note, mails: gold.map(({ mail, name }) => \`\${name} <\${mail}>\`), year: gold[0].born.slice(0, 4) };`,
    );
    await done(["programs", "save", "gold.ts", "--name", "gold"]);
    expect(await json(["programs", "record", "gold"])).toMatchObject({ isPrivateReplaced: true });
    await done(["programs", "export", "gold", "--to", "out"]);
    const text = textOf("out/gold.recording.json");
    for (const each of ["Ann", "corp.example", "1980", "s3cret", "t-1"]) expect(text).not.toContain(each);
    const { output, labels } = JSON.parse(text);
    expect(output.mails).toEqual([expect.stringMatching(/^private text \d <private-\d@example\.com>$/)]);
    expect(labels).toMatchObject([{ label: "private" }]);
    expect(await json(["programs", "test", "gold"])).toMatchObject({ passed: 1 });
  });
});

test("Ctrl-C ends the tests of programs, and recordings that cannot be read fail", async () => {
  await executed();
  await done(["programs", "keep", "last", "--name", "orders", "--yes"]);
  const { exitCode } = await cli(["programs", "test", "orders"], at({ interrupted: AbortSignal.abort() }));
  expect(exitCode).toBe(130);
  await done(["programs", "export", "orders", "--to", "out"]);
  folder.write("out/orders.recording.json", "{");
  const { stdout } = await cli(["programs", "test", "orders", "--from", "out"], at());
  expect(stdout).toContain("orders.recording.json is not a recording: it is not a JSON object");
  expect(await refused(["programs", "test", "orders", "--from", "nowhere"])).toMatchObject({ code: "FILE_NOT_FOUND" });
  expect(await refused(["programs", "test", "other", "--from", "out"])).toMatchObject({ code: "PROGRAM_NOT_FOUND" });
});

describe("a recorded server is played", () => {
  const played = (...more: string[]) => {
    const [command, ...args] = claudikinsCommand;
    const entry = { command, args: [...args, "mock", fileOf("a.recording.json"), ...more] };
    folder.write("claudikins.json", { mcpServers: { demo: entry } });
  };

  async function recorded(): Promise<void> {
    open();
    folder.write("orders.ts", code);
    await done(["exec", "orders.ts", "--record-file", "a.recording.json"]);
  }

  test("with the recorded answers, and an error for arguments that were never recorded", async () => {
    await recorded();
    const { value } = await json(["exec", "orders.ts"]);
    played();
    expect((await json(["exec", "orders.ts"])).value).toEqual(value);
    const other = await cli(["call", "demo.list_orders", "limit=1"], at());
    expect([other.exitCode, other.stderr]).toEqual([
      5,
      expect.stringContaining("No call of list_orders with these arguments was ever recorded"),
    ]);
  });

  test("with other arguments too, by order or by schema", async () => {
    await recorded();
    played("--answers", "order");
    const source = "return Object.keys(await demo.list_orders({ limit: 1 }))";
    const keys = ["orders", "total", "next_cursor"];
    expect((await json(["exec", "-e", source])).value).toEqual(keys);
    played("--answers", "schema");
    expect((await json(["exec", "-e", source])).value.toSorted()).toEqual(keys.toSorted());
  });

  test("if the recordings have it", async () => {
    await recorded();
    expect(await refused(["mock", "a.recording.json", "--server", "other"])).toMatchObject({ code: "USAGE" });
    folder.write("empty/readme.txt", "");
    expect(await refused(["mock", "empty"])).toMatchObject({ code: "USAGE" });
    expect(await refused(["mock", "orders.ts"])).toMatchObject({ code: "USAGE" });
  });
});

test("exec --record-file shows the outcome of a program that cannot be recorded", async () => {
  open();
  const source = 'const fs = await import("node:fs/promises"); await fs.writeFile("./workspace/n", "7");\nreturn 7;';
  const { value } = await json(["exec", "-e", source, "--record-file", "b.recording.json"]);
  expect(value).toBe(7);
  const reads = 'return await (await import("node:fs/promises")).readFile("./workspace/n", "utf8")';
  const { exitCode, stdout, stderr } = await cli(["exec", "-e", reads, "--record-file", "c.recording.json"], at());
  expect([exitCode, stdout]).toEqual([2, "7\n"]);
  expect(stderr).toContain("cannot be recorded");
});
