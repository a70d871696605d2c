/** An older version that meets the data of a newer one says so in one way, and changes nothing. */

import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../../src/base/version.ts";
import { unreadableStores } from "../../../src/cli/doctor/unreadable-stores.ts";
import { readTrust, revokeTrust } from "../../../src/config/trust/store.ts";
import { issueToken } from "../../../src/serve/tokens/manage.ts";
import { readTokens } from "../../../src/serve/tokens/token-file.ts";
import { CredentialStore } from "../../../src/servers/auth/credentials.ts";
import { Journal } from "../../../src/setup/agents/journal.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { observedFileName, readObserved, writeObserved } from "../../../src/tools/observed/store.ts";
import { readIndex, refuseNewer, updateIndex } from "../../../src/tools/registry/store.ts";
import { cli } from "../../cli/in-memory.ts";
import { serverOf } from "../../servers/auth-harness.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

let folder: TemporaryFolder;
let data: string;
const env = () => ({ HOME: folder.path });
beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder.path, ".local", "share", "claudikins");
  mkdirSync(data, { recursive: true });
});

const tooOld = (what: string) =>
  expect.objectContaining({
    code: "VERSION_TOO_OLD",
    exitCode: 2,
    message: `claudikins ${version} is too old for ${what}, which a newer version has written`,
    hint: "Nothing was changed. To upgrade: claudikins upgrade",
  });

const newer = (more: object) => JSON.stringify({ version: 2, ...more, future: ["kept"] });

/** Runs the work, expects the error, and that the file is as it was. */
async function refuses(path: string, what: string, ...works: (() => unknown)[]): Promise<void> {
  const before = readFileSync(path);
  const names = readdirSync(join(path, "..")).sort();
  for (const work of works) {
    const result = Promise.resolve().then(work);
    await expect(result).rejects.toThrow(tooOld(what) as never);
  }
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(
    readdirSync(join(path, ".."))
      .filter((name) => !/lock/.test(name))
      .sort(),
  ).toEqual(names);
}

const file = (name: string, text: string) => {
  const path = join(data, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};

describe("an older version neither uses nor replaces", () => {
  test("the database", async () => {
    const path = join(data, "executions.sqlite");
    (await openDatabase(path)).close();
    const database = new Database(path);
    database.run("PRAGMA journal_mode = DELETE");
    database.run("CREATE TABLE future (x)");
    database.run("PRAGMA user_version = 99");
    database.close();
    await expect(openDatabase(path)).rejects.toThrow(tooOld("the database") as never);
    const after = new Database(path);
    expect(after.query("PRAGMA user_version").get()).toEqual({ user_version: 99 });
    expect(after.query("SELECT * FROM future").all()).toEqual([]);
    after.close();
    expect(await unreadableStores(env())).toEqual(["the database"]);
  });

  test("the registry", async () => {
    const registry = join(data, "registry");
    const path = file("registry/index.json", newer({ servers: [] }));
    await refuses(
      path,
      "the registry",
      () => readIndex(registry),
      () => refuseNewer(registry),
      () => updateIndex(registry, ["a"], []),
    );
  });

  test("the observed shapes, which are learned again", () => {
    const path = file(`registry/${observedFileName}`, newer({ servers: [] }));
    const before = readFileSync(path, "utf8");
    const registry = join(data, "registry");
    expect(readObserved(registry).size).toBe(0);
    writeObserved(registry, new Map());
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("the sign-ins", async () => {
    const path = file("credentials.json", newer({ servers: {} }));
    const far = serverOf("far", { url: "https://far.example/mcp" });
    const store = new CredentialStore(path);
    await refuses(
      path,
      "the sign-ins",
      () => store.read(far),
      () => store.update(far, () => undefined),
    );
    expect(await unreadableStores(env())).toEqual(["the sign-ins"]);
  });

  test("the trusted configs", async () => {
    const path = file("trust.json", newer({ configs: {} }));
    await refuses(
      path,
      "the list of trusted configs",
      () => readTrust(env()),
      () => revokeTrust(["/x/claudikins.json"], env()),
    );
  });

  test("the tokens of serve --http", async () => {
    const path = file("tokens.json", newer({ tokens: [] }));
    await refuses(
      path,
      "the tokens of serve --http",
      () => readTokens(env()),
      () => issueToken({ config: null }, env()),
    );
    expect(await unreadableStores(env())).toEqual(["the tokens of serve --http"]);
  });

  test("the list of files that init has changed", async () => {
    const path = file("hosts/changes.json", newer({ changes: [] }));
    await refuses(path, "the list of changed files", () => new Journal(env()).changes);
  });
});

test("a command fails with one sentence, one code and the way to upgrade", async () => {
  const path = file("trust.json", newer({ configs: {} }));
  folder.write("claudikins.json", { mcpServers: { one: { command: "one" } } });
  const { exitCode, stdout, stderr } = await cli(["list", "--json"], { cwd: folder.path, env: { CI: "" } });
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(JSON.parse(stderr).error).toEqual({
    code: "VERSION_TOO_OLD",
    message: `claudikins ${version} is too old for the list of trusted configs, which a newer version has written`,
    hint: "Nothing was changed. To upgrade: claudikins upgrade",
  });
  expect(readFileSync(path, "utf8")).toContain("future");
});

test("doctor names the data that are newer", async () => {
  file("credentials.json", newer({ servers: {} }));
  const { stdout } = await cli(["doctor", "--no-servers", "--json"], { cwd: folder.path });
  expect(JSON.parse(stdout).findings).toContainEqual(
    expect.objectContaining({
      id: "executable.data",
      state: "problem",
      code: "VERSION_TOO_OLD",
      message: `claudikins ${version} is too old for the sign-ins, which a newer version has written`,
    }),
  );
});

test("data of this version, and no data, can be read", async () => {
  expect(await unreadableStores(env())).toEqual([]);
  expect(readdirSync(data)).toEqual([]);
  (await openDatabase(join(data, "executions.sqlite"))).close();
  expect(await unreadableStores(env())).toEqual([]);
});
