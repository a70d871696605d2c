/** Hosts that read skills get how to use claudikins, and the saved functions of the workspace with their signatures. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { servedSkills } from "../../src/serve/skills/served-skills.ts";
import { hookTexts, skillText } from "../../src/tools/registry/hook-texts.ts";
import { claudikinsCommand } from "../support/command.ts";
import { httpServe } from "../support/http-serve.ts";
import { envelope, modernAnswer, openModernHost } from "../support/modern-host.ts";
import { ownFolder } from "../support/own-folder.ts";
import { testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const extension = "io.modelcontextprotocol/skills";
const capabilities = { extensions: { [extension]: {} } };

const folder = ownFolder();
beforeEach(() => {
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd") } });
});

const save = (name: string, text: string) => folder.write(`.claudikins/workspace/skills/${name}`, text);

const revenue = `/** Sums the revenue of orders by month. Cents. */
export function revenueByMonth(orders: { created_at: string; total_cents: number }[]): Record<string, number> {
  return {};
}
export const currency: string = "EUR";
`;

type Ask = { isOlder: boolean; way: string };

async function asHost(
  { isOlder, way }: Ask,
  theirs: object,
  work: (host: Client) => Promise<void>,
  flags: string[] = [],
): Promise<void> {
  await using door = way === "http" ? await httpServe(folder, flags) : undefined;
  const reached = door ? { url: door.url } : { flags };
  await using host = await openModernHost(folder, { ...reached, isOlder, capabilities: theirs });
  await work(host);
}

describe.each([
  ["2025-11-25", true],
  ["2026-07-28", false],
])("with revision %s", (_, isOlder) => {
  describe.each(["stdio", "http"])("over %s", (way) => {
    test("a host lists, gets and verifies skills, which are current at each request", async () => {
      save("revenue.ts", revenue);
      await asHost({ isOlder, way }, capabilities, async (host) => {
        const skills = new SkillsClient(host);
        expect(skills.supported).toBe(true);
        const listed = (await skills.list()).skills;
        expect(listed.map(({ uri }) => uri)).toEqual([
          "skill://claudikins/SKILL.md",
          "skill://workspace/revenue/SKILL.md",
        ]);
        const { text, verified } = await skills.read(listed[0]!);
        expect({ text, verified }).toEqual({ text: skillText, verified: true });
        const saved = await skills.read(listed[1]!);
        expect(saved.verified).toBe(true);
        expect(saved.text).toMatchInlineSnapshot(`
          "---
          name: "revenue"
          description: "Sums the revenue of orders by month. Saved code for execute_code: revenueByMonth, currency in ./skills/revenue"
          ---

          # ./skills/revenue

          Code that was saved in the workspace of claudikins. Import it in a program for \`execute_code\`:

          \`\`\`ts
          import { revenueByMonth, currency } from "./skills/revenue"

          // Sums the revenue of orders by month. Cents.
          revenueByMonth(orders: { created_at: string; total_cents: number }[]): Record<string, number>

          currency: string
          \`\`\`
          "
        `);

        const code = `await fs.writeFile("./workspace/skills/greet.ts", "export const greet = (name: string): string => name;")`;
        await host.callTool({ name: "execute_code", arguments: { code } });
        const { skill } = await skills.get("skill://workspace/greet/SKILL.md");
        expect((await skills.read(skill)).text).toContain("\ngreet(name: string): string\n");
        expect((await host.listResources()).resources).toMatchObject([
          { uri: "skill://claudikins/SKILL.md", name: "claudikins", mimeType: "text/markdown" },
          { uri: "skill://workspace/greet/SKILL.md", name: "greet" },
          { uri: "skill://workspace/revenue/SKILL.md", name: "revenue", size: saved.bytes.length },
        ]);
        expect((await host.listResourceTemplates()).resourceTemplates).toEqual([]);

        await expect(skills.get("skill://workspace/none/SKILL.md")).rejects.toMatchObject({ code: -32_602 });
        await expect(host.readResource({ uri: "skill://workspace/none/SKILL.md" })).rejects.toThrow("not found");
      });
    });

    test("a host that does not read skills is told only about tools", async () => {
      await asHost({ isOlder, way }, { sampling: {} }, async (host) => {
        expect(host.getServerCapabilities()).toEqual(isOlder ? { tools: {} } : { tools: {}, extensions: tasks });
      });
    });
  });
});

