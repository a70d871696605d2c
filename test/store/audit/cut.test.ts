/** The oldest part of the audit log can be removed, in either store. The rest is a chain that says what is missing. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { storeFile } from "../../../src/config/locations.ts";
import { lineOf } from "../../../src/store/audit/chain.ts";
import type { AuditLine, Decider } from "../../../src/store/audit/event.ts";
import { cutAuditLog } from "../../../src/store/audit/record.ts";
import { verify } from "../../../src/store/audit/verify.ts";
import { openStore } from "../../../src/store/open.ts";
import { tamper } from "../../support/audit.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

const by: Decider = { place: "command", user: "ada", pid: 7, terminal: true };
let server: PostgresFixture | undefined;
beforeAll(async () => {
  if (postgresNote === "") server = await postgresFixture();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const stores = [
  ["a file", ""],
  [`a Postgres${postgresNote}`, postgresNote],
] as const;

describe.each(stores)("the log in %s", (kind, note) => {
  /** A log with entries at the times 1,000 to 5,000. `damage` runs a statement without the triggers. */
  async function withLog(
    work: (log: {
      env: Record<string, string>;
      lines: () => Promise<AuditLine[]>;
      verified: (wanted?: string) => ReturnType<typeof verify>;
      damage: (where: string) => Promise<unknown>;
    }) => Promise<void>,
  ): Promise<void> {
    using folder = temporaryFolder();
    const url = kind === "a file" ? undefined : await server!.database();
    const env: Record<string, string> = { XDG_DATA_HOME: join(folder.path, "data") };
    if (url !== undefined) env["CLAUDIKINS_DATABASE"] = url;
    await using store = openStore(env);
    for (const at of [1_000, 2_000, 3_000, 4_000, 5_000]) {
      await store.audit.add([{ decision: "denied", tool: `at ${at}` }], by, at);
    }
    await work({
      env,
      lines: async () => (await Array.fromAsync(store.audit.lines())).map(({ line }) => lineOf(line)!),
      verified: (wanted) => verify(store.audit, wanted),
      damage: async (where) =>
        url === undefined
          ? tamper(storeFile(env), `DELETE FROM audit WHERE ${where}`)
          : await server!.run(
              url,
              `ALTER TABLE claudikins.audit DISABLE TRIGGER ALL; DELETE FROM claudikins.audit WHERE ${where}`,
            ),
    });
  }

  test.skipIf(note !== "")("begins after a cut with the entry that follows it, and verify says who has cut it", () =>
    withLog(async ({ env, lines, verified }) => {
      const whole = await lines();
      const removed = whole[2]!.previous;
      expect(await cutAuditLog(env, 3_000)).toBe(2);
      const left = await lines();
      expect(left.map(({ entry, decision }) => [entry, decision])).toEqual([
        [3, "denied"],
        [4, "denied"],
        [5, "denied"],
        [6, "cut"],
      ]);
      expect(left[3]).toMatchObject({ cut: { entry: 2, sha256: removed }, by: { place: "command" } });
      const { problem, entries, notes, contains } = await verified(whole[4]!.previous);
      expect({ problem, entries, contains }).toEqual({ problem: undefined, entries: 6, contains: true });
      expect(notes).toEqual([
        expect.stringMatching(/^entry 6 records that .+ has removed the entries up to 2 on \d{4}-/),
      ]);
      // The last removed entry is known by its hash, those before it are not.
      expect((await verified(removed)).contains).toBe(true);
      expect((await verified(whole[1]!.previous)).contains).toBe(false);
    }),
  );

  test.skipIf(note !== "")("can be cut again, together with the entry of an earlier cut", () =>
    withLog(async ({ env, lines, verified }) => {
      expect(await cutAuditLog(env, 500)).toBe(0);
      expect(await lines()).toHaveLength(5);
      expect(await cutAuditLog(env, 2_000)).toBe(1);
      expect(await cutAuditLog(env, Date.now() + 60_000)).toBe(5);
      expect((await lines()).map(({ entry, cut }) => [entry, cut?.entry])).toEqual([[7, 6]]);
      await using store = openStore(env);
      await store.audit.add([{ decision: "trusted" }], by);
      expect(await verified()).toMatchObject({ entries: 8, notes: [expect.any(String)] });
      expect((await verified()).problem).toBeUndefined();
    }),
  );

  test.skipIf(note !== "")("does not hold if its beginning was removed in another way, before or after a cut", () =>
    withLog(async ({ env, verified, damage }) => {
      expect(await cutAuditLog(env, 2_000)).toBe(1);
      await damage("place = 2");
      expect((await verified()).problem).toBe("entry 1 is missing: entry 3 follows entry 0");
      // A further cut does not hide it.
      expect(await cutAuditLog(env, 4_000)).toBe(1);
      const { problem, notes } = await verified();
      expect(problem).toBeUndefined();
      expect(notes[0]).toEndWith("Before, the log did not hold: entry 1 is missing: entry 3 follows entry 0");
    }),
  );

  test.skipIf(note !== "")("still refuses to be changed after a cut", () =>
    withLog(async ({ env }) => {
      await cutAuditLog(env, 3_000);
      if (kind !== "a file") {
        const statement = "DELETE FROM claudikins.audit WHERE place = 3";
        await expect(server!.run(env["CLAUDIKINS_DATABASE"]!, statement)).rejects.toThrow("only added");
        return;
      }
      const { openDatabase } = await import("../../../src/store/sqlite/database.ts");
      using database = await openDatabase(storeFile(env));
      expect(() => database.run("DELETE FROM audit WHERE place = 3")).toThrow("only added");
    }),
  );
});
