/** Saved programs whose servers have changed: found by a check, by review and doctor, and before a schedule starts them. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { type CliOptions, type CliResult, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const at = (options: CliOptions = {}) => ({ cwd: folder.path, env: { NO_COLOR: "1" }, ...options });
const run = (argv: string[], options: CliOptions = {}) => cli(argv, at(options));

async function done(argv: string[], options: CliOptions = {}): Promise<CliResult> {
  const result = await run(argv, options);
  expect([argv, result.exitCode, result.exitCode === 0 ? "" : result.stderr]).toEqual([argv, 0, ""]);
  return result;
}

const item = (name: string, type: unknown = "number") => ({
  type: "object",
  properties: { id: { type: "string" }, [name]: { type }, unread: { type: "string" } },
  required: ["id", name],
});

const orders = (items: unknown, input: object = {}) => ({
  name: "list_orders",
  description: "Lists orders.",
  annotations: { readOnlyHint: true },
  inputSchema: { type: "object", properties: { month: { type: "string" } }, ...input },
  outputSchema: { type: "object", properties: { orders: { type: "array", items } }, required: ["orders"] },
});

const result = (value: unknown) => ({ content: [], structuredContent: value });
const answer = { orders: [{ id: "a", cents: 100, unread: "x" }] };

function offer(tool: object, value: unknown = answer): void {
  // The server finds no number in the arguments.
  folder.write("tools.json", [{ ...tool, _results: { NaN: result(value) } }]);
}

function open(definitions: "trust" | "lock" = "trust"): void {
  folder.write("claudikins.json", {
    mcpServers: {
      shop: { ...fixture("from-file", join(folder.path, "tools.json")), labels: { "*": [] }, definitions },
    },
  });
}

const code = `// The total of a month.
const { orders } = await shop.list_orders({ month: input.month });
return { total: orders.reduce((sum, { cents }) => sum + cents, 0) };
`;

async function kept(definitions?: "trust" | "lock"): Promise<void> {
  open(definitions);
  offer(orders(item("cents")));
  folder.write("total.ts", code);
  folder.write("other.ts", "return (await shop.list_orders({})).orders.length;");
  await done(["programs", "save", "total.ts", "--name", "total"]);
  await done(["programs", "save", "other.ts", "--name", "other"]);
  await done(["programs", "record", "total", "month=2026-10"]);
  await done(["programs", "record", "other"]);
}

async function check(...argv: string[]) {
  const { stdout, exitCode } = await run(["programs", "check", ...argv, "--json"]);
  return { exitCode, ...JSON.parse(stdout) };
}

const gone = {
  tool: "shop.list_orders",
  line: 2,
  text: 'shop.list_orders: orders[*].cents is gone; it may be "amount" now',
  effect: 'output.total is a text ("NaN"); it was a number (100)',
};

describe("a check", () => {
  beforeEach(() => kept());

  test("passes while nothing has changed, and if only what no program reads has", async () => {
    const fine = { exitCode: 0, total: 2, broken: 0, unknown: [] };
    expect(await check("--all")).toMatchObject(fine);
    const { unread: _, ...properties } = item("cents").properties as Record<string, unknown>;
    offer({ ...orders({ ...item("cents"), properties }), description: "Lists all orders." });
    await done(["gen"]);
    expect(await check("--all")).toMatchObject(fine);
  });

  test("names the programs that a renamed field breaks, with the call and what they do", async () => {
    offer(orders(item("amount")));
    await done(["gen"]);
    expect(await check("--all")).toMatchObject({
      ...{ exitCode: 1, total: 2, broken: 1 },
      programs: [
        { name: "other", ok: true, recordings: 1, reasons: [] },
        { name: "total", ok: false, recordings: 1, reasons: [gone], acceptedAnyway: false },
      ],
    });
    const { stdout, exitCode } = await run(["programs", "check", "total"]);
    expect([exitCode, stdout]).toEqual([
      1,
      `BREAKS  total  (1 recording)
  line 2: ${gone.text}. ${gone.effect}
1 of 1 saved program would break
`,
    ]);
    expect((await run(["programs", "check", "other"])).exitCode).toBe(0);
  });

  test("finds a new required argument, and a tool that has vanished", async () => {
    const input = { properties: { month: { type: "string" }, shop: { type: "string" } }, required: ["shop"] };
    offer(orders(item("cents"), input));
    await done(["gen"]);
    const [, total] = (await check("--all")).programs;
    expect(total.reasons.map(({ line, text }: { line: number; text: string }) => [line, text])).toEqual([
      [2, 'shop.list_orders refuses the arguments: the argument "shop" is missing'],
    ]);
    folder.write("tools.json", [{ name: "list_order", inputSchema: { type: "object" } }]);
    await done(["gen"]);
    expect(await check("--all")).toMatchObject({
      broken: 2,
      programs: [
        { reasons: [{ line: 1, text: "shop.list_orders does not exist any more; it may be called list_order now" }] },
        { reasons: [{ line: 2, effect: "The program fails in line 2" }] },
      ],
    });
    folder.write("claudikins.json", { mcpServers: {} });
    expect((await check("total")).programs[0].reasons[0].text).toBe('The config has no server "shop" any more');
  });

  test("checks the text of a program that has no recording", async () => {
    folder.write("new.ts", "return await shop.list_orders({ month: input.month });");
    await done(["programs", "save", "new.ts", "--name", "new"]);
    expect((await check("new")).programs).toMatchObject([{ ok: true, recordings: 0 }]);
    offer(orders(item("cents"), { properties: { day: { type: "string" } } }));
    await done(["gen"]);
    expect((await check("new")).programs).toMatchObject([
      { ok: false, reasons: [{ line: 1, text: expect.stringContaining('there is no argument "month"') }] },
    ]);
  });

  test("says that the test of a program fails by itself", async () => {
    folder.write("total.ts", code.replace("sum + cents", "sum - cents"));
    await done(["programs", "save", "total.ts", "--name", "total", "--replace"]);
    expect((await check("total")).programs[0].reasons).toEqual([
      {
        recording: "total.recording.json",
        text: "Its test total.recording.json fails: output.total is -100; it was 100",
      },
    ]);
  });

  test("with --live calls what only reads, and compares the shapes", async () => {
    const live = async () => (await check("total", "--live")).programs[0];
    expect(await live()).toMatchObject({ ok: true, live: { calls: 1, notSeen: [] } });
    // The server says nothing, and answers in another way.
    offer(orders(item("cents")), { orders: [{ id: "a", amount: 100 }] });
    expect(await live()).toMatchObject({ ok: false, reasons: [gone] });
    offer({ ...orders(item("cents")), annotations: { readOnlyHint: false } }, { orders: [{ id: "a", amount: 100 }] });
    await done(["gen"]);
    expect(await live()).toMatchObject({
      ok: true,
      live: { calls: 0, notSeen: [{ tool: "shop.list_orders", why: "its server does not say that it only reads" }] },
    });
  });

  test("judges a tool that declares no results by those that were seen since its arguments have changed", async () => {
    const undeclared = (input: object = {}) => ({ ...orders({}, input), outputSchema: undefined });
    offer(undeclared());
    await done(["gen"]);
    await done(["programs", "record", "total", "month=2026-10", "--as", "undeclared"]);
    // Another call gives orders of another kind, which says nothing about those of the recording.
    offer(undeclared(), { orders: [{ id: "b", cents: null, refund: 7 }] });
    await done(["call", "shop.list_orders", "month=2026-11"]);
    expect(await check("--all")).toMatchObject({ broken: 0 });
    offer(undeclared({ properties: { month: { type: "string" }, page: { type: "number" } } }), {
      orders: [{ id: "a", amount: 100 }],
    });
    await done(["gen"]);
    expect(await check("--all")).toMatchObject({ broken: 0 });
    await done(["call", "shop.list_orders", "month=2026-10"]);
    expect(await check("total")).toMatchObject({ broken: 1, programs: [{ reasons: [gone] }] });
  });

  test("needs names or --all, and knows the programs", async () => {
    for (const argv of [[], ["total", "--all"], ["totl"]]) {
      expect((await run(["programs", "check", ...argv])).exitCode).toBe(2);
    }
  });
});

describe("a held definition", () => {
  beforeEach(async () => {
    await kept("lock");
    offer(orders(item("amount")));
    await run(["review", "--check"]);
  });

  test("is judged before it is accepted, by review, doctor and the check", async () => {
    const { stdout } = await run(["review"]);
    expect(stdout).toContain(`1 of 2 saved programs would break if you accept:
  total, line 2: ${gone.text}. ${gone.effect}
`);
    const { programs } = JSON.parse((await run(["review", "--json"])).stdout);
    expect(programs).toEqual({ total: 2, broken: [{ name: "total", reasons: [gone] }] });
    const asked = await run(["review", "shop"], { terminal: true, answers: ["n"] });
    expect(asked.stdout).toContain("1 of 2 saved programs would break if you accept:");
    expect(await check("--all")).toMatchObject({ broken: 1 });
    const { findings } = JSON.parse((await run(["doctor", "--no-servers", "--json"])).stdout);
    expect(findings.find(({ id }: { id: string }) => id === "drift")).toMatchObject({
      state: "warning",
      message: "1 of 2 saved programs would break",
      repair: "claudikins programs check total",
      details: [expect.stringContaining("total, line 2: shop.list_orders")],
    });
  });
});
