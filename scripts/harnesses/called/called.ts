/** Counts the functions and files of `src` that one warm request of an agent runs through, in `serve` without a daemon. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../test/support/claudikins.ts";
import { openHost } from "../../../test/support/host.ts";
import { fixture } from "../../../test/support/servers.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";

export interface Called {
  files: number;
  functions: number;
  /** `file:function@offset`, sorted. */
  names: string[];
}

/** Requests before the one that counts. */
const warmUps = 4;

/** What a request begins is done by then: tools are observed and files are written a moment later. */
const quietMs = 2_500;

/** The work after an answer counts too, such as the entry in the ledger. */
const afterMs = 400;

/** On a busy machine, work of earlier requests can fall into the one that counts. It is then counted again, at most this often. */
const maxTries = 3;

/** Counts again while `isEnough` says no, and returns the smallest count of each request. */
export async function calledBy(
  requests: Record<string, [tool: string, args: object]>,
  isEnough: (name: string, called: Called) => boolean = () => true,
): Promise<Map<string, Called>> {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { echo: fixture("echo") } });
  const command = [process.execPath, "--preload", join(import.meta.dir, "instrument.ts"), join(root, "src/main.ts")];
  const env = { CALLED: join(folder.path, "called"), CLAUDIKINS_DAEMON: "off" };
  await using host = await openHost(folder, { command, env });
  const found = new Map<string, Called>();
  for (const [name, [tool, args]] of Object.entries(requests)) {
    for (let times = 0; times < warmUps; times++) await host.call(tool, { ...args });
    for (let tries = 0; tries < maxTries; tries++) {
      const called = await calledOnce(folder.path, () => host.call(tool, { ...args }));
      if (called.functions < (found.get(name)?.functions ?? Number.POSITIVE_INFINITY)) found.set(name, called);
      if (isEnough(name, called)) break;
    }
  }
  return found;
}

async function calledOnce(folder: string, request: () => Promise<unknown>): Promise<Called> {
  await Bun.sleep(quietMs);
  const before = sizes(folder);
  await request();
  await Bun.sleep(afterMs);
  const names = new Set<string>();
  for (const file of sizes(folder).keys()) {
    const lines = readFileSync(file)
      .subarray(before.get(file) ?? 0)
      .toString()
      .split("\n");
    for (const line of lines) if (line !== "") names.add(line);
  }
  const files = new Set(Array.from(names, (each) => each.split(":", 1)[0]));
  return { files: files.size, functions: names.size, names: [...names].sort() };
}

function sizes(folder: string): Map<string, number> {
  const files = readdirSync(folder).filter((name) => name.startsWith("called."));
  return new Map(files.map((name) => [join(folder, name), statSync(join(folder, name)).size]));
}
