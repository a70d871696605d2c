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

export async function calledBy(requests: Record<string, [tool: string, args: object]>): Promise<Map<string, Called>> {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { echo: fixture("echo") } });
  const command = [process.execPath, "--preload", join(import.meta.dir, "instrument.ts"), join(root, "src/main.ts")];
  const env = { CALLED: join(folder.path, "called"), CLAUDIKINS_DAEMON: "off" };
  await using host = await openHost(folder, { command, env });
  const found = new Map<string, Called>();
  for (const [name, [tool, args]] of Object.entries(requests)) {
    for (let times = 0; times < warmUps; times++) await host.call(tool, { ...args });
    await Bun.sleep(quietMs);
    const before = sizes(folder.path);
    await host.call(tool, { ...args });
    await Bun.sleep(afterMs);
    const names = new Set<string>();
    for (const file of sizes(folder.path).keys()) {
      const lines = readFileSync(file)
        .subarray(before.get(file) ?? 0)
        .toString()
        .split("\n");
      for (const line of lines) if (line !== "") names.add(line);
    }
    const files = new Set(Array.from(names, (each) => each.split(":", 1)[0]));
    found.set(name, { files: files.size, functions: names.size, names: [...names].sort() });
  }
  return found;
}

function sizes(folder: string): Map<string, number> {
  const files = readdirSync(folder).filter((name) => name.startsWith("called."));
  return new Map(files.map((name) => [join(folder, name), statSync(join(folder, name)).size]));
}