const tasks = { "io.modelcontextprotocol/tasks": {} };

describe("a probe that the SDK answers says the same", () => {
  const answers = [
    [capabilities, { tools: {}, resources: {}, extensions: { ...capabilities.extensions, ...tasks } }],
    [{}, { tools: {}, extensions: tasks }],
  ] as const;

  test.each(answers)("over HTTP to a host with %j", async (theirs, told) => {
    await using door = await httpServe(folder);
    const answer = await modernAnswer(door.url, "server/discover", {}, { capabilities: theirs });
    expect(answer.result?.["capabilities"]).toEqual(told);
  });

  test.each(answers)("over stdio to a host with %j", async (theirs, told) => {
    const _meta = { ...envelope(theirs), "io.modelcontextprotocol/logLevel": "debug" };
    const request = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta } };
    const env = testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` });
    const child = Bun.spawn([...claudikinsCommand, "serve"], { cwd: folder.path, env, stdin: "pipe", stdout: "pipe" });
    child.stdin.write(`${JSON.stringify(request)}\n`);
    child.stdin.flush();
    const { value } = await child.stdout.getReader().read();
    await child.stdin.end();
    expect(JSON.parse(new TextDecoder().decode(value)).result.capabilities).toEqual(told);
    expect(await child.exited).toBe(0);
  });
});

test("the text of skill install differs only by its mark", () => {
  expect(hookTexts.skill.replace(/^<!-- claudikins skill .*-->\n/m, "")).toBe(skillText);
});

test("a workspace whose config is not trusted has no skills", async () => {
  save("revenue.ts", revenue);
  await using door = await httpServe(folder, [], { env: { CI: "" } });
  await using host = await openModernHost(folder, { url: door.url, capabilities });
  const { skills } = await new SkillsClient(host).list();
  expect(skills.map(({ uri }) => uri)).toEqual(["skill://claudikins/SKILL.md"]);
});

describe("a hostile workspace", () => {
  const mounts = () => ({
    workspace: join(folder.path, ".claudikins/workspace"),
    registry: join(folder.path, ".claudikins/registry"),
    bases: { workspace: folder.path, registry: folder.path },
  });

  test("with odd names and texts has valid skills with different names", async () => {
    const names = ["my_report", "myReport", "my-report", "claudikins", "数据", "🚀", "123", "true", "1e3", "a b"];
    for (const name of names) save(`${name}.ts`, revenue);
    save(`${"long-".repeat(45)}.ts`, revenue);
    save(`${"long-".repeat(44)}x.ts`, revenue);
    save("deep/er/claudikins.ts", 'export default async (s = "```"): Promise<void> => {};');
    const comment = '---\n```\n"quoted": \\ \u0007 \ud800 {a: b} # no\n<!-- x -->'.repeat(200);
    save("texts.ts", `/** ${comment} */\nexport function f(text = "\n---\n\`\`\`"): string {}`);
    await asHost({ isOlder: false, way: "stdio" }, capabilities, async (host) => {
      const skills = new SkillsClient(host);
      const { skills: listed } = await skills.list();
      expect(listed.length).toBe(1 + names.length + 4);
      expect(new Set(listed.map(({ frontmatter }) => frontmatter.name)).size).toBe(listed.length);
      for (const skill of listed) {
        const { verified, text = "" } = await skills.read(skill);
        expect(verified).toBe(true);
        expect(text.length).toBeLessThan(3_000);
      }
    });
  });

  test("with links, large files and thousands of files has a limited number of skills", () => {
    save("good.ts", revenue);
    folder.write("outside/secret.ts", "export const secret = 1;");
    symlinkSync(join(folder.path, "outside/secret.ts"), join(mounts().workspace, "skills/file-link.ts"));
    symlinkSync(join(folder.path, "outside"), join(mounts().workspace, "skills/folder-link"));
    save("huge.ts", `export const huge = 1;${" ".repeat(300_000)}`);
    mkdirSync(join(mounts().workspace, "skills/folder.ts"));
    expect([...servedSkills(mounts()).keys()]).toEqual([
      "skill://claudikins/SKILL.md",
      "skill://workspace/good/SKILL.md",
    ]);
    for (let at = 0; at < 1_000; at++) save(`many/f${at}.ts`, `export const f${at} = 1;`);
    const count = servedSkills(mounts()).size;
    expect(count).toBeGreaterThan(400);
    expect(count).toBeLessThanOrEqual(501);
  });
});
