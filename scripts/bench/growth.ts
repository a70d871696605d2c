/** How much memory a process gains by running code: executions of every kind in one sandbox. */
import { Harness, type HarnessOptions, megabyte } from "../../test/sandbox/harness.ts";
import { type Row, under } from "./report.ts";
import type { Measure } from "./section.ts";

export interface Growth {
  executions: number;
  /** Resident size of this process after the warm-up and at the end, each after a collection. */
  beforeMb: number;
  afterMb: number;
  growthMb: number;
}

/** Runs with every index that is a multiple of the number, unless an earlier kind matches. */
type Kind = [every: number, code: string, options?: HarnessOptions];

/** A typical agent's session: most executions are small, some are large, few fail, very few are cancelled. */
const kinds: Kind[] = [
  [997, "for (;;);", { timeoutMs: 50 }],
  [991, "await new Promise(() => setInterval(() => {}, 1))", { timeoutMs: 50 }],
  [983, "const all = []; for (;;) all.push('x'.repeat(1e5))", { memoryBytes: 16 * megabyte }],
  [977, "const f = () => f() + 1; f()"],
  [53, "for (let i = 0; i < 100; i++) await test.echo({ i, text: 'x'.repeat(100) }); return 'called'"],
  [47, "return (await Promise.all(Array.from({ length: 100 }, (_, i) => test.echo({ i })))).length"],
  [23, "return Array.from({ length: 5_000 }, (_, id) => ({ id, name: `item ${id}`, tags: ['a', 'b'] }))"],
  [19, "for (let i = 0; i < 500; i++) console.log('line', i, { i }); display({ shown: true })"],
  [
    13,
    "await fs.writeFile('./workspace/a.json', JSON.stringify({ a: 1 })); return fs.readFile('./workspace/a.json', 'utf8')",
  ],
  [11, "const { orders }: any = await test.echo({}); return orders.length"],
  [7, "throw Object.assign(new Error('mine'), { code: 'MINE' })"],
  [6, "await test.fail({})"],
  [17, "const wrong = (;"],
  [
    5,
    "setTimeout(() => console.log('later'), 1); await new Promise((done) => setTimeout(done, 2)); return new Date().getDay()",
  ],
  [1, "return 1"],
];

/** The warm-up fills workers, caches and the heaps of the collectors. */
export async function measureGrowth(executions: number, warmUp = 1_000): Promise<Growth> {
  using harness = new Harness();
  const run = async (count: number) => {
    for (let index = 1; index <= count; index++) {
      const [, code = "", options = {}] = kinds.find(([every]) => index % every === 0) ?? [];
      await harness.run(code, { timeoutMs: 5_000, memoryBytes: 32 * megabyte, ...options });
    }
    return residentMb();
  };
  const beforeMb = await run(warmUp);
  const afterMb = await run(executions);
  return { executions, beforeMb, afterMb, growthMb: afterMb - beforeMb };
}

/** Whole megabytes after a collection, so that garbage does not count as growth. */
export function residentMb(): number {
  Bun.gc(true);
  return Math.round(process.memoryUsage.rss() / 1_048_576);
}

const executions = 5_000;

/** Measures in a separate process, where nothing else grows. */
export const measureGrowthAlone: Measure = async () => {
  const child = Bun.spawn([process.execPath, import.meta.path, String(executions)], {
    env: process.env,
    stderr: "inherit",
  });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("the executions of the growth ended badly");
  const { beforeMb, afterMb, growthMb } = JSON.parse(text) as Growth;
  const counted = `${executions.toLocaleString("en")} executions`;
  const row: Row = { what: "growth of the resident size", unit: "MB", ours: growthMb, others: {}, counted };
  return { rows: [under(row, 20)], notes: [`From ${beforeMb} to ${afterMb} MB, after a warm-up of 1,000 executions.`] };
};

if (import.meta.main) console.log(JSON.stringify(await measureGrowth(Number(process.argv[2] ?? 5_000))));
