/** gen that is killed or interrupted while it writes: the old files still work, and the next gen completes them. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let registry: string;
let started: { kill(signal: NodeJS.Signals): void } | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  registry = join(folder.path, ".claudikins", "registry");
});
afterEach(async () => {
  started?.kill("SIGKILL");
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const toolCount = 2_000;

/** A server with many tools; `version` is in the description of each. */
function manyTools(version: string): object {
  const tools = Array.from({ length: toolCount }, (_, index) => ({
    name: `${version}-tool-${index}`,
    description: `Tool ${index} of ${version}`,
    inputSchema: { type: "object" },
  }));
  return fixture("from-file", folder.write("tools.json", tools));
}

const configure = (mcpServers: object) => void folder.write("claudikins.json", { mcpServers });
const claudikins = (...args: string[]) => runProgram([executable(), ...args], { cwd: folder.path });
const index = () => readFileSync(join(registry, "index.json"), "utf8");
const serverFiles = () =>
  existsSync(join(registry, "other", "many")) ? readdirSync(join(registry, "other", "many")) : [];

/** Runs gen as a process, and resolves when it has written some of the new files. */
async function genInTheMiddle(writtenFiles: number) {
  const child = Bun.spawn([executable(), "gen"], {
    cwd: folder.path,
    env: testEnvironment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  started = child;
  await eventually(() => serverFiles().filter((name) => name.startsWith("new")).length >= writtenFiles, { everyMs: 1 });
  return child;
}

test("gen that is killed between two files leaves the old index, complete files, and no process", async () => {
  configure({ many: manyTools("old") });
  expect(await claudikins("gen")).toMatchObject({ exitCode: 0 });
  const before = index();
  configure({ many: manyTools("new"), hangs: fixture("never-starts", folder.path) });
  const child = await genInTheMiddle(toolCount / 10);
  child.kill("SIGKILL");
  await child.exited;
  expect(await processesLeft(folder.path)).toEqual([]);
  expect(index()).toBe(before);
  const search = await claudikins("search", "tool 7 of old", "--json");
  expect(JSON.parse(search.stdout).tools[0]).toMatchObject({ server: "many", name: expect.stringMatching(/^old-/) });

  // As if gen had been killed while it wrote the last file.
  writeFileSync(join(registry, "other", "many", "new_tool_0.ts.4194399.7.tmp"), "// Gen");
  const left = serverFiles().filter((name) => name.endsWith(".ts"));
  const texts = new Map(left.map((name) => [name, readFileSync(join(registry, "other", "many", name), "utf8")]));
  configure({ many: manyTools("new") });
  expect(await claudikins("gen")).toMatchObject({ exitCode: 0 });
  expect(serverFiles().filter((name) => name.endsWith(".tmp"))).toEqual([]);
  expect(await claudikins("gen", "--check", "--clean")).toMatchObject({ exitCode: 0 });
  for (const name of serverFiles().filter((each) => each.startsWith("new") && texts.has(each))) {
    expect(texts.get(name)).toBe(readFileSync(join(registry, "other", "many", name), "utf8"));
  }
});

test.skipIf(process.platform === "win32")(
  "Ctrl-C makes gen store what other servers answered, and end cleanly",
  async () => {
    configure({ many: manyTools("old") });
    expect(await claudikins("gen")).toMatchObject({ exitCode: 0 });
    configure({ many: manyTools("new"), hangs: fixture("never-starts", folder.path) });
    const child = await genInTheMiddle(toolCount);
    child.kill("SIGINT");
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect(child.exitCode).toBe(130);
    expect(stdout).toBe(`${registry}\n`);
    expect(stderr).toMatch(/^many +ok +2000 +20\d\d +2000 /m);
    expect(stderr).toMatch(/^hangs +not asked .*\n\nInterrupted: the tools of the other servers were written\n$/m);
    expect(await claudikins("gen", "--check", "--server", "many")).toMatchObject({ exitCode: 0 });
  },
);
