/** Resources, prompts and skills of servers are found by search, with the call that reads them. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { type CliOptions, cli } from "../../cli/in-memory.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { everything, fixture } from "../../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });

function configure(mcpServers: object, more: object = {}): void {
  folder.write("claudikins.json", JSON.stringify({ mcpServers, ...more }));
}

interface Found {
  kind: string;
  id: string;
  signature: string;
}

async function found(...argv: string[]): Promise<Found[]> {
  const { exitCode, stdout, stderr } = await run(["search", ...argv, "--json"]);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout).tools;
}

test("a prompt and a resource are found by words, with the call that reads them, and the call works", async () => {
  configure({ every: everything() });
  expect((await run(["gen"])).exitCode).toBe(0);
  const prompts = (await found("prompt with arguments city")).filter(({ kind }) => kind === "prompt");
  expect(prompts.map(({ signature }) => signature)).toContain('every.prompts.get("args-prompt", { city, state? })');
  const resources = (await found("architecture document resource", "--limit", "20")).filter(
    ({ kind }) => kind === "resource",
  );
  const [first] = resources;
  expect(first?.id).toStartWith('every.resources.read("demo://resource/');
  const { exitCode, stdout } = await run(["exec", "-e", `return (await ${first?.id}).contents.length`]);
  expect([exitCode, stdout.trim()]).toEqual([0, "1"]);
});

test("a tool comes before a resource with the same words, and the filter by server counts", async () => {
  configure({ every: everything(), guides: fixture("skills", "serve", "mine") });
  expect((await run(["gen"])).exitCode).toBe(0);
  expect((await found("echo"))[0]).toMatchObject({ kind: "tool", id: "every.echo" });
  const ofSkills = await found("skill mine server:guides");
  expect(ofSkills[0]).toMatchObject({ kind: "skill", id: 'guides.skills.read("skill://mine/SKILL.md")' });
  expect(ofSkills.every(({ id }) => id.startsWith("guides."))).toBe(true);
});

test("rules that deny resources and prompts hide them", async () => {
  configure({ every: { ...everything(), deny: ["resources.read", "prompts.*"] } });
  expect((await run(["gen"])).exitCode).toBe(0);
  const all = await found("prompt resource architecture city arguments", "--limit", "50");
  expect(all.length).toBeGreaterThan(0);
  expect(all.filter(({ kind }) => kind !== "tool")).toEqual([]);
});
