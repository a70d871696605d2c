/** Saved programs at one door of `serve --http` that tokens, people and agents of the user share: whose they are, and what they carry. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { issueToken } from "../../../src/serve/tokens/manage.ts";
import { tokenId } from "../../../src/serve/tokens/token-file.ts";
import { cli } from "../../cli/in-memory.ts";
import { auditLines } from "../../support/audit.ts";
import { eventually } from "../../support/eventually.ts";
import {
  executeRequest,
  type HttpServe,
  httpServe,
  type RawSession,
  rawSession,
  resultText,
} from "../../support/http-serve.ts";
import { type OidcFixture, oidcFixture } from "../../support/oidc.ts";
import { fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

let provider: OidcFixture;
let folder: TemporaryFolder;
let serving: HttpServe;
let env: Record<string, string>;

beforeAll(async () => {
  provider = await oidcFixture({ ann: { groups: ["all"] }, bob: { groups: ["all"] } });
});
afterAll(() => provider[Symbol.asyncDispose]());

const labels = { get_key: ["private"], get_issue: ["untrusted"], post: ["public"], private_map: ["private"] };

beforeEach(async () => {
  folder = temporaryFolder();
  env = { XDG_DATA_HOME: join(folder.path, "data") };
  const list = folder.write("tools.json", [
    { name: "get_key", answers: "the-secret-of-ann" },
    { name: "get_issue", answers: "an issue" },
    { name: "private_map", answers: JSON.stringify({ zebra: { balance: 1 }, okapi: { balance: 2 } }) },
    { name: "plain_map", answers: JSON.stringify({ total: 1, currency: "EUR" }) },
    { name: "post" },
  ]);
  folder.write("claudikins.json", {
    mcpServers: {
      rec: { ...fixture("recording", join(folder.path, "got.jsonl"), list), definitions: "trust", labels },
    },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience: "https://tools.example.com",
        scopes: ["tools"],
        doors: { mcp: ["*"] },
      },
    },
  });
  folder.write("token", fixed);
  serving = await httpServe(folder, ["--token-file", join(folder.path, "token")], {
    token: "kept",
    env: { CLAUDIKINS_DAEMON: "off" },
  });
});
afterEach(async () => {
  serving.signal("SIGTERM");
  expect(await serving.exited).toBe(0);
  folder[Symbol.dispose]();
});

class Agent {
  readonly session: RawSession;
  #id = 10;

  constructor(session: RawSession) {
    this.session = session;
  }

  async run(code: string): Promise<string> {
    this.#id += 1;
    return resultText(await this.session.post(executeRequest(this.#id, code)));
  }

  async search(query: string): Promise<string> {
    this.#id += 1;
    const params = { name: "search_tools", arguments: { query } };
    return resultText(await this.session.post({ jsonrpc: "2.0", id: this.#id, method: "tools/call", params }));
  }

  /** Runs a program, and saves it under the name. */
  async save(name: string, code: string, more = ""): Promise<string> {
    await this.run(code);
    return this.run(`return programs.save({ name: ${JSON.stringify(name)}${more} })`);
  }
}

const agent = async (token: string, name = "agent") =>
  new Agent(await rawSession(serving.url, "2025-11-25", {}, name, { authorization: `Bearer ${token}` }));

const fixed = "the-token-of-the-server-itself-0123456789";

async function token(): Promise<{ token: string; id: string }> {
  const { token, stored } = await issueToken({ config: join(folder.path, "claudikins.json") }, env);
  return { token, id: tokenId(stored) };
}

const shell = (argv: string[]) => cli(argv, { cwd: folder.path, env });

async function done(argv: string[]) {
  const { exitCode, stdout, stderr } = await shell([...argv, "--json"]);
  expect([argv, exitCode, stderr]).toEqual([argv, 0, expect.any(String)]);
  return JSON.parse(stdout);
}

/** The program's lines that are the owner's own. */
const returning = (text: string) => `/** Makes the weekly report. */\nreturn "${text}";`;

