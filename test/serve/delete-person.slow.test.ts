/** The data of a person is deleted: in the store, in either of its forms, and on the disk. Only the audit log knows the person afterwards. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { storeFile } from "../../src/config/locations.ts";
import { personId } from "../../src/policy/people/claims.ts";
import { openStore } from "../../src/store/open.ts";
import { cli } from "../cli/in-memory.ts";
import { eventually } from "../support/eventually.ts";
import { httpServe, json, rawSession, resultText, sdkHost } from "../support/http-serve.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(90_000);

const audience = "https://tools.example.com";
let provider: OidcFixture;
let server: PostgresFixture | undefined;

beforeAll(async () => {
  provider = await oidcFixture({
    ann: { groups: ["qa-team"], email: "ann@example.com" },
    bob: { groups: ["qa-team"], email: "bob@example.com" },
  });
  if (postgresNote === "") server = await postgresFixture();
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** All rows of a store, by their tables. */
async function rowsOf(env: Record<string, string>): Promise<[table: string, rows: string][]> {
  const url = env["CLAUDIKINS_DATABASE"];
  if (url !== undefined) {
    const tables = await server!.run(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'claudikins'");
    const read = async ({ tablename }: Record<string, unknown>): Promise<[string, string]> => {
      const rows = await server!.run(url, `SELECT row_to_json(t)::text AS row FROM claudikins.${tablename} AS t`);
      return [String(tablename), JSON.stringify(rows)];
    };
    return Promise.all(tables.map(read));
  }
  using database = new Database(storeFile(env), { readonly: true });
  const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  return tables.map(({ name }) => [name, JSON.stringify(database.query(`SELECT * FROM ${name}`).all())]);
}

/** The paths and files below a folder that have one of the words. */
function filesWith(words: readonly string[], folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => {
      const path = join(folder, name);
      const text = statSync(path).isFile() ? readFileSync(path, "latin1") : "";
      return words.some((word) => name.includes(word) || text.includes(word));
    });
}

const stores = [
  ["a file", ""],
  [`a Postgres${postgresNote}`, postgresNote],
] as const;

