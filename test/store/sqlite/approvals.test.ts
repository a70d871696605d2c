/** The tables of approvals, in real files and among several processes. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { hasWhole, maxExcerptChars } from "../../../src/store/approval.ts";
import { maxDecidedApprovals } from "../../../src/store/limits.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { asking } from "../approvals.ts";
import { ApprovalRows } from "./rows.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

let file = "";
let count = 0;
const open = async () => new ApprovalRows(await openDatabase(file));
let store: ApprovalRows;

beforeEach(async () => {
  file = join(folder.path, `${++count}`, "executions.sqlite");
  store = await open();
});

/** Characters that this process has read. Zero where the system does not tell. */
function charactersRead(): number {
  if (process.platform !== "linux") return 0;
  return Number(/^rchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

/** Why a further row of the config is refused, if it is. Adds none. */
function fullness(config: string | null, bytes: number): string {
  try {
    return store.atomically(() => {
      store.add(asking({ config, args: { text: "x".repeat(bytes) } }));
      throw new Error("there is room");
    });
  } catch (error) {
    return (error as Error).message.replace("github.close_issue was not called: ", "");
  }
}

const yes = { state: "approved", scope: "once", by: "command" } as const;
const no = { state: "denied", by: "page" } as const;

test("a row comes back as it was written, from a file that only its user can read", async () => {
  const { args, ...rest } = asking();
  const added = store.add(asking());
  expect(added).toMatchObject({ ...rest, state: "open", scope: null, decidedAt: null, decidedBy: null });
  expect(JSON.parse(added.excerpt)).toEqual(JSON.parse(args));
  expect(store.argumentsOf(added.id)).toBe(args);
  expect(added.id).toMatch(/^[0-9a-z]{8}$/);
  expect((await open()).get(added.id)).toEqual(added);
  if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a decision is made by one of several processes", async () => {
  for (let call = 0; call < 100; call++) store.add(asking({ call, execution: `e${call}` }));
  const script = join(import.meta.dir, "decide.ts");
  const deciders = ["command", "page", "command", "page"].map((by) =>
    Bun.spawn([process.execPath, script, file, by], { stdout: "pipe", stderr: "inherit" }),
  );
  const said = await Promise.all(deciders.map(({ stdout }) => new Response(stdout).json() as Promise<string[]>));
  const rows = store.list();
  expect(said.flat().sort()).toEqual(rows.map(({ id }) => id).sort());
  const by = new Map(said.flatMap((ids, at) => ids.map((id) => [id, at % 2 === 0 ? "command" : "page"] as const)));
  expect(rows.every(({ id, decidedBy }) => by.get(id) === decidedBy)).toBe(true);
});

describe("the arguments of a row", () => {
  const long = { text: "x".repeat(300_000), end: "the end" };
  const indented = JSON.stringify(long, null, 2);

  test.each<[string, (id: string) => unknown]>([
    ["approved", (id) => store.decide(id, yes, 1_500)],
    ["denied", (id) => store.decide(id, no, 1_500)],
    ["expired", () => store.change({ type: "expire" }, 2_000)],
    ["withdrawn", (id) => store.change({ type: "withdraw", ids: [id] }, 1_500)],
  ])("are kept as long as it is open, and not when it is %s: digest, size and beginning stay", async (state, close) => {
    const row = store.add(asking({ args: long }));
    expect(store.argumentsOf(row.id)).toBe(JSON.stringify(long));
    close(row.id);
    expect(store.argumentsOf(row.id)).toBeUndefined();
    const other = await open();
    expect(other.get(row.id)).toEqual({
      ...row,
      ...other.get(row.id)!,
      state: state as "approved",
      excerpt: indented.slice(0, maxExcerptChars),
      argsChars: indented.length,
      argsBytes: JSON.stringify(long).length,
      bound: row.bound,
    });
    store.close();
    other.close();
    // The pages that had them are free, and are used again.
    const { size } = statSync(file);
    store = await open();
    for (let call = 0; call < 10; call++) close(store.add(asking({ args: long, call, execution: `e${call}` })).id);
    store.close();
    expect(statSync(file).size).toBeLessThan(size + 300_000);
  });

  test("are not read by lists", () => {
    const args = { text: "y".repeat(3_000_000) };
    for (let call = 0; call < 20; call++) store.add(asking({ args, call }));
    const before = charactersRead();
    for (let times = 0; times < 20; times++) expect(store.list({ state: "open" })).toHaveLength(20);
    expect(JSON.stringify(store.list()).length).toBeLessThan(100_000);
    // One list with all arguments would read 60 MB.
    expect(charactersRead() - before).toBeLessThan(10_000_000);
  });

  test("are whole in the excerpt if they are short, and cut if they are long", () => {
    const [short, cut] = [store.add(asking()), store.add(asking({ args: long }))];
    expect([hasWhole(short), hasWhole(cut)]).toEqual([true, false]);
  });
});

describe("limits", () => {
  test("count the open rows of each config, so that one project cannot lock the others out", () => {
    for (let call = 0; call < 500; call++) store.add(asking({ call }));
    expect(fullness("/shop/claudikins.json", 1)).toBe("500 calls already wait for approval");
    expect(fullness("/other/claudikins.json", 1)).toBe("there is room");
    expect(fullness(null, 1)).toBe("there is room");
    store.change({ type: "withdraw", ids: [store.list()[0]!.id] }, 1_500);
    expect(fullness("/shop/claudikins.json", 1)).toBe("there is room");
  });

  test("count the open rows of all configs together", () => {
    store.atomically(() => {
      for (let call = 0; call < 2_000; call++) store.add(asking({ call, config: `/${call % 7}` }));
    });
    expect(fullness("/new", 1)).toBe("2,000 calls already wait for approval");
  });

  test("count the decided rows of each config, and the oldest are deleted", () => {
    store.atomically(() => {
      for (let call = 0; call < maxDecidedApprovals + 5; call++) {
        store.decide(
          store.add(asking({ call, execution: `e${call}`, expiresAt: 9_000 })).id,
          yes,
          1_001 + Math.floor(call / 2),
        );
      }
      store.decide(store.add(asking({ config: null })).id, yes, 1_000);
    });
    store.change({ type: "prune" }, 2_000);
    expect(store.list({ config: null })).toHaveLength(1);
    const left = store.list({ config: "/shop/claudikins.json" });
    expect(left).toHaveLength(maxDecidedApprovals);
    // Two at a time were decided at the same time.
    expect(left.filter(({ call }) => call < 4)).toEqual([]);
  });
});

test("the arguments of open rows are limited together, for each config and for all", () => {
  const args = { text: "x".repeat(4_000_000) };
  for (let call = 0; call < 15; call++) store.add(asking({ call, args }));
  expect(fullness("/shop/claudikins.json", 3_000_000)).toBe("there is room");
  expect(fullness("/shop/claudikins.json", 5_000_000)).toBe(
    "the calls that already wait for approval have 60 MB of arguments, and 64 MB is the limit",
  );
  expect(fullness("/other/claudikins.json", 5_000_000)).toBe("there is room");
});
