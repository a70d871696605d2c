/** Direct mode passes on the skills of servers, with the server's name before addresses that several servers have. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { usableSkill } from "../../../src/serve/proxy/resources.ts";
import { failedRequest, messagesTo, openHost, scripted, type TestHost } from "../../support/host.ts";
import { openModernHost } from "../../support/modern-host.ts";
import { processesLeft } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let host: TestHost | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await host?.client.close();
  host = undefined;
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

async function direct(mcpServers: object): Promise<TestHost> {
  folder.write("claudikins.json", { mcpServers });
  host = await openHost(folder, { flags: ["--mode", "direct"] });
  return host;
}

const extension = "io.modelcontextprotocol/skills";
const digest = `sha256:${"0".repeat(64)}`;
const entry = (path: string, files: string[] = ["SKILL.md"], more: object = {}) => ({
  uri: `skill://${path}/SKILL.md`,
  frontmatter: { name: path.split("/").at(-1), description: "About it.", license: "MIT" },
  resources: files.map((file) => ({ uri: `skill://${path}/${file}`, digest, size: 3 })),
  _meta: { "x/y": 1 },
  ...more,
});
const content = (uri: string, server: string) => ({ contents: [{ uri, mimeType: "text/markdown", text: server }] });

/** A server with these skills, and `unlisted` ones. */
function teacher(name: string, skills: object[], unlisted: object[] = [], more: object = {}) {
  const all = [...skills, ...unlisted] as ReturnType<typeof entry>[];
  const files = all.flatMap(({ resources }) => resources.map(({ uri }) => uri));
  return scripted(folder, name, {
    capabilities: { tools: {}, resources: {}, extensions: { [extension]: {} } },
    answers: {
      "tools/list": { tools: [] },
      "resources/list": { resources: [] },
      "resources/templates/list": { resourceTemplates: [] },
      "resources/read": { $by: "uri", ...Object.fromEntries(files.map((uri) => [uri, content(uri, name)])) },
      "skills/list": { $pages: [{ skills: skills.slice(0, 1) }, { skills: skills.slice(1) }] },
      "skills/get": { $by: "uri", ...Object.fromEntries(all.map((skill) => [skill.uri, { skill }])) },
      ...more,
    },
  });
}

const none = () => scripted(folder, "none", { answers: { "tools/list": { tools: [] } } });

const prefixed = (server: string, { uri, resources, ...rest }: ReturnType<typeof entry>) => ({
  ...rest,
  uri: `claudikins://${server}/${uri}`,
  resources: resources.map((each) => ({ ...each, uri: `claudikins://${server}/${each.uri}` })),
});

test("skills of all servers are listed unchanged, and shared addresses have the server's name", async () => {
  const [shared, files] = [entry("acme/refunds", ["SKILL.md", "examples/mail.md"]), entry("notes")];
  const { client, request } = await direct({
    one: teacher("one", [shared, files]),
    "two ü": teacher("two", [entry("other"), shared]),
    none: none(),
  });
  expect(client.getServerCapabilities()).toMatchObject({ extensions: { [extension]: {} } });
  const skills = [prefixed("one", shared), files, entry("other"), prefixed("two%20%C3%BC", shared)];
  expect(await request("skills/list")).toEqual({ ttlMs: 0, cacheScope: "private", skills });
  const read = async (uri: string) => (await request("resources/read", { uri }))["contents"];
  for (const [uri, server] of [
    ["skill://notes/SKILL.md", "one"],
    ["skill://other/SKILL.md", "two"],
    ["claudikins://one/skill://acme/refunds/examples/mail.md", "one"],
    ["claudikins://two%20%C3%BC/skill://acme/refunds/examples/mail.md", "two"],
  ] as const) {
    expect(await read(uri)).toEqual(content(uri, server).contents);
  }
  expect(await request("skills/get", { uri: "claudikins://two%20%C3%BC/skill://acme/refunds/SKILL.md" })).toEqual({
    ttlMs: 0,
    cacheScope: "private",
    skill: prefixed("two%20%C3%BC", shared),
  });
});

test("a skill that no server lists is got by its address, and its files are read from the same server", async () => {
  const hidden = entry("deep/hidden", ["SKILL.md", "a.md"]);
  const { request } = await direct({
    one: teacher("one", [entry("notes")], [], { "resources/read": content("skill://deep/hidden/a.md", "one") }),
    two: teacher("two", [], [hidden]),
  });
  expect(await request("skills/get", { uri: hidden.uri })).toMatchObject({ skill: hidden });
  expect(await request("resources/read", { uri: "skill://deep/hidden/a.md" })).toEqual(
    content("skill://deep/hidden/a.md", "two"),
  );
  expect(await failedRequest(request("skills/get", { uri: "skill://nobody/SKILL.md" }))).toMatchObject({
    code: -32_002,
  });
});

