/** Workspaces of people whose programs run at several replicas, each with a data folder of its own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { personId } from "../../../src/policy/people/claims.ts";
import { cli } from "../../cli/in-memory.ts";
import { eventually } from "../../support/eventually.ts";
import { type HttpServe, httpServe, rawSession, resultText, sdkHost } from "../../support/http-serve.ts";
import { type OidcFixture, oidcFixture } from "../../support/oidc.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { killReplica } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();
const audience = "https://tools.example.com";

describe.skipIf(postgresNote !== "")(`the workspaces of replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  let provider: OidcFixture;
  beforeAll(async () => {
    server = await postgresFixture();
    provider = await oidcFixture({ ann: { groups: ["qa-team"] }, bob: { groups: ["qa-team"] } });
  });
  afterAll(async () => {
    await provider[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const variables = (name: string, database: string) => ({
    XDG_DATA_HOME: join(folder.path, name),
    XDG_CONFIG_HOME: join(folder.path, "config"),
    CLAUDIKINS_DATABASE: database,
  });

  /** The user's config, whose workspaces are in the data folder of each replica. */
  const configure = (more: object = {}) =>
    folder.write("config/claudikins/claudikins.json", {
      mcpServers: { counting: fixture("counting", join(folder.path, "counts")) },
      ...more,
    });

  const replica = (name: string, database: string, token?: "kept"): Promise<HttpServe> =>
    httpServe(folder, [], { env: variables(name, database), ...(token ? { token } : {}) });

  /** The paths of all files below the data folder of a replica. */
  const filesOf = (name: string) =>
    readdirSync(join(folder.path, name), { recursive: true, encoding: "utf8" }).filter((each) => each.endsWith(".txt"));

  test("a person finds at one replica what was written at another one, others do not, and all of it is deleted with the person", async () => {
    const config = configure({ auth: { oidc: { issuer: provider.issuer, audience, doors: { mcp: ["qa-team"] } } } });
    const database = await server.database();
    await using first = await replica("first", database, "kept");
    await using second = await replica("second", database, "kept");
    const as = async (subject: string, { url }: HttpServe, code: string) => {
      const headers = { authorization: `Bearer ${await provider.token(subject)}` };
      await using host = await sdkHost(new URL("/mcp", url).href, {}, { headers });
      return await host.execute(`import fs from "node:fs/promises"; ${code}`);
    };
    const list = `return await fs.readdir("./workspace")`;
    await as("ann", first, `await fs.writeFile("./workspace/notes.txt", "of ann")`);
    expect(await as("ann", second, `return await fs.readFile("./workspace/notes.txt", "utf8")`)).toBe("of ann");
    expect(await as("bob", second, list)).toBe("[]");
    await as("bob", first, `await fs.writeFile("./workspace/bob.txt", "of bob")`);
    await as(
      "ann",
      second,
      `await fs.unlink("./workspace/notes.txt"); await fs.writeFile("./workspace/more.txt", "more")`,
    );
    expect(await as("ann", first, list)).toBe('["more.txt"]');
    const odd = await as("bob", first, `await fs.writeFile("./workspace/aux.txt", ""); return "done"`);
    expect(odd).toContain(
      "./workspace/aux.txt is on this replica alone: Windows has a device or a drive with this name",
    );
    // A long answer is a file too.
    const long = await as("ann", first, `return "a long text ".repeat(20_000)`);
    const [path] = /\.\/workspace\/outputs\/\w+\.txt/.exec(long) ?? [];
    expect(await as("ann", second, `return (await fs.readFile(${JSON.stringify(path)}, "utf8")).length`)).toBe(
      "240000",
    );
    const ann = personId(provider.issuer, "ann");
    const here = (name: string) => filesOf(name).filter((file) => file.includes(ann)).length;
    expect([here("first"), here("second")]).toEqual([2, 2]);
    const { exitCode, stdout } = await cli(["people", "delete", "ann", "--revoke", "--yes", "--json"], {
      cwd: folder.path,
      env: variables("first", database),
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ deleted: [{ files: 2 }] });
    const left = await server.run(database, "SELECT path FROM claudikins.files WHERE kind = 'file'");
    expect(left).toEqual([{ path: "bob.txt" }]);
    expect(here("first")).toBe(0);
    // A replica removes its copy when it looks, now at its start.
    await using _again = await replica("second", database, "kept");
    await eventually(() => here("second") === 0);
    expect(existsSync(config)).toBe(true);
  });

  test("a program that continues at another replica after kill -9 has the files that it wrote before its call", async () => {
    configure();
    const database = await server.database();
    await using first = await replica("one", database);
    await using second = await replica("two", database);
    const until = join(folder.path, "go");
    const session = await rawSession(first.url, "2025-11-25", {}, "agent");
    const code = `
      await fs.writeFile("./workspace/before.txt", "before the call");
      await counting.read_wait({ name: "call", until: ${JSON.stringify(until)} });
      return [await fs.readFile("./workspace/before.txt", "utf8"), await fs.readdir("./workspace")];`;
    const params = { name: "execute_code", arguments: { code, background: true, timeout_ms: 100_000 } };
    const begun = await resultText(await session.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    const id = /\{"resume": "(\w+)"\}/.exec(begun)![1]!;
    await eventually(
      async () => (await server.run(database, "SELECT 1 FROM claudikins.calls WHERE state = 'sent'")).length,
    );
    await killReplica(first, server, database);
    await Bun.write(until, "");
    const agent = await rawSession(second.url, "2025-11-25", {}, "agent");
    const resumed = await eventually(
      async () => {
        const call = { name: "execute_code", arguments: { resume: id } };
        const text = await resultText(await agent.post({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call }));
        return text.startsWith("[") ? text : undefined;
      },
      { everyMs: 500 },
    );
    expect(resumed).toBe('["before the call", ["before.txt"]]');
    expect(filesOf("two").map((each) => each.split("/").at(-1))).toContain("before.txt");
  });
});
