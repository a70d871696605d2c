/** What a person sees while `exec` takes long. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { Activity } from "../../src/cli/progress.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(30_000);

const code = "await demo.list_orders({ limit: 1 }); await new Promise((done) => setTimeout(done, 1500)); return 1";

test("after a second its last words, on one line that goes away", async () => {
  using folder = temporaryFolder();
  const { stdout, stderr } = await cli(["exec", "-e", code], {
    cwd: folder.path,
    terminal: true,
    columns: 20,
    env: { NO_COLOR: "1" },
  });
  expect(stdout).toBe("1\n");
  expect(stderr).toStartWith("\r\u001b[2Kdemo.list_orders: d\r\u001b[2K[1 call");
});

test("nothing where nobody watches", async () => {
  using folder = temporaryFolder();
  const { stderr } = await cli(["exec", "-e", code], { cwd: folder.path });
  expect(stderr).toStartWith("[1 call");
});

test("nothing for what is done within a second", () => {
  const written: string[] = [];
  const activity = new Activity({ isTerminal: true, write: async (text) => void written.push(text) });
  activity.onProgress?.("demo.list_orders: done");
  activity.end();
  expect(written).toEqual([]);
});