describe.each(["tokens", "people"])("a program at one door of several %s", (kind) => {
  let [anns, bobs]: Agent[] = [];

  beforeEach(async () => {
    const tokens =
      kind === "tokens"
        ? [(await token()).token, (await token()).token]
        : [await provider.token("ann"), await provider.token("bob")];
    [anns, bobs] = await Promise.all(tokens.map((each) => agent(each)));
  });

  test("is called by its owner alone, and found by nobody else", async () => {
    expect(await anns!.save("report", returning("lines of Ann"))).toContain('"state": "new"');
    expect(await anns!.run("return programs.report()")).toContain("lines of Ann");
    expect(await anns!.search("weekly report")).toContain("programs.report");
    for (const code of [
      "programs.report()",
      'programs["report"]()',
      'servers["prog" + "rams"].report()',
      'servers.programs["report"]({})',
    ]) {
      const answer = await bobs!.run(`return ${code}`);
      expect([code, answer]).toEqual([code, expect.not.stringContaining("lines of Ann")]);
      expect(answer).toMatch(/report/);
    }
    expect(await bobs!.search("weekly report")).not.toContain("programs.report");
    const asked =
      'return [await tools.search("weekly report"), await tools.list("programs").catch((error) => error.code), await tools.describe("programs.report").catch((error) => error.code)]';
    expect(await bobs!.run(asked)).not.toContain("weekly report. ");
    expect(await bobs!.run('return programs.runs({ name: "report" })')).toContain("No saved program is called");
    // The files of the registry are shared.
    const registry = join(folder.path, ".claudikins/registry");
    const files = existsSync(registry) ? (readdirSync(registry, { recursive: true }) as string[]) : [];
    expect(files.filter((name) => /report/.test(name))).toEqual([]);
  });

  test("keeps its versions for its owner, and shows others those that were shared", async () => {
    await anns!.save("report", returning("first lines"));
    const why = ', why: "the lines were wrong"';
    expect(await anns!.save("report", returning("second lines"), why)).toContain('"version": 2');
    expect(await anns!.run("return [await programs.report_v1(), await programs.report()]")).toContain("first lines");
    expect(await bobs!.run("return programs.report_v1()")).not.toContain("first lines");
    const [{ owner }] = (await done(["programs", "list"])).others;
    await done(["programs", "share", "report", "--of", owner, "--yes"]);
    // Everybody has the version that was shared, and no earlier one.
    const shared = (await done(["programs", "history", "report"])).versions;
    expect(shared).toMatchObject([{ version: 1, savedBy: "user", why: `shared from ${owner}` }]);
    expect(await bobs!.run("return programs.report_v1()")).toContain("second lines");
    expect(await anns!.run("return programs.report_v1()")).toContain("first lines");
  });

  test("is another one than that of the same name of somebody else", async () => {
    await anns!.save("report", returning("lines of Ann"));
    expect(await bobs!.save("report", returning("lines of Bob"))).toContain('"state": "new"');
    await anns!.save("report", returning("other lines of Ann"));
    expect(await bobs!.run("return programs.report()")).toContain("lines of Bob");
    expect(await anns!.run("return programs.report()")).toContain("other lines of Ann");
    expect((await done(["programs", "list"])).others).toHaveLength(2);
  });

  test("has its inputs, which are checked, and calls other programs of its owner", async () => {
    await anns!.save("greet", 'return "hello " + "Ada";', ', input: { who: "Ada" }');
    expect(await anns!.run('return programs.greet({ who: "Bob" })')).toContain("hello Bob");
    expect(await anns!.run("return programs.greet({ who: 3 })")).toContain('"who" must be string');
    expect(await anns!.run("const who: any = 3; return programs.greet({ who })")).toContain("must be string, got 3");
    await anns!.save("outer", 'return "outer " + await programs.greet({ who: "Cem" });');
    expect(await anns!.run("return programs.outer()")).toContain("outer hello Cem");
    await bobs!.save("greet", 'return "stolen";');
    expect(await anns!.run("return programs.outer()")).toContain("outer hello Cem");
  });
});

test("an agent of the user saves for agents of the user, and replaces nothing that others call", async () => {
  const [operator, other] = [await agent(fixed), await agent((await token()).token)];
  await operator.save("report", returning("lines of the operator's agent"));
  expect(await operator.run("return programs.report()")).toContain("operator's agent");
  const refused = await other.run("return programs.report()");
  expect(refused).toContain('programs has no tool "report". Its tools: save, runs');
  expect(await other.run('return servers["prog" + "rams"]["rep" + "ort"]()')).toContain("No saved program is called");
  expect(await other.run("return rec.report()")).not.toContain("programs.report");
  expect(await other.search("weekly report")).not.toContain("programs.report");
  await done(["programs", "share", "report", "--yes"]);
  expect(await other.run("return programs.report()")).toContain("operator's agent");
  expect(await operator.save("report", returning("changed by an agent"))).toContain("an agent cannot replace it");
  expect(await other.run("return programs.report()")).toContain("lines of the operator's agent");
  expect(await other.search("weekly report")).toContain("programs.report");
});

test("a program is shared as an administrator has seen it, and a change of its owner is not", async () => {
  const [annToken, bobToken] = [await token(), await token()];
  const [anns, bobs] = [await agent(annToken.token), await agent(bobToken.token)];
  await anns.save("report", returning("as it was shared"));
  const refused = await shell(["programs", "share", "report", "--of", annToken.id]);
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("must be reviewed")]);
  expect((await shell(["programs", "share", "report", "--of", bobToken.id, "--yes"])).stderr).toContain(
    "has saved no program",
  );
  await done(["programs", "share", "report", "--of", annToken.id, "--yes"]);
  expect(await bobs.run("return programs.report()")).toContain("as it was shared");
  await anns.save("report", returning("changed later"));
  expect(await anns.run("return programs.report()")).toContain("changed later");
  expect(await bobs.run("return programs.report()")).toContain("as it was shared");
  expect((await done(["programs", "show", "report"])).sharedOf).toBe(annToken.id);
});

