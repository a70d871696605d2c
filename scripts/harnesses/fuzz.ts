/**
 * `bun run fuzz [--seed n] [--executions n] [--runs n]`: random programs in the sandbox (`fuzz:sandbox`), then hostile
 * programs, lists, schemas and results for `serve` (`fuzz:protocol`). Both have more options. Exits with code 1 if
 * either found a problem.
 */
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    executions: { type: "string", default: "10000" },
    runs: { type: "string", default: "10000" },
  },
});

async function fuzz(script: string, ...args: string[]): Promise<number> {
  const command = [process.execPath, `${import.meta.dir}/${script}`, "--seed", values.seed, ...args];
  return Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] }).exited;
}

const sandbox = await fuzz("sandbox-fuzz/run.ts", "--executions", values.executions);
const protocol = await fuzz("protocol-fuzz/run.ts", "--runs", values.runs);
process.exitCode = sandbox === 0 && protocol === 0 ? 0 : 1;
