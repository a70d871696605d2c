/** Files with what is too long for an answer: they count against the limits of the workspace, as a program's own files do. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { ContentBlock } from "@modelcontextprotocol/server";
import { defaultQuotas } from "../../src/sandbox/host/filesystem/quota.ts";
import { cli } from "../cli/in-memory.ts";
import { ownFolder } from "../support/own-folder.ts";
import { inSession } from "../support/session.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
beforeEach(() => {
  folder.write("claudikins.json", { mcpServers: {} });
});

const workspace = () => join(folder.path, ".claudikins", "workspace");
const outputs = () => (existsSync(join(workspace(), "outputs")) ? readdirSync(join(workspace(), "outputs")) : []);

/** Fills the workspace, except for this number of bytes. The file takes no room on the disk. */
function leave(bytes: number): void {
  folder.write(".claudikins/workspace/large", "");
  truncateSync(join(workspace(), "large"), defaultQuotas.workspaceBytes - bytes);
}

async function answerTo(code: string): Promise<string> {
  return inSession(folder.path, async (client) => {
    const { content } = await client.callTool({ name: "execute_code", arguments: { code } });
    return (content as ContentBlock[]).map((block) => (block.type === "text" ? block.text : "")).join("\n");
  });
}

const full = /The full text could not be saved \(EDQUOT: .*\.\/workspace holds at most .*\): return less\./;

describe("a text that is too long for an answer", () => {
  const programs: Record<string, string> = {
    "a value": 'return "v".repeat(60_000)',
    "a value of several megabytes": 'return "v".repeat(3_000_000)',
    data: "return Array.from({ length: 20_000 }, (_, n) => ({ n }))",
    logs: 'for (let n = 0; n < 2_000; n++) console.log("line", n, "x".repeat(40))',
    "a message of an error": 'throw new Error("e".repeat(60_000))',
    "displayed texts": 'display("d".repeat(60_000))',
  };
  for (const [what, code] of Object.entries(programs)) {
    test(`is shown in part and goes into no file if the workspace is full: ${what}`, async () => {
      leave(1_000);
      const text = await answerTo(code);
      expect(text).toMatch(full);
      expect(text).not.toContain(folder.path);
      expect(text.length).toBeLessThan(85_000);
      expect(outputs()).toEqual([]);
    });
  }

  test("goes into a file while the workspace has room, and not beyond that", async () => {
    leave(250_000);
    const texts = [];
    for (let n = 0; n < 4; n++) texts.push(await answerTo('return "v".repeat(100_000)'));
    expect(texts.map((text) => full.test(text))).toEqual([false, false, true, true]);
    const [name] = /outputs\/\S+\.txt/.exec(texts[0]!)!;
    expect(readFileSync(join(workspace(), name), "utf8")).toBe("v".repeat(100_000));
  });

  test("goes into no file if the workspace has as many files as it may have", async () => {
    mkdirSync(join(workspace(), "many"), { recursive: true });
    for (let n = 1; n < defaultQuotas.workspaceEntries; n++) mkdirSync(join(workspace(), "many", `${n}`));
    expect(await answerTo('return "v".repeat(60_000)')).toContain("holds at most 10000 files and folders");
  });

  test("is never written through a link", async () => {
    mkdirSync(workspace(), { recursive: true });
    mkdirSync(join(folder.path, "elsewhere"));
    symlinkSync(join(folder.path, "elsewhere"), join(workspace(), "outputs"));
    expect(await answerTo('return "v".repeat(60_000)')).toContain("The full text could not be saved");
    expect(readdirSync(join(folder.path, "elsewhere"))).toEqual([]);
  });
});

test("images that exec keeps are not written if the workspace is full, and the outcome says so", async () => {
  leave(1_000);
  const data = Buffer.alloc(30_000, "image").toString("base64");
  const code = `display({ type: "image", mimeType: "image/png", data: ${JSON.stringify(data)} }); return 1`;
  const { stdout, stderr, exitCode } = await cli(["exec", "-e", code], { cwd: folder.path });
  expect({ stdout, exitCode }).toEqual({ stdout: "1\n", exitCode: 0 });
  expect(stderr).toContain("EDQUOT");
  expect(outputs()).toEqual([]);
});
