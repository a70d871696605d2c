/** What is left in the files of the store after a program has ended: nothing of its data. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { storeFile } from "../../../src/config/locations.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { StoreWriter } from "../../../src/store/sqlite/writer.ts";
import { eventually } from "../../support/eventually.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "../../tools/generation/project.ts";

setDefaultTimeout(120_000);

let folder: Project;
beforeEach(() => {
  folder = project();
  folder.configure({ counting: fixture("counting", join(folder.path, "counts")) });
});
afterEach(() => folder[Symbol.dispose]());

const file = () => storeFile({ PATH: process.env["PATH"], HOME: folder.path, CI: "true" });

function files(): string[] {
  const of = dirname(file());
  return existsSync(of) ? readdirSync(of).filter((name) => name.startsWith("executions.sqlite")) : [];
}

/** Whether any file of the store has the text. */
const has = (text: string) => files().some((name) => readFileSync(join(dirname(file()), name)).includes(text));
const size = () => files().reduce((sum, name) => sum + statSync(join(dirname(file()), name)).size, 0);

/** A page of bytes that zstd cannot make smaller, with a secret among them. */
const pageWith = (secret: string) => Buffer.concat([crypto.getRandomValues(Buffer.alloc(30_000)), Buffer.from(secret)]);

/** Writes a program of many pages, with a call that waits and one that has a large answer. */
async function stored(writer: StoreWriter, id: string, secret: string, pages = 300): Promise<void> {
  const common = { owner: "owner", config: null, startedAt: 1, request: JSON.stringify({ secret }), isWanted: true };
  await writer.do("begin", id, { owner: "owner" });
  for (let page = 0; page < pages; page++) {
    const bytes = new Uint8Array(pageWith(secret)).buffer;
    const batch = { pages: Float64Array.of(page), sizes: Float64Array.of(bytes.byteLength), bytes };
    await writer.do("pages", id, { ...batch, version: 1, roomBytes: 1e9 });
  }
  await writer.do("record", id, { record: 0, bytes: new Uint8Array(pageWith(secret)), roomBytes: 1e9 });
  for (const call of [1, 2]) {
    const message = { args: JSON.stringify({ secret }) };
    void writer.do("call", id, { call, isSent: true, repeatable: false, ...message });
  }
  const program = new Uint8Array(pageWith(secret));
  const image = { program, unsaved: undefined, wakeAt: undefined, engine: "engine", version: 1, pages: undefined };
  await writer.do("save", id, { ...common, ...image, open: [1, 2] });
  const answer = { type: "settle", json: JSON.stringify(`${secret}`.repeat(100_000)) };
  await writer.do("answered", id, { call: 2, roomBytes: 1e9, ...answer });
}

describe("after a program has ended", () => {
  test("no file of the store has what was in its memory, its arguments and its answers", async () => {
    const secret = `secret-${crypto.randomUUID()}`;
    await using app = await folder.open();
    const executions = await app.executions();
    // The engine keeps a long text as it is, and texts that do not repeat are hardly compressed.
    const source = `const data = ${JSON.stringify(secret)} + crypto.randomUUID();
      const more = Array.from({ length: 3_000 }, () => crypto.randomUUID());
      await counting.act({ name: data });
      await counting.act({ name: "second" });
      return more.length`;
    const { outcome } = executions.start({ source }, app, { isBackground: true });
    expect((await outcome).ok).toBe(true);
    // The source belongs to what is kept of the execution; the data that it made does not.
    const database = await openDatabase(file());
    database.run("UPDATE executions SET request = '{}'");
    database.close();
    await eventually(() => !has(secret));
  });

  test("its data is removed while the process still runs, and the files have shrunk", async () => {
    const writer = new StoreWriter(file());
    await stored(writer, "one", "SECRET-OF-ONE");
    await stored(writer, "two", "SECRET-OF-TWO", 3);
    expect([has("SECRET-OF-ONE"), has("SECRET-OF-TWO")]).toEqual([true, true]);
    const before = size();
    await writer.do("remove", "one", {});
    await eventually(() => !has("SECRET-OF-ONE"));
    await eventually(() => size() < before / 4);
    // Another program's data is still there.
    expect(has("SECRET-OF-TWO")).toBe(true);
    await writer.close();
  });

  test("only its outcome is left", async () => {
    const writer = new StoreWriter(file());
    await stored(writer, "one", "SECRET-OF-ONE");
    await writer.do("ended", "one", { outcome: '{"ok":true,"logs":["shown"]}', value: '"value"', isOk: true });
    await writer.close();
    const database = await openDatabase(file());
    expect(database.query("SELECT state, outcome FROM executions").all()).toEqual([
      { state: "ended", outcome: '{"ok":true,"logs":["shown"],"value":"value"}' },
    ]);
    database.run("UPDATE executions SET request = '{}'");
    database.close();
    expect(has("SECRET-OF-ONE")).toBe(false);
  });

  test("nothing of pages that were replaced is left", async () => {
    const writer = new StoreWriter(file());
    await stored(writer, "one", "SECRET-OF-OLD", 40);
    await writer.do("save", "one", {
      owner: "owner",
      program: undefined,
      unsaved: "it is too large",
      wakeAt: undefined,
      engine: "engine",
      open: [],
      version: 2,
      pages: undefined,
    });
    const database = await openDatabase(file());
    database.run("UPDATE executions SET request = '{}'");
    database.close();
    await eventually(() => !has("SECRET-OF-OLD"));
    await writer.close();
  });
});
