/** `claudikins executions compare` on records made by hand: what is shown, which one is compared without a choice, and what is refused. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Comparison } from "../../src/programs/comparing/comparison.ts";
import type { ExecutionRecord } from "../../src/programs/trace/record.ts";
import { callOf, recordOf } from "../programs/trace/records.ts";
import { ownFolder } from "../support/own-folder.ts";
import { storeRecord } from "../support/stored.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
beforeEach(() => {
  folder.write("claudikins.json", { mcpServers: {} });
});

const compare = (...argv: string[]) => cli(["executions", "compare", ...argv], { cwd: folder.path });

let begun = Date.now() - 3_600_000;
async function write(given: Partial<ExecutionRecord>): Promise<string> {
  begun += 1_000;
  const record = recordOf({ at: begun, config: join(folder.path, "claudikins.json"), ...given });
  await storeRecord(folder.path, record);
  return record.id;
}

const whole = (text: string) => ({ text, isWhole: true });
const code = (text: string) => ({ chars: text.length, lines: 1, text });

async function chosen(of: string): Promise<string | undefined> {
  const { stdout, stderr } = await compare(of, "--json");
  if (stdout === "") return JSON.parse(stderr).error.code;
  const { earlier, later } = JSON.parse(stdout) as Comparison;
  return [earlier.id, later.id].find((id) => id !== of);
}

test("shows both, the calls side by side with what differs, and the changed lines", async () => {
  const orders = { arguments: whole('{"month":10}'), argumentChars: 12 };
  const first = await write({
    ...{ hasContents: true, code: code("return 1;\n"), value: whole("1"), logs: { lines: 0, chars: 0 } },
    timeline: [
      callOf({ ...orders, result: whole("[]") }),
      callOf({ tool: "refund", resultChars: 30 }),
      callOf({ tool: "end" }),
    ],
  });
  const second = await write({
    ...{ hasContents: true, code: code("return 2;\n"), logs: { lines: 0, chars: 0 } },
    ...{ ok: false, reason: "threw", error: { name: "ToolError", message: "No such month" }, failures: 1 },
    timeline: [
      callOf({
        ...orders,
        arguments: whole('{"month":11}'),
        endMs: 2_110,
        outcome: "failed",
        code: "TOOL_FAILED",
        resultChars: 0,
      }),
      callOf({ server: "crm\u001b[2J", tool: "find" }),
      callOf({ tool: "end" }),
    ],
  });
  const { stdout, exitCode } = await compare(second, first);
  const lines = stdout.split("\n").map((line) => line.trimEnd());
  expect(exitCode).toBe(0);
  expect(lines[1]!.split(/\s+/)).toEqual(["id", first, second]);
  expect(lines.find((line) => line.startsWith("failure"))).toContain("ToolError: No such month");
  expect(lines.slice(lines.indexOf("Calls: 1 changed, 1 removed, 1 added, 1 same"), -1)).toEqual([
    "Calls: 1 changed, 1 removed, 1 added, 1 same",
    '~ shop.list_orders  arguments {"month":10} → {"month":11} · ok → failed (TOOL_FAILED) · result 10,000 → 0 characters · 100 ms → 2.1 s',
    "- shop.refund  30 characters, 100 ms",
    "+ crm [2J.find  10,000 characters, 100 ms",
    "  shop.end  10,000 characters, 100 ms",
    "",
    "Code: different",
    "- return 1;",
    "+ return 2;",
    "",
    "Value: different",
    "- 1",
    "",
    "Logs: the same",
  ]);
  const json = JSON.parse((await compare(first, second, "--json")).stdout) as Comparison;
  expect(json.calls.map(({ change, differs }) => [change, ...differs])).toEqual([
    ["changed", "arguments", "outcome", "result", "duration"],
    ["removed"],
    ["added"],
    ["same"],
  ]);
});

test("without contents, compares sizes and says what is not stored; --limit keeps the calls that differ", async () => {
  const same = Array.from({ length: 5 }, () => callOf({}));
  const first = await write({ timeline: [...same, callOf({ resultChars: 5 })] });
  await write({ timeline: [...same, callOf({ resultChars: 7 })] });
  const { stdout } = await compare("last", first, "--limit", "1");
  expect(stdout).toContain("~ shop.list_orders  result 5 → 7 characters\n… 5 more calls: --limit shows more\n");
  expect(stdout).toContain("only sizes were compared. For contents: exec --record");
  expect(stdout).toContain("Code: not stored of the earlier and the later one");
});

test("compares with the one it was run again from, else with the latest earlier one of the same program or code", async () => {
  const other = await write({});
  const program = await write({ program: "report" });
  const before = await write({ codeDigest: "c1" });
  const sameCode = await write({ codeDigest: "c1", repeats: other });
  const later = await write({ program: "report", codeDigest: "c1" });
  const dry = await write({ program: "report", dryRun: true });
  expect(await chosen(sameCode)).toBe(other);
  expect(await chosen(later)).toBe(program);
  expect(await chosen(dry)).toBe(later);
  // Nothing is before it, and it was run again.
  expect(await chosen(other)).toBe(sameCode);
  expect(await chosen(before)).toBe("USAGE");
  expect(await chosen(program)).toBe("USAGE");
});

test("refuses the same execution twice and one that is not recorded, and says what can be done", async () => {
  const id = await write({});
  const twice = await compare(id, id.slice(0, 12));
  expect([twice.exitCode, twice.stderr]).toEqual([
    2,
    expect.stringContaining("is the same execution as the first one"),
  ]);
  const alone = await compare(id);
  expect(alone.stderr).toContain(`hint: Name another one: claudikins executions compare ${id} ID`);
  expect((await compare(id, "none")).stderr).toContain('No execution "none" is recorded');
});
