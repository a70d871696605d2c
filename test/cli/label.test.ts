/** `claudikins label` says in the config what the data of tools is, and `list tools --detailed` shows it with the reasons. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { cli } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
let file: string;

const text = { type: "object", properties: { text: { type: "string" } } };
const tools = [
  { name: "send_mail", description: "Sends a mail.", inputSchema: text },
  { name: "get_customer", description: "Returns a customer.", inputSchema: text },
];

function configWith(keys: string): string {
  const { command, args } = fixture("recording", join(folder.path, "got.jsonl"), folder.write("tools.json", tools));
  return `{
  "mcpServers": {
    // mine
    "rec": { "command": ${JSON.stringify(command)}, "args": ${JSON.stringify(args)}${keys} },
  },
}
`;
}

beforeEach(() => {
  file = folder.write("claudikins.json", configWith(""));
});

const run = (...argv: string[]) => cli(argv, { cwd: folder.path });
const ok = async (...argv: string[]) => {
  const { exitCode, stdout, stderr } = await run(...argv);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return stdout;
};
const labelsInFile = () => {
  const config = Bun.JSONC.parse(readFileSync(file, "utf8")) as { mcpServers: { rec: { labels?: object } } };
  return config.mcpServers.rec.labels;
};
const shownLabels = async () => {
  const { tools: shown } = JSON.parse(await ok("list", "tools", "rec", "--detailed", "--json"));
  return Object.fromEntries(shown.map(({ name, labels }: { name: string; labels: object }) => [name, labels]));
};

test("the labels of the rules are shown with their reasons, and one word changes them", async () => {
  expect(await shownLabels()).toEqual({
    send_mail: { public: 'its name says "send"' },
    get_customer: { untrusted: 'it returns "customer"', private: 'it returns "customer"' },
  });
  expect(await ok("list", "tools", "rec", "--detailed")).toContain('  public: its name says "send"\n');
  expect(await ok("label", "rec.get_customer", "private")).toBe(`Labels of rec.get_customer: private (${file})\n`);
  expect(await ok("label", "rec.send_mail", "none")).toBe(`Labels of rec.send_mail: none (${file})\n`);
  expect(await shownLabels()).toEqual({
    send_mail: {},
    get_customer: { private: "mcpServers.rec.labels says so" },
  });
  expect(await ok("label", "rec.send_mail", "none")).toBe(`Labels of rec.send_mail are already: none (${file})\n`);
  await ok("label", "rec.send_mail", "default");
  expect(labelsInFile()).toEqual({ get_customer: ["private"] });
  await ok("label", "rec.get_customer", "default");
  expect(readFileSync(file, "utf8")).toBe(configWith(""));
});

test("labels of all tools stay beside those of one, and several are written in one order", async () => {
  folder.write("claudikins.json", configWith(', "labels": ["private"]'));
  await ok("label", "rec.get_*", "public,untrusted");
  expect(labelsInFile()).toEqual({ "*": ["private"], "get_*": ["untrusted", "public"] });
  expect(JSON.parse(await ok("label", "rec.*", "default", "--json"))).toEqual({
    config: file,
    server: "rec",
    tool: "*",
    labels: null,
    changed: true,
  });
  expect(labelsInFile()).toEqual({ "get_*": ["untrusted", "public"] });
});

test.each([
  [["rec", "private"], '"rec" is a server: name a tool'],
  [["rec.send_mail", "secret"], '"secret" is not a label'],
  [["rec.send_mail", "none", "private"], '"none" cannot be combined'],
  [["other.tool", "private"], "other"],
])("%j is refused and changes nothing", async (argv, problem) => {
  const { exitCode, stderr } = await run("label", ...argv);
  expect([exitCode, readFileSync(file, "utf8")]).toEqual([2, configWith("")]);
  expect(stderr).toContain(problem);
});

test.each(["label demo.list_orders private", "disable demo"])(
  "without a config, %s knows no server, and writes nothing",
  async (argv) => {
    rmSync(file);
    const env = { HOME: folder.path, XDG_CONFIG_HOME: "" };
    const { exitCode, stderr } = await cli(argv.split(" "), { cwd: folder.path, env });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('has no server called "demo"')]);
    expect(existsSync(join(folder.path, ".config"))).toBe(false);
  },
);
