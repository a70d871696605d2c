/** The same probes of a door with real processes: over stdio with the daemon, and over HTTP in both eras of the protocol. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { claudikinsCommand } from "../support/command.ts";
import { openHost } from "../support/host.ts";
import { httpServe, sdkHost } from "../support/http-serve.ts";
import { openModernHost } from "../support/modern-host.ts";
import { runProgram } from "../support/process.ts";
import type { TemporaryFolder } from "../support/temporary.ts";
import { answersTo, type ProbedFolders, probedFolders, probes } from "./door-probes.ts";

setDefaultTimeout(120_000);

let folders: ProbedFolders;
beforeAll(async () => {
  folders = await probedFolders();
});
afterAll(() => folders[Symbol.dispose]());

const envOf = ({ path }: TemporaryFolder) => ({
  HOME: path,
  XDG_DATA_HOME: `${path}/.local/share`,
  XDG_RUNTIME_DIR: path,
  CLAUDIKINS_DAEMON: "on",
});

type Ask = (folder: TemporaryFolder) => Promise<Map<string, string>>;

const ways: Record<string, Ask> = {
  "stdio and the daemon": async (folder) => {
    await using host = await openHost(folder, { flags: ["--door", "qa"], env: envOf(folder) });
    return await answersTo(host.client, folder, folders.other);
  },
  "HTTP in sessions": async (folder) => {
    await using serve = await httpServe(folder, [], { env: envOf(folder) });
    await using host = await sdkHost(new URL("/qa", serve.url).href);
    return await answersTo(host.client, folder, folders.other);
  },
  "HTTP in the newest revision": async (folder) => {
    await using serve = await httpServe(folder, [], { env: envOf(folder) });
    await using client = await openModernHost(folder, { url: new URL("/qa", serve.url).href });
    return await answersTo(client as never, folder, folders.other);
  },
};

describe.each(Object.keys(ways))("over %s", (way) => {
  let answers: { hiding: Map<string, string>; open: Map<string, string> };
  beforeAll(async () => {
    const { hiding, open } = folders;
    answers = { hiding: await ways[way]!(hiding), open: await ways[way]!(open) };
  });
  afterAll(async () => {
    for (const folder of [folders.hiding, folders.open]) {
      await runProgram([...claudikinsCommand, "daemon", "stop", "--all", "--now"], {
        cwd: folder.path,
        env: envOf(folder),
      });
    }
  });

  test.each([...Object.keys(probes), "the instructions and the definitions of the tools"])("%s", (name) => {
    expect(answers.hiding.get(name)).toBeString();
    expect(answers.hiding.get(name)).toBe(answers.open.get(name));
  });
});
