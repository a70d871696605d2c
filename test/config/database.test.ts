/** The address of a team's database in the environment. */
import { expect, test } from "bun:test";
import { databaseOf } from "../../src/config/database.ts";
import { temporaryFolder } from "../support/temporary.ts";

const address = "postgres://ada:a-secret@db.example.com/claudikins?sslmode=require";

test("the address is in a variable, or in a file that a variable names", () => {
  using folder = temporaryFolder();
  const file = folder.write("address", `${address}\n`);
  expect(databaseOf({ CLAUDIKINS_DATABASE: address })).toBe(address);
  expect(databaseOf({ CLAUDIKINS_DATABASE_FILE: file })).toBe(address);
  expect(databaseOf({})).toBeUndefined();
  expect(databaseOf({ CLAUDIKINS_DATABASE: "", CLAUDIKINS_DATABASE_FILE: "" })).toBeUndefined();
});

test("an unusable address is refused by an error that does not have it", () => {
  using folder = temporaryFolder();
  const cases: [Record<string, string>, string][] = [
    [{ CLAUDIKINS_DATABASE: "mysql://ada:a-secret@db/claudikins" }, "CONFIG_INVALID"],
    [{ CLAUDIKINS_DATABASE: "postgres://ada:a-secret@db" }, "CONFIG_INVALID"],
    [{ CLAUDIKINS_DATABASE: "postgres://ada:a-secret@db/%zz" }, "CONFIG_INVALID"],
    [{ CLAUDIKINS_DATABASE: "a-secret" }, "CONFIG_INVALID"],
    [{ CLAUDIKINS_DATABASE_FILE: folder.write("empty", "") }, "CONFIG_INVALID"],
    [{ CLAUDIKINS_DATABASE: address, CLAUDIKINS_DATABASE_FILE: folder.write("other", address) }, "CONFIG_INVALID"],
    [{ CLAUDIKINS_DATABASE_FILE: `${folder.path}/missing` }, "FILE_NOT_FOUND"],
  ];
  for (const [env, code] of cases) {
    const thrown = errorOf(() => databaseOf(env));
    expect(thrown).toMatchObject({ code });
    expect(Bun.inspect(thrown)).not.toContain("a-secret");
  }
});

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
