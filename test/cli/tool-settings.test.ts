/** Rules and edits of tools by command. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
const run = (...argv: string[]) => cli(argv, { cwd: folder.path });
const config = () => JSON.parse(readFileSync(join(folder.path, "claudikins.json"), "utf8"));
beforeEach(async () => {
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd") } });
  await run("gen");
});

test("confirm says when a tool asks, and the next call waits for approval", async () => {
  expect((await run("confirm", "odd.structured", "always")).stdout).toStartWith("odd.structured asks always (");
  expect(config().mcpServers.odd.confirm).toEqual({ structured: "always" });
  expect((await run("call", "odd.structured")).exitCode).not.toBe(0);
  expect((await run("confirm", "odd.structured", "always")).stdout).toContain("already always");
  expect((await run("confirm", "odd.structured", "never")).exitCode).toBe(0);
  expect((await run("call", "odd.structured")).exitCode).toBe(0);
  expect((await run("confirm", "odd.structured", "default")).stdout).toContain("asks as other rules say");
  expect(config().mcpServers.odd.confirm).toBeUndefined();
  expect((await run("confirm", "odd.structured", "default")).stdout).toContain("asks already as other rules say");
  expect((await run("confirm", "odd", "always")).stderr).toContain("name a tool, as server.tool");
  expect((await run("confirm", "odd.*", "always")).stderr).toContain("takes no pattern");
});

test("edit changes the name and the arguments of a tool, adds to earlier changes, and --reset removes them", async () => {
  const before = config();
  await run("edit", "odd.structured", "--name", "shaped", "--description", "Makes shapes.");
  await run("edit", "odd.structured", "--set", "size:=2");
  const edited = { name: "shaped", description: "Makes shapes.", arguments: { size: { value: 2 } } };
  expect(config().tools).toEqual({ "odd.structured": edited });
  expect((await run("list", "odd", "--detailed")).stdout).toContain("odd.shaped\n  Makes shapes.\n  odd.shaped()");
  expect((await run("edit", "odd.structured")).exitCode).toBe(0);
  expect((await run("edit", "odd.shaped", "--reset")).exitCode).toBe(0);
  expect(config()).toEqual(before);
  // The tool has its own name again, before the server was listed.
  expect((await run("edit", "odd.structured")).stderr).toContain("Say what to change");
  const own = { list: ["list", "odd", "--detailed"], search: ["search", "structured answer", "--limit", "20"] };
  for (const argv of Object.values(own)) {
    await run("edit", "odd.structured", "--name", "shaped");
    expect((await run(...argv)).stdout).toContain("odd.shaped");
    expect((await run("edit", "odd.structured", "--reset")).exitCode).toBe(0);
    const { stdout } = await run(...argv);
    expect([stdout.includes("odd.structured"), stdout.includes("odd.shaped")]).toEqual([true, false]);
  }
  expect((await run("edit", "odd.structured", "--set", "size:=two")).stderr).toContain("is not JSON");
});
