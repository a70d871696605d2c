/** People who were not seen for as long as the config says are deleted, by one of the processes that share a store. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import { Seal } from "../../src/base/seal.ts";
import { documentsOf } from "../../src/config/documents.ts";
import type { NetworkServer } from "../../src/config/load.ts";
import { personCredentialsFile } from "../../src/config/locations.ts";
import { type OidcEntry, oidcOf } from "../../src/config/oidc.ts";
import { keepPeople } from "../../src/serve/people/keep-people.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { serversOfPeople } from "../../src/servers/auth/person-files.ts";
import { sealingKeysOf } from "../../src/servers/auth/seal.ts";
import { openStore, readDocuments } from "../../src/store/open.ts";
import type { StoredPerson } from "../../src/store/people.ts";
import { eventually } from "../support/eventually.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let server: PostgresFixture | undefined;
beforeAll(async () => {
  if (postgresNote === "") server = await postgresFixture();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const stores = [
  ["a file", ""],
  [`a Postgres${postgresNote}`, postgresNote],
] as const;
const dayMs = 86_400_000;
const entry: OidcEntry = {
  issuer: "https://id",
  audience: ["tools"],
  scopes: [],
  groups: "groups",
  clockSkewSeconds: 0,
  doors: {},
  approvers: [],
  administrators: [],
};

describe.each(stores)("with the store in %s", (kind, note) => {
  test.skipIf(note !== "")("people who were here lately stay, and everybody stays without the setting", async () => {
    using folder = temporaryFolder();
    const url = kind === "a file" ? undefined : await server!.database();
    const env: Record<string, string> = { XDG_DATA_HOME: join(folder.path, "data") };
    if (url !== undefined) env["CLAUDIKINS_DATABASE"] = url;
    const config = "/shop/claudikins.json";
    const workspace = join(folder.path, "workspace");
    await using store = openStore(env);
    await using _documents = { [Symbol.asyncDispose]: url === undefined ? async () => {} : await readDocuments(env) };
    const documents = documentsOf(env);
    const owner = {
      name: "somebody",
      seal: new Seal(sealingKeysOf({ keys: ["0".repeat(64)], file: undefined, needs: [] }), "somebody"),
      tokenOf: () => undefined,
      pageFor: () => undefined,
    };
    const wiki = { name: "wiki", url: "https://wiki.example.com/mcp" } as NetworkServer;
    const ownCredentials = (person: string) =>
      new CredentialStore(personCredentialsFile({ config, person }, env), undefined, { owner, documents });
    const seen = async (id: string, days: number) => {
      const about: StoredPerson = {
        config,
        id,
        issuer: "https://id",
        subject: id,
        name: id,
        email: null,
        doors: [],
        firstAt: 0,
        lastAt: Date.now() - days * dayMs,
        revokedAt: null,
      };
      folder.write(join("workspace-people", id, "notes.txt"), id);
      await ownCredentials(id).update(wiki, () => ({ server: "wiki" }));
      await store.people.seen(about);
    };
    for (const [id, days] of [
      ["ann", 100],
      ["bob", 89],
      ["eve", 91],
    ] as const)
      await seen(id, days);
    await store.people.setRevoked([{ config, id: "eve" }], 5);
    const lines: string[] = [];
    const log = { ...silentLog, info: (line: string) => lines.push(line) };
    const origin = { kind: "project", file: config } as const;
    const keep = (keepDays: number | undefined) => {
      const oidc = { ...oidcOf(entry, {}), keepDays };
      return keepPeople({ config: { origin, doors: [], oidc }, store, log }, async () => [workspace], env);
    };
    keep(undefined)[Symbol.dispose]();
    expect(await store.people.list(config)).toHaveLength(3);
    keep(90)[Symbol.dispose]();
    await eventually(async () => lines.length === 2);
    expect((await store.people.list(config)).map(({ name, revokedAt }) => [name, revokedAt])).toEqual([
      ["eve", 5],
      ["bob", null],
    ]);
    const has = (id: string) => existsSync(join(folder.path, "workspace-people", id));
    expect([has("ann"), has("bob"), has("eve")]).toEqual([false, true, false]);
    const people = ["ann", "bob", "eve"].map((id) => ({ config, id }));
    expect(await serversOfPeople(people, env)).toEqual([[], ["wiki"], []]);
    const decisions = (await Array.fromAsync(store.audit.lines())).map(({ line }) => JSON.parse(line));
    expect(decisions).toMatchObject([
      { decision: "deleted", person: { id: "ann", name: "ann" }, why: "not seen for 90 days" },
      { decision: "deleted", person: { id: "eve", name: "eve" } },
    ]);
  });
});

test.skipIf(postgresNote !== "")(
  `one of the replicas has the turn of an hour for each kind of work${postgresNote}`,
  async () => {
    const url = await server!.database();
    const replicas = Array.from({ length: 4 }, () => openStore({ CLAUDIKINS_DATABASE: url }));
    for (const kind of ["people", "executions"]) {
      const turns = await Promise.all(replicas.map((each) => each.mayTidy(kind)));
      expect(turns.filter((has) => has)).toHaveLength(1);
    }
    for (const each of replicas) await each[Symbol.asyncDispose]();
  },
);
