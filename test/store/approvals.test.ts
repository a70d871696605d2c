/** The table of approvals, in real files and among several processes. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { ApprovalStore, keptDays } from "../../src/store/approvals.ts";
import { openDatabase } from "../../src/store/database.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { asking } from "./approvals.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

let file = "";
let count = 0;
const open = async () => new ApprovalStore(await openDatabase(file));
let store: ApprovalStore;

beforeEach(async () => {
  file = join(folder.path, `${++count}`, "executions.sqlite");
  store = await open();
});

const yes = { state: "approved", scope: "once", by: "command" } as const;
const no = { state: "denied", by: "page" } as const;

test("a row comes back as it was written, from a file that only its user can read", async () => {
  const added = store.add(asking());
  expect(added).toMatchObject({ ...asking(), state: "open", scope: null, decidedAt: null, decidedBy: null });
  expect(added.id).toMatch(/^[0-9a-z]{8}$/);
  expect((await open()).get(added.id)).toEqual(added);
  if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("lists are sorted by time, and filtered by state, config and execution", () => {
  const second = store.add(asking({ call: 2, askedAt: 1_200 }));
  const first = store.add(asking({ call: 1 }));
  const demo = store.add(asking({ config: null, execution: "e2", askedAt: 1_300 }));
  const ids = (...rows: { id: string }[]) => rows.map(({ id }) => id);
  expect(ids(...store.list())).toEqual(ids(first, second, demo));
  expect(ids(...store.list({ config: null }))).toEqual(ids(demo));
  expect(ids(...store.list({ config: "/shop/claudikins.json" }))).toEqual(ids(first, second));
  expect(ids(...store.list({ execution: "e2" }))).toEqual(ids(demo));
  store.decide(first.id, yes, 1_500);
  expect(ids(...store.list({ state: "open" }))).toEqual(ids(second, demo));
});

describe("a decision", () => {
  test("is made once: the second one changes nothing", () => {
    const { id } = store.add(asking());
    expect(store.decide(id, yes, 1_500)).toMatchObject([
      { id, state: "approved", scope: "once", decidedAt: 1_500, decidedBy: "command" },
    ]);
    expect(store.decide(id, no, 1_600)).toEqual([]);
    expect(store.get(id)).toMatchObject({ state: "approved", decidedAt: 1_500 });
  });

  test("about an unknown row, or one whose time is over, decides nothing", () => {
    const { id } = store.add(asking());
    expect(store.decide("nothing0", yes, 1_500)).toEqual([]);
    expect(store.decide(id, yes, 2_000)).toEqual([]);
    expect(store.get(id)?.state).toBe("open");
  });

  test("no counts for the tool in its execution, or with all for everything that the execution asks", () => {
    const rows = [asking(), asking({ call: 2 }), asking({ call: 3, tool: "close" }), asking({ execution: "e2" })].map(
      (each) => store.add(each),
    );
    const states = () => rows.map(({ id }) => store.get(id)?.state);
    const [first, second, third] = rows;
    expect(store.decide(second!.id, no, 1_500).map(({ id }) => id)).toEqual([second!.id, first!.id]);
    expect(states()).toEqual(["denied", "denied", "open", "open"]);
    const fourth = store.add(asking({ call: 4, tool: "open" }));
    store.decide(third!.id, { ...no, all: true }, 1_500);
    expect([...states(), store.get(fourth.id)?.state]).toEqual(["denied", "denied", "denied", "open", "denied"]);
  });

  test("is made by one of several processes", async () => {
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

  test("by another process is noticed, and our own is not reported as a change", async () => {
    const other = await open();
    const { id } = store.add(asking());
    expect(store.hasChanged()).toBe(false);
    other.decide(id, yes, 1_500);
    expect(store.hasChanged()).toBe(true);
    expect(store.hasChanged()).toBe(false);
    expect(store.get(id)?.state).toBe("approved");
  });
});

test("rows expire when their time is over, once", () => {
  const [early, late] = [store.add(asking()), store.add(asking({ expiresAt: 3_000 }))];
  expect(store.expire(1_999)).toEqual([]);
  expect(store.expire(2_000)).toMatchObject([{ id: early.id, state: "expired", decidedAt: 2_000, decidedBy: null }]);
  expect(store.expire(2_500)).toEqual([]);
  expect(store.get(late.id)?.state).toBe("open");
});

test("open and approved rows can be withdrawn, and others cannot", () => {
  const [open, approved, denied] = [1, 2, 3].map((call) => store.add(asking({ call, execution: `e${call}` })));
  store.decide(approved!.id, yes, 1_500);
  store.decide(denied!.id, no, 1_500);
  const withdrawn = [open, approved, denied].map((row) => store.withdraw(row!.id, 1_600)?.state);
  expect(withdrawn).toEqual(["withdrawn", "withdrawn", undefined]);
  expect(store.decide(open!.id, yes, 1_700)).toEqual([]);
});

test("the last row of a call, and the permission for the session of an execution, are found", () => {
  const first = store.add(asking());
  store.withdraw(first.id, 1_100);
  const second = store.add(asking());
  expect(store.ofCall("e1", 1)?.id).toBe(second.id);
  expect(store.ofCall("e1", 2)).toBeUndefined();
  store.decide(second.id, { ...yes, scope: "session" }, 1_500);
  expect(store.sessionApproval("e1", "github", "merge")?.id).toBe(second.id);
  expect(store.sessionApproval("e2", "github", "merge")).toBeUndefined();
  expect(store.sessionApproval("e1", "github", "close")).toBeUndefined();
});

test("decided rows are deleted after some weeks, and open ones stay", () => {
  const [open, decided] = [1, 2].map((call) => store.add(asking({ call })));
  store.decide(decided!.id, yes, 1_500);
  store.prune(1_500 + keptDays * 86_400_000);
  expect(store.list()).toHaveLength(2);
  store.prune(1_501 + keptDays * 86_400_000);
  expect(store.list().map(({ id }) => id)).toEqual([open!.id]);
});
