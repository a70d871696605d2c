/** A program in a process that is killed, and the calls that the server `counting` has received until then. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The calls in the file of the server: tool and name. */
export function callsIn(file: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as string[]).join(" "));
}

/** Runs a program in another process, kills that process once `ready` resolves, and returns the id. */
export async function killed(
  code: string,
  { cwd, env }: { cwd: string; env: Record<string, string | undefined> },
  ready: () => Promise<unknown>,
): Promise<string> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "run.ts"), code], { cwd, env, stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  await ready();
  child.kill("SIGKILL");
  await child.exited;
  return Buffer.from(value ?? [])
    .toString()
    .trim();
}
