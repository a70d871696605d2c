/** exec and other slow commands show what they are doing on one line, at a terminal only. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { Activity, saying } from "../../src/cli/terminal/progress.ts";
import { safeOutput } from "../../src/cli/terminal/terminal-output.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const code = "await demo.list_orders({ limit: 1 }); await new Promise((done) => setTimeout(done, 1500)); return 1";

test("exec shows its latest activity on one line after a second, and erases the line at the end", async () => {
  using folder = temporaryFolder();
  const { stdout, stderr } = await cli(["exec", "-e", code], {
    cwd: folder.path,
    terminal: true,
    columns: 20,
    env: { NO_COLOR: "1" },
  });
  expect(stdout).toBe("1\n");
  expect(stderr).toContain("\r\u001b[2Kdemo.list_orders: d\r\u001b[2K[1 call");
});

test.each<[string, CliOptions]>([
  ["without a terminal", { env: { FORCE_COLOR: "1" } }],
  ["at a terminal that cannot erase a line", { terminal: true, env: { TERM: "dumb" } }],
])("no activity is shown %s", async (_, options) => {
  using folder = temporaryFolder();
  const { stderr } = await cli(["exec", "-e", code], { cwd: folder.path, ...options });
  expect(Bun.stripANSI(stderr)).toStartWith("[1 call");
  const listed = await cli(["list", "--check"], { cwd: folder.path, ...options });
  expect(Bun.stripANSI(listed.stderr)).toBe("No config file: using the built-in demo server.\n\n");
});

test("a general text is shown while a long task reports nothing", async () => {
  using folder = temporaryFolder();
  const computing = "const end = Date.now() + 1500; while (Date.now() < end); return 1";
  const { stderr } = await cli(["exec", "-e", computing], { cwd: folder.path, terminal: true });
  expect(stderr).toStartWith("\r\u001b[2KRunning\r\u001b[2K");
  const written: string[] = [];
  const output = safeOutput({ isTerminal: true, write: async (text) => void written.push(text) });
  expect(
    await saying(
      output,
      "Asking",
      Bun.sleep(1_500).then(() => "answer"),
    ),
  ).toBe("answer");
  expect(written).toEqual(["\r\u001b[2KAsking", "\r\u001b[2K"]);
  await expect(saying(output, "Asking", Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("a task that takes less than a second shows nothing", () => {
  const written: string[] = [];
  const activity = new Activity({ isTerminal: true, write: async (text) => void written.push(text) });
  activity.onProgress?.("demo.list_orders: done");
  activity.end();
  expect(written).toEqual([]);
});
