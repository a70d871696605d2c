/** `serve` with a config that has mistakes: an agent gets its tools and the reason, and works once the file is corrected. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { claudikinsCommand } from "../support/command.ts";
import { type HostOptions, openHost } from "../support/host.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const good = () => JSON.stringify({ mcpServers: { odd: fixture("odd") } });
const host = (env: HostOptions["env"] = {}) => openHost(folder, { env: { HOME: `${folder.path}/home`, ...env } });
const code = "return (await odd.structured()).answer";
const said = ({ content }: Record<string, unknown>) => JSON.stringify(content);

describe("a file with other content than JSON", () => {
  test("leaves the agent its tools, which answer with the reason, and the next call works once it is corrected", async () => {
    const file = folder.write("claudikins.json", '{"mcpServers": {');
    await using agent = await host();
    expect(agent.client.getInstructions()).toContain("The config of the MCP servers has a mistake");
    for (const [name, args] of [
      ["search_tools", { query: "answer" }],
      ["execute_code", { code }],
    ] as const) {
      const refused = await agent.call(name, args);
      expect(refused["isError"]).toBe(true);
      expect(said(refused)).toContain(`${file}:1:17  not valid JSON: close brace expected`);
      expect(said(refused)).toContain("The next call after the file is corrected works");
    }
    folder.write("claudikins.json", good());
    expect(said(await agent.call("execute_code", { code }))).toContain("42");
    folder.write("claudikins.json", "{");
    expect(said(await agent.call("execute_code", { code }))).toContain("42");
  });

  test("shows nothing of itself if the user has not answered for the project", async () => {
    folder.write("claudikins.json", '{"mcpServers": {}, "workspace": {"INJECTED": 1}}');
    await using agent = await host({ CI: "" });
    const refused = said(await agent.call("execute_code", { code }));
    expect(refused).toContain("The config has mistakes. To see them: claudikins doctor");
    expect(refused).not.toContain("INJECTED");
    folder.write("claudikins.json", good());
    expect(said(await agent.call("execute_code", { code }))).toContain("claudikins trust");
  });

  test("ends every other command, and `serve --http`, with the reason", async () => {
    folder.write("claudikins.json", "{");
    for (const args of [["list"], ["exec", "-e", "1"], ["serve", "--http", "0"]]) {
      const { exitCode, stderr } = await runProgram([...claudikinsCommand, ...args], { cwd: folder.path });
      expect([args, exitCode, stderr]).toEqual([args, 2, expect.stringContaining("not valid JSON")]);
    }
  });
});

test("an entry with a mistake takes no other server from the agent, which reads the reason in searches", async () => {
  const { mcpServers } = JSON.parse(good());
  folder.write("claudikins.json", { mcpServers: { wrong: { url: "http://a::1" }, ...mcpServers } });
  await using agent = await host();
  expect(said(await agent.call("search_tools", { query: "something" }))).toContain(
    "wrong has a mistake in its config entry",
  );
  expect(said(await agent.call("execute_code", { code }))).toContain("42");
});
