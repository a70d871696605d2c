/** The largest recordings are written and read in bounded memory. Nothing is timed. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { hasProc, residentMb } from "../../../scripts/bench/measure.ts";
import { megabyte } from "../../../src/base/units.ts";
import { executable } from "../../support/claudikins.ts";
import { project } from "../../tools/generation/project.ts";

setDefaultTimeout(120_000);

/** The highest resident size of claudikins, in MB, without its servers. */
const maxMb = 250;

/** Rows that make a recording of nearly 10 MB, and more than 9. */
const rows = 44_000;

const row = (number: number) => ({
  id: `ord_${String(number).padStart(6, "0")}`,
  customer: "cus_0001",
  note: "a note that is a sentence, as notes are",
  cents: number * 7,
  at: "2025-01-02T03:04:05Z",
});

const rowsFrom = (first: number, count: number) => ({
  content: [],
  structuredContent: { rows: Array.from({ length: count }, (_, at) => row(first + at)) },
});

/** 0 for a process that has ended, or that is still the copy of this one from which it is made. */
function highest(pid: number): number {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === executable() ? residentMb(pid, "VmHWM") : 0;
  } catch {
    return 0;
  }
}

const inputSchema = { type: "object", properties: { at: { type: "number" } } };

test.skipIf(!hasProc).each([
  ["one result", 1, []],
  ["ten results", 10, []],
  ["one private result", 1, ["private"]],
] as const)("a recording of 10 MB with %s is written and read within 250 MB", async (_, calls, labels) => {
  using folder = project();
  const each = rows / calls;
  const tool = {
    inputSchema,
    annotations: { readOnlyHint: true },
    _results: Array.from({ length: calls }, (_, at) => rowsFrom(at * each, each)),
  };
  folder.configure({ big: { ...folder.offering("big", { rows: tool }), labels: { "*": labels } } });
  folder.write(
    "count.ts",
    `let count = 0;
for (let at = 0; at < ${calls}; at++) count += (await big.rows({ at })).rows.length;
return count;`,
  );
  const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true", CLAUDIKINS_DAEMON: "off" };
  async function peakMb(...argv: string[]): Promise<number> {
    const child = Bun.spawn([executable(), ...argv], { cwd: folder.path, env, stdout: "ignore", stderr: "pipe" });
    let peak = 0;
    // The usage that the system keeps of a child begins with the size of this process.
    const watch = setInterval(() => {
      peak = Math.max(peak, highest(child.pid));
    }, 5);
    const stderr = await new Response(child.stderr).text();
    clearInterval(watch);
    expect([argv, await child.exited, stderr.includes("error:")]).toEqual([argv, 0, false]);
    return Math.round(peak);
  }
  const peaks: Record<string, number> = {};
  for (const argv of [
    ["programs", "save", "count.ts", "--name", "count"],
    ["programs", "record", "count"],
    ["programs", "test", "count"],
    ["programs", "check", "count"],
    ["programs", "check", "count", "--live"],
    ["programs", "export", "--to", "out"],
    ["programs", "test", "--all", "--from", "out"],
  ])
    peaks[argv.join(" ")] = await peakMb(...argv);
  expect(statSync(join(folder.path, "out/count.recording.json")).size).toBeGreaterThan(9 * megabyte);
  console.log(peaks);
  expect(Object.values(peaks).every((mb) => mb > 0)).toBe(true);
  expect(Object.entries(peaks).filter(([, mb]) => mb > maxMb)).toEqual([]);
});