test("the audit log has each save, replacement and sharing before it counts", async () => {
  const { token: annToken, id } = await token();
  const anns = await agent(annToken);
  await anns.save("report", returning("one"));
  await anns.save("report", returning("two"));
  await done(["programs", "share", "report", "--of", id, "--yes"]);
  await done(["programs", "schedule", "report", "--cron", "0 8 * * *"]);
  await done(["programs", "unschedule", "report"]);
  await done(["programs", "remove", "report"]);
  const lines = auditLines(env).filter(({ tool, server }) => server === "programs" && tool === "report");
  expect(lines.map(({ decision, token, by }) => [decision, token?.id, by.place])).toEqual([
    ["saved", id, "agent"],
    ["replaced", id, "agent"],
    ["shared", undefined, "command"],
    ["scheduled", undefined, "command"],
    ["unscheduled", undefined, "command"],
    ["removed", undefined, "command"],
  ]);
  expect(lines[1]!.why).toMatch(/^SHA-256 [\da-f]{64} \(before: [\da-f]{64}\); its code is another$/);
});

describe("data that a session has read", () => {
  const readBoth = "await rec.get_key({}); await rec.get_issue({}); ";
  const showBoth = "return [await rec.get_key({}), await rec.get_issue({})]";
  const postIt = 'return rec.post({ text: "the-secret-of-ann" })';

  test("goes with a program whose text repeats it into the session that runs it", async () => {
    const { token: own } = await token();
    const [writer, runner] = [await agent(own, "writer"), await agent(own, "runner")];
    await writer.run(showBoth);
    await writer.save("send", 'return "the-secret-of-ann";');
    expect(await runner.run('return rec.post({ text: "before" })')).not.toContain("an agent cannot replace it");
    await runner.run("return programs.send()");
    expect(await runner.run(postIt)).toMatch(/waits until a person approves|POLICY_DENIED/);
  });

  test("neither a description nor an example of an input tells it to a session that only searches", async () => {
    const { token: own } = await token();
    const [writer, reader] = [await agent(own, "writer"), await agent(own, "reader")];
    await writer.run(showBoth);
    await writer.save(
      "note",
      'return "x" + "the-secret-of-ann";',
      ', input: { who: "the-secret-of-ann" }, description: "note the-secret-of-ann"',
    );
    const answers = [
      await reader.search("note"),
      await reader.run(
        'return [await tools.describe("programs.note"), await tools.search("note"), await tools.list("programs")]',
      ),
    ];
    expect(answers.join("\n")).toContain("programs.note");
    expect(answers.join("\n")).not.toContain("the-secret-of-ann");
  });

  test("goes with the values of a run into the session that asks for them", async () => {
    const { token: own } = await token();
    const [writer, reader] = [await agent(own, "writer"), await agent(own, "reader")];
    await writer.save("fetch-both", `${readBoth}return rec.get_key({})`);
    const background = {
      name: "execute_code",
      arguments: { code: "await sleep(300); return programs.fetch_both()", background: true },
    };
    await resultText(await writer.session.post({ jsonrpc: "2.0", id: 5, method: "tools/call", params: background }));
    const fresh = await agent(own, "fresh");
    await eventually(async () =>
      (await fresh.run('return programs.runs({ name: "fetch-both" })')).includes("the-secret-of-ann"),
    );
    expect(await reader.run('return rec.post({ text: "not asked yet" })')).not.toMatch(/waits until|POLICY_DENIED/);
    expect(await fresh.run(postIt)).toMatch(/waits until a person approves|POLICY_DENIED/);
  });

  test("goes with a function of the workspace into the session that imports it", async () => {
    const { token: own } = await token();
    const [writer, reader] = [await agent(own, "writer"), await agent(own, "reader")];
    await writer.run(showBoth);
    await writer.run(
      `await fs.mkdir("./workspace/skills", { recursive: true }); await fs.writeFile("./workspace/skills/key.ts", 'export const key = () => "the-secret-of-ann";'); return 1`,
    );
    expect(await reader.run('import { key } from "./skills/key"; return key()')).toContain("the-secret-of-ann");
    expect(await reader.run(postIt)).toMatch(/waits until a person approves|POLICY_DENIED/);
  });

  test("does not become the type of a result: keys of private data are in no file and no other session", async () => {
    const { token: own } = await token();
    const [writer, reader] = [await agent(own, "writer"), await agent(own, "reader")];
    expect(await writer.run("return [await rec.private_map({}), await rec.plain_map({})]")).toContain("zebra");
    await writer.save("map", "return { okapi: 1, numbat: (await rec.private_map({})).zebra };");
    await writer.run("return programs.map()");
    const answer = await reader.run(
      'return [await tools.describe("rec.private_map"), await tools.describe("rec.plain_map"), await tools.describe("programs.map")]',
    );
    expect(answer).toContain("currency");
    expect(answer).not.toMatch(/zebra|okapi|numbat/);
    const registry = join(folder.path, ".claudikins/registry");
    await eventually(() => existsSync(join(registry, "observed.json")));
    const files = readdirSync(registry, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join("\n");
    expect(texts).toContain("currency");
    expect(texts).not.toMatch(/zebra|okapi|numbat/);
  });
});
