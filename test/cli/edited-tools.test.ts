/** Commands about edited tools: what does not fit is reported, rules are written with own names, and secrets stay out of everything. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { inSession } from "../support/session.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const secret = "s3cr3t-4f9a8b7c6d";
const run = (...argv: string[]) => cli(argv, { cwd: folder.path, env: { JIRA_PROJECT: secret } });
const text = { type: "string" };

function configure(tools: object, more: object = {}): string {
  const listed = [
    {
      name: "create_issue",
      description: "Creates.",
      inputSchema: { type: "object", properties: { project: text, title: text }, required: ["project"] },
    },
    { name: "get_issue", description: "Reads.", inputSchema: { type: "object" } },
  ];
  const jira = { ...fixture("from-file", folder.write("jira.json", listed)), ...more };
  return folder.write("claudikins.json", { mcpServers: { jira }, tools });
}

const misfit =
  'tools["jira.create_issue"].arguments.projct: "create_issue" has no argument "projct". Did you mean project?. The tool is left out until this is corrected';

describe("an entry that does not fit", () => {
  beforeEach(() => {
    configure({ "jira.create_issue": { arguments: { projct: { value: "${JIRA_PROJECT}" } } } });
  });

  test("is in list --check, which succeeds", async () => {
    const { exitCode, stderr } = await run("list", "--check");
    expect([exitCode, stderr.trim()]).toEqual([0, `warning: ${misfit}`]);
    const { stdout } = await run("list", "--check", "--json");
    expect(JSON.parse(stdout).servers).toMatchObject([{ server: "jira", tools: 1, misfits: [misfit] }]);
  });

  test("is a warning of doctor", async () => {
    const { findings } = JSON.parse((await run("doctor", "--json")).stdout) as { findings: { id: string }[] };
    expect(findings.find(({ id }) => id === "server.jira")).toMatchObject({
      state: "warning",
      message: expect.stringMatching(/^jira: 1 tool, started in .*; "tools" in the config does not fit them$/),
      details: [misfit],
      repair: "claudikins config edit",
      tools: 1,
    });
  });

  test("is in the log, and the tool cannot be called", async () => {
    const argv = [...claudikinsCommand, "call", "jira.create_issue", "title=x"];
    const env = testEnvironment({ HOME: folder.path, CLAUDIKINS_LOG: "warn", JIRA_PROJECT: secret });
    const { exitCode, stderr } = await runProgram(argv, { cwd: folder.path, env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(misfit);
    expect(stderr).toContain('jira has no tool "create_issue"');
  });

  test("is used once it fits, although the server has been listed before", async () => {
    await run("list", "--check");
    configure({ "jira.create_issue": { arguments: { project: { value: "${JIRA_PROJECT}" } } } });
    expect(JSON.parse((await run("call", "jira.create_issue", "title=x")).stdout)).toMatchObject({
      name: "create_issue",
    });
    expect((await run("search", "create")).stdout).toContain("jira.create_issue(args?: { title?: string })");
  });

  test("is used by an agent's next search once it fits", async () => {
    await run("list", "--check");
    configure({ "jira.create_issue": { arguments: { project: { value: "X" } } } });
    const query = { name: "search_tools", arguments: { query: "create" } };
    const found = await inSession(folder.path, async (client) => JSON.stringify(await client.callTool(query)));
    expect(found).toContain("jira.create_issue(args?: { title?: string })");
  });
});

test("disable and enable take the name that agents use, and write the own one", async () => {
  const file = configure({ "jira.create_issue": { name: "file_bug" } });
  await run("list", "--check");
  const deny = () => JSON.parse(readFileSync(file, "utf8")).mcpServers.jira.deny;
  expect(await run("disable", "jira.file_bug")).toMatchObject({
    exitCode: 0,
    stdout: `Disabled jira.create_issue in ${file}\n`,
  });
  expect(deny()).toEqual(["create_issue"]);
  expect((await run("list", "tools")).stdout).not.toMatch(/file_bug|create_issue/);
  expect((await run("call", "jira.file_bug")).stderr).toContain(
    "jira.file_bug is denied in the config by mcpServers.jira.deny[0]\n",
  );
  expect((await run("call", "jira.create_issue")).stderr).toContain('jira has no tool "create_issue"');
  expect((await run("enable", "jira.create_issue")).exitCode).toBe(0);
  expect(deny()).toBeUndefined();
  expect((await run("call", "jira.file_bug", "project=x")).exitCode).toBe(0);
});

test("disable takes a name that another tool wanted as that of the tool that has it", async () => {
  const file = configure({ "jira.create_issue": { name: "get_issue" } });
  await run("list", "--check");
  expect((await run("disable", "jira.get_issue")).exitCode).toBe(0);
  expect(JSON.parse(readFileSync(file, "utf8")).mcpServers.jira.deny).toEqual(["get_issue"]);
});

test("a server whose edit has a variable that is not set needs it", async () => {
  configure({ "jira.create_issue": { arguments: { project: { value: "${JIRA_PROJECT}" } } } });
  const { stdout } = await cli(["list", "--json"], { cwd: folder.path });
  expect(JSON.parse(stdout).servers).toMatchObject([{ server: "jira", state: "needs", variables: ["JIRA_PROJECT"] }]);
});

test("a fixed secret reaches the server, and no file, record, log or error", async () => {
  const literal = "tok-8fa7e2c9b1d4";
  const fixed = { project: { value: "${JIRA_PROJECT}" }, title: { value: literal } };
  configure({ "jira.create_issue": { name: "file_bug", arguments: fixed } }, { confirm: { get_issue: "always" } });
  const answers = [
    await run(
      "exec",
      "--record",
      "-e",
      "const { arguments: args } = await jira.file_bug({}); return Object.values(args).map((each) => each.length)",
    ),
    await run("trace", "last", "--json"),
    await run("list", "--check", "--json"),
    await run("search", "bug", "--json"),
    await run("call", "jira.file_bug", "title=x"),
    await run("call", "jira.file_bug", "project:=7"),
    await run("doctor"),
  ];
  expect(answers[0]).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^\[\s+17,\s+16\s+\]/),
  });
  expect(answers[1]?.stdout).toContain("file_bug");
  const shown = JSON.stringify(answers);
  for (const each of [secret, literal]) expect(shown).not.toContain(each);
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const found = files.filter(({ name, parentPath }) =>
    readFileSync(join(parentPath, name)).includes(secret.slice(0, 10)),
  );
  expect(found).toEqual([]);
  const holders = files.filter(({ name, parentPath }) => readFileSync(join(parentPath, name)).includes(literal));
  expect(holders.map(({ name }) => name)).toEqual(["claudikins.json"]);
});

test("a fixed value fits a list of values in the schema, although it looks like a secret", async () => {
  const id = "9f8a7b6c5d4e";
  configure({ "jira.get_issue": { arguments: { project: { value: id } } } });
  const inputSchema = { type: "object", properties: { project: { enum: [id, "other"] } }, required: ["project"] };
  folder.write("jira.json", [{ name: "get_issue", inputSchema }]);
  expect((await run("list", "--check")).stderr).toBe("");
  expect(JSON.parse((await run("call", "jira.get_issue")).stdout)).toMatchObject({ arguments: { project: id } });
  configure({ "jira.get_issue": { arguments: { project: { value: "9f8a7b6c5d4f" } } } });
  folder.write("jira.json", [{ name: "get_issue", inputSchema }]);
  expect((await run("list", "--check")).stderr).toContain("must be one of");
});

test("the question whether to trust a config shows what is fixed, without secrets", async () => {
  const fixed = {
    project: { value: "${JIRA_PROJECT}" },
    token: { value: "abcdef0123456789" },
    cmd: { value: "rm -rf x" },
  };
  configure({ "jira.create_issue": { name: "file_bug", arguments: fixed } });
  const env = { HOME: join(folder.path, "home"), CI: "" };
  const { stderr } = await cli(["list", "--check"], { cwd: folder.path, env, terminal: true, answers: ["n"] });
  expect(stderr).toContain(
    'jira.create_issue: {"name":"file_bug","arguments":{"project":{"value":"${JIRA_PROJECT}"},"token":{"value":"***"},"cmd":{"value":"rm -rf x"}}}',
  );
  expect(stderr).toMatch(/read from the environment: JIRA_PROJECT/);
});
