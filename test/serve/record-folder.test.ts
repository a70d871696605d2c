/** `serve --record-folder` records the programs of an agent, whose servers are played later. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { cli } from "../cli/in-memory.ts";
import { claudikinsCommand } from "../support/command.ts";
import { openHost } from "../support/host.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

test("each program of an agent becomes a recording, from which its server is played", async () => {
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd", folder.path) } });
  const code = "return (await odd.structured()).answer";
  {
    await using host = await openHost(folder, { flags: ["--record-folder", "recordings"] });
    const { content } = await host.call("execute_code", { code });
    expect(JSON.stringify(content)).toContain("42");
    await host.call("execute_code", { code: "throw new Error('no')" });
    await host.call("execute_code", { code: "return await odd.structured()", dry_run: true });
  }
  const files = readdirSync(join(folder.path, "recordings"));
  expect(files).toHaveLength(2);
  const [command, ...args] = claudikinsCommand;
  const played = { command, args: [...args, "mock", join(folder.path, "recordings")] };
  folder.write("claudikins.json", { mcpServers: { odd: played } });
  const { stdout } = await cli(["exec", "-e", code, "--json"], { cwd: folder.path });
  expect(JSON.parse(stdout).value).toBe(42);
});

test("a server over HTTP records into no folder", async () => {
  const argv = ["serve", "--http", "127.0.0.1:0", "--record-folder", "recordings"];
  const { exitCode, stderr } = await cli(argv, { cwd: folder.path });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--record-folder cannot be used with --http")]);
});
