/** Programs that wait, and files of people, whose contents are in a bucket that the replicas share. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { sha256 } from "../../../src/base/sha256.ts";
import { cli } from "../../cli/in-memory.ts";
import { type BucketFixture, bucketFixture } from "../../support/bucket.ts";
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

/** Time for the program that waits for the bucket. */
const limitMs = 12_000;

/** Text that no compression makes smaller, and whose digest the program returns. */
const made = `
  let seed = 7;
  let text = "";
  while (text.length < 400_000) {
    seed = (Math.imul(seed ^ (seed >>> 15), 2_246_822_519) + 3_266_489_917) | 0;
    text += (seed >>> 0).toString(36);
  }`;

/** What the program below returns. */
function digestOfMade(): string {
  return sha256(new Function(`${made} return text;`)() as string);
}

describe.skipIf(postgresNote !== "")(`replicas with a bucket${postgresNote}`, () => {
  let server: PostgresFixture;
  let provider: OidcFixture;
  let bucket: BucketFixture;
  let database: string;
  beforeAll(async () => {
    server = await postgresFixture();
    provider = await oidcFixture({ ann: { groups: ["qa-team"] } });
  });
  afterAll(async () => {
    await provider[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    bucket = await bucketFixture();
    database = await server.database();
  });
  afterEach(() => bucket[Symbol.asyncDispose]());

  const variables = (name: string) => ({
    XDG_DATA_HOME: join(folder.path, name),
    XDG_CONFIG_HOME: join(folder.path, "config"),
    CLAUDIKINS_DATABASE: database,
    CLAUDIKINS_BUCKET: bucket.address,
    CLAUDIKINS_LOG: "debug",
  });

  const configure = (more: object = {}) =>
    folder.write("config/claudikins/claudikins.json", {
      mcpServers: { counting: fixture("counting", join(folder.path, "counts")) },
      ...more,
    });

  const replica = (name: string, env: Record<string, string | undefined> = {}): Promise<HttpServe> =>
    httpServe(folder, [], { env: { ...variables(name), ...env } as Record<string, string> });

  const count = async (statement: string) => Number(Object.values((await server.run(database, statement))[0]!)[0]);
  const objectPages = () => count("SELECT count(*) FROM claudikins.object_pages");

  /** Begins a program that has much in memory and waits for a call. Returns its id once it is in the bucket. */
  async function began({ url }: HttpServe, until: string): Promise<string> {
    const session = await rawSession(url, "2025-11-25", {}, "agent");
    const code = `${made}
      await counting.read_wait({ name: "call", until: ${JSON.stringify(until)} });
      const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
      return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");`;
    const params = { name: "execute_code", arguments: { code, background: true, timeout_ms: limitMs } };
    const begun = await resultText(await session.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    await eventually(async () => (await objectPages()) > 0);
    return /\{"resume": "(\w+)"\}/.exec(begun)![1]!;
  }

  async function resumed(id: string, { url }: HttpServe): Promise<string> {
    const agent = await rawSession(url, "2025-11-25", {}, "agent");
    return await eventually(
      async () => {
        const call = { name: "execute_code", arguments: { resume: id } };
        const text = await resultText(await agent.post({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call }));
        return /^[0-9a-f]{64}$/.test(text) ? text : undefined;
      },
      { everyMs: 500, withinMs: 60_000 },
    );
  }

  test("continue a program from the bucket after kill -9, and wait for the bucket while it is away", async () => {
    configure();
    await using first = await replica("one");
    const until = join(folder.path, "go-one");
    const id = await began(first, until);
    const names = await bucket.names();
    expect(names.length).toBeGreaterThan(0);
    expect(names.every((name) => name.startsWith("images/"))).toBe(true);
    const inDatabase = await count("SELECT sum(length(bytes)) FROM claudikins.pages WHERE page < 16777216");
    expect(inDatabase).toBeLessThan(100_000);
    // The bytes in the bucket count too.
    const stored = await count("SELECT sum(bytes) FROM claudikins.stored_bytes");
    expect(stored).toBeGreaterThan(await count("SELECT sum(size) FROM claudikins.object_pages"));
    await killReplica(first, server, database);
    await bucket.stop();
    await Bun.write(until, "");
    await using second = await replica("two");
    await eventually(() => second.stderr().includes(`The execution ${id} waits: The bucket cannot be reached`), {
      withinMs: 60_000,
    });
    expect(second.stderr()).not.toContain("S3RVER");
    // Longer than the program may run.
    await Bun.sleep(limitMs + 2_000);
    await bucket.start();
    expect(await resumed(id, second)).toBe(digestOfMade());
    // Nothing of it stays in the bucket.
    await eventually(async () => (await bucket.names()).length === 0);
    expect([await objectPages(), await count("SELECT count(*) FROM claudikins.objects")]).toEqual([0, 0]);
  });

  test("leave a program in the bucket to a replica that has the bucket", async () => {
    configure();
    await using first = await replica("three");
    const until = join(folder.path, "go-three");
    const id = await began(first, until);
    await killReplica(first, server, database);
    await Bun.write(until, "");
    await using without = await replica("four", { CLAUDIKINS_BUCKET: "" });
    await eventually(
      async () => (await count("SELECT count(*) FROM claudikins.owners WHERE expires_at > now()")) === 1,
    );
    const agent = await rawSession(without.url, "2025-11-25", {}, "agent");
    const call = { name: "execute_code", arguments: { resume: id } };
    const told = await eventually(
      async () => {
        const text = await resultText(await agent.post({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call }));
        return text.includes("CLAUDIKINS_BUCKET") ? text : undefined;
      },
      { everyMs: 500, withinMs: 40_000 },
    );
    expect(told).toContain("CLAUDIKINS_BUCKET is not set here");
    await using second = await replica("five");
    expect(await resumed(id, second)).toBe(digestOfMade());
  });

  test("save programs in the database while the bucket is away", async () => {
    configure();
    await bucket.stop();
    await using first = await replica("six");
    const until = join(folder.path, "go-six");
    const session = await rawSession(first.url, "2025-11-25", {}, "agent");
    const code = `${made} await counting.read_wait({ name: "call", until: ${JSON.stringify(until)} }); return text.length;`;
    const params = { name: "execute_code", arguments: { code, background: true, timeout_ms: 100_000 } };
    await session.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    await eventually(
      async () => (await count("SELECT coalesce(sum(length(bytes)), 0) FROM claudikins.pages")) > 200_000,
      { withinMs: 30_000 },
    );
    expect(await objectPages()).toBe(0);
    expect(first.stderr()).toContain("Programs are saved in the database: The bucket cannot be reached");
    await Bun.write(until, "");
  });

  test("delete the files of a person from the bucket", async () => {
    configure({ auth: { oidc: { issuer: provider.issuer, audience, doors: { mcp: ["qa-team"] } } } });
    await using first = await httpServe(folder, [], { env: variables("seven"), token: "kept" });
    const headers = { authorization: `Bearer ${await provider.token("ann")}` };
    await using host = await sdkHost(new URL("/mcp", first.url).href, {}, { headers });
    await host.execute(`import fs from "node:fs/promises"; await fs.writeFile("./workspace/notes.txt", "of ann")`);
    expect(await bucket.names()).toHaveLength(1);
    const { exitCode, stdout } = await cli(["people", "delete", "ann", "--revoke", "--yes", "--json"], {
      cwd: folder.path,
      env: variables("seven"),
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ deleted: [{ files: 1 }] });
    expect(await bucket.names()).toEqual([]);
  });
});