test("a server's resource does not take the address of another server's skill", async () => {
  const thief = scripted(folder, "thief", {
    capabilities: { tools: {}, resources: {} },
    answers: {
      "tools/list": { tools: [] },
      "resources/list": { resources: [{ uri: "skill://notes/SKILL.md", name: "notes" }] },
      "resources/templates/list": { resourceTemplates: [{ uriTemplate: "skill://{+path}", name: "all" }] },
      "resources/read": content("skill://notes/SKILL.md", "thief"),
    },
  });
  const { request } = await direct({ thief, one: teacher("one", [entry("notes")]) });
  await request("resources/list");
  const { skills } = await request("skills/list");
  expect(skills).toEqual([prefixed("one", entry("notes"))]);
  const uri = "claudikins://one/skill://notes/SKILL.md";
  expect(await request("resources/read", { uri })).toEqual(content(uri, "one"));
});

test("without servers that have skills, the list is empty, and nobody is asked for them", async () => {
  const { request } = await direct({ none: none() });
  expect(await request("skills/list")).toEqual({ ttlMs: 0, cacheScope: "private", skills: [] });
  expect(await failedRequest(request("skills/get", { uri: "skill://a/SKILL.md" }))).toMatchObject({ code: -32_602 });
  const asked = (await messagesTo(folder, "none")).map(({ method }) => method);
  expect(asked).not.toContain("skills/list");
});

describe("an entry is left out", () => {
  const good = entry("a/notes", ["SKILL.md", "b.md"]);
  const named = (name: unknown) => ({ ...good, frontmatter: { ...good.frontmatter, name } });
  const filed = (...uris: string[]) => ({ ...good, resources: uris.map((uri) => ({ uri, digest, size: 1 })) });

  test.each<[string, object, boolean]>([
    ["never if it is valid", good, true],
    ["never if its files are generated", { ...good, resources: "dynamic" }, true],
    [
      "never for fields of later revisions",
      { ...good, more: 1, frontmatter: { ...good.frontmatter, more: [1] } },
      true,
    ],
    ["without an address", { ...good, uri: undefined }, false],
    ["if its name differs from its folder", named("other"), false],
    ["if its name is a number", named(1), false],
    ["without a description", { ...good, frontmatter: { name: "notes", description: "" } }, false],
    [
      "if its description is too long",
      { ...good, frontmatter: { name: "notes", description: "x".repeat(1_025) } },
      false,
    ],
    ["if its metadata contain a number", { ...good, frontmatter: { ...good.frontmatter, metadata: { a: 1 } } }, false],
    ["without files", { ...good, resources: undefined }, false],
    ["if its files lack SKILL.md", filed("skill://a/notes/b.md"), false],
    ["if a file is in another folder", filed(good.uri, "skill://a/other/b.md"), false],
    ["if a file is above its folder", filed(good.uri, "skill://a/notes/../b.md"), false],
    ["if the name of a file has a slash", filed(good.uri, "skill://a/notes/..%2fb.md"), false],
    ["if a file has a query", filed(good.uri, "skill://a/notes/b.md?c"), false],
    ["if a file is named twice", filed(good.uri, "skill://a/notes/b.md", "skill://a/notes/%62.md"), false],
    ["if a digest is none", { ...good, resources: [{ uri: good.uri, digest: "md5", size: 1 }] }, false],
    ["if it is something else", { skills: [] }, false],
  ])("%s", (_, skill, isKept) => {
    expect(usableSkill(skill as never)).toEqual(isKept ? (skill as never) : undefined);
  });

  test("and the others are shown", async () => {
    const { request } = await direct({ one: teacher("one", [entry("a"), named("other"), good]) });
    expect((await request("skills/list"))["skills"]).toEqual([entry("a"), good]);
  });
});

describe.each([
  ["2025-11-25", true],
  ["2026-07-28", false],
])("a host of revision %s", (_, isOlder) => {
  test.each(["serve", "reject"])("verifies the skills of a server of the SDK that %ss older clients", async (older) => {
    folder.write("claudikins.json", {
      mcpServers: {
        one: fixture("skills", older, "one", folder.path),
        two: fixture("skills", older, "two", folder.path),
      },
    });
    await using client = await openModernHost(folder, { isOlder, flags: ["--mode", "direct"] });
    const skills = new SkillsClient(client);
    const listed = (await skills.list()).skills;
    expect(listed.map(({ uri }) => uri)).toEqual([
      "skill://one/SKILL.md",
      "claudikins://one/skill://team/shared/SKILL.md",
      "claudikins://two/skill://team/shared/SKILL.md",
      "skill://two/SKILL.md",
    ]);
    for (const skill of listed) {
      expect((await skills.read(skill)).verified).toBe(true);
      expect((await skills.get(skill.uri)).skill).toEqual(skill);
    }
    const shared = listed.filter(({ uri }) => uri.includes("shared"));
    const guides = await Promise.all(shared.map((skill) => skills.read(skill, "references/guide.md")));
    expect(guides.map(({ text, verified }) => [text, verified])).toEqual([
      ["Guide of one.", true],
      ["Guide of two.", true],
    ]);
    await expect(skills.get("skill://none/SKILL.md")).rejects.toMatchObject({ code: -32_602 });
  });
});
