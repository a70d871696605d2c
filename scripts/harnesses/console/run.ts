/**
 * `bun run console [--minutes n] [--executions n] [--tools n] [--seconds n] [--seed n] [--json]`: the page of `claudikins ui` in Chromium with
 * 10,000 executions and 5,000 tools. Measures its start, its lists while they are scrolled, the answers of its server, and its memory while
 * agents work. Exits with code 1 if a target of `targets.ts` is missed.
 */
import { parseArgs } from "node:util";
import { type ConsoleOptions, measureConsole } from "./measure.ts";
import { linesOf, problemsOf } from "./targets.ts";

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "3" },
      executions: { type: "string", default: "10000" },
      tools: { type: "string", default: "5000" },
      seconds: { type: "string", default: "6" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      json: { type: "boolean", default: false },
    },
  });
  const { json, ...numbers } = values;
  const options = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)]));
  const report = (line: string) => console.error(line);
  const figures = await measureConsole({ ...(options as unknown as ConsoleOptions), report });
  const problems = problemsOf(figures);
  if (json) console.log(JSON.stringify({ ...options, ...figures, problems }, null, 2));
  else console.log(linesOf(figures).join("\n"));
  for (const problem of problems) console.error(problem);
  return problems.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