describe.each(stores)("with the store in %s", (kind, note) => {
  test.skipIf(note !== "")("nothing of the person is left, and the other person keeps everything", async () => {
    using folder = temporaryFolder();
    const url = kind === "a file" ? undefined : await server!.database();
    const database = url === undefined ? {} : { CLAUDIKINS_DATABASE: url };
    const env = { XDG_DATA_HOME: join(folder.path, "data"), ...database };
    const config = folder.write("claudikins.json", {
      mcpServers: { newer: fixture("modern", "reject", folder.path) },
      doors: { qa: { servers: ["newer"] } },
      policy: { confirm: { "newer.echo": "always" } },
      auth: { oidc: { issuer: provider.issuer, audience, doors: { qa: ["qa-team"], mcp: ["qa-team"] } } },
    });
    await using serve = await httpServe(folder, [], {
      token: "kept",
      env: { ...env, CLAUDIKINS_DAEMON: "off" },
    });
    const at = (path: string) => new URL(path, serve.url).href;
    const works = async (subject: string) => {
      const headers = { authorization: `Bearer ${await provider.token(subject)}` };
      const write = `import fs from "node:fs/promises"; await fs.writeFile("./workspace/${subject}.txt", "${subject}'s notes"); return 1`;
      for (const path of ["/qa", "/mcp"]) {
        await using host = await sdkHost(at(path), {}, { headers });
        expect(await host.execute(write)).toBe("1");
      }
      const session = await rawSession(at("/qa"), "2025-11-25", {}, "agent", headers);
      for (const code of [`return await newer.echo({ value: "a question of ${subject}" })`, `return "${subject}"`]) {
        const call = { name: "execute_code", arguments: { code, background: true, timeout_ms: 80_000 } };
        await resultText(await session.post({ jsonrpc: "2.0", id: code, method: "tools/call", params: call }));
      }
    };
    await works("ann");
    await works("bob");
    const waiting = async () => {
      await using store = openStore(env);
      return (await store.approvals.list({ state: "open" })).map(({ personName }) => personName);
    };
    await eventually(async () => Bun.deepEquals((await waiting()).sort(), ["ann@example.com", "bob@example.com"]));
    const [ann, bob] = [personId(provider.issuer, "ann"), personId(provider.issuer, "bob")];
    const workspaces = [
      join(".claudikins", "doors", "qa", "workspace-people"),
      join(".claudikins", "workspace-people"),
    ];
    for (const each of workspaces) expect(readdirSync(join(folder.path, each)).sort()).toEqual([ann, bob].sort());
    if (url !== undefined) {
      // A replica has died with sessions of both.
      const dead = `INSERT INTO claudikins.sessions (id, replica, place, owner, client, parameters, kept, expires_at)
        SELECT 'dead ' || id, 'dead', place, owner, client, parameters, kept, expires_at FROM claudikins.sessions`;
      await server!.run(url, dead);
    }
    const before = Object.fromEntries(await rowsOf(env));

    const run = (...argv: string[]) => cli(["people", "delete", ...argv], { cwd: folder.path, env });
    expect(await run("ann@example.com", "--yes")).toMatchObject({ exitCode: 2, stdout: "" });
    expect(Object.fromEntries(await rowsOf(env))["people"]).toBe(before["people"]!);
    const { exitCode, stdout, stderr } = await run("ann@example.com", "--revoke", "--yes", "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      deleted: [
        {
          person: { id: ann, name: "ann@example.com" },
          executions: 2,
          approvals: 1,
          records: 4,
          calls: expect.any(Number),
          files: url === undefined ? 0 : 2,
          folders: workspaces.map((each) => join(folder.path, each, ann)),
        },
      ],
    });

    const words = [ann, "ann@example.com", "ann's", "question of ann", '"ann"'];
    const rows = await rowsOf(env);
    const tables = rows.filter(([, text]) => words.some((word) => text.includes(word))).map(([table]) => table);
    // Other replicas learn from the id that they have copies to remove.
    expect(tables.sort()).toEqual(["audit", "people", ...(url === undefined ? [] : ["workspaces"])]);
    const people = JSON.parse(Object.fromEntries(rows)["people"]!) as object[];
    expect(JSON.stringify(people)).not.toContain("ann@example.com");
    await using store = openStore(env);
    expect(await store.people.list(config)).toMatchObject([
      { id: bob, name: "bob@example.com", revokedAt: null },
      { id: ann, issuer: "", subject: "", name: ann, email: null, doors: [], revokedAt: expect.any(Number) },
    ]);
    expect(filesWith(words, join(folder.path, ".claudikins"))).toEqual([]);
    // The other person has lost nothing.
    if (url !== undefined) expect(Object.fromEntries(rows)["sessions"]).toContain(`person:${bob}`);
    for (const each of workspaces) expect(existsSync(join(folder.path, each, bob, "bob.txt"))).toBe(true);
    expect(await waiting()).toEqual(["bob@example.com"]);
    expect((await store.executions.startedBy(`person:${bob} `, "all")).length).toBe(2);
    expect((await store.records.summaries()).length).toBeGreaterThan(0);

    // The person is still refused, and may come back as a new one once restored.
    const knock = async () => {
      const headers = { ...json, authorization: `Bearer ${await provider.token("ann")}` };
      const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
      return (await fetch(at("/qa"), { method: "POST", headers, body: ping })).status;
    };
    expect(await knock()).toBe(403);
    expect((await cli(["people", "restore", ann], { cwd: folder.path, env })).exitCode).toBe(0);
    await works("ann");
    await eventually(async () => (await store.people.list(config)).some(({ subject }) => subject === "ann"));
    serve.signal("SIGTERM");
    expect(await serve.exited).toBe(0);
  });
});
