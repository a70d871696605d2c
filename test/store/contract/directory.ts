/** What the processes of a `serve --http` know of a company's directory. */
import { expect, test } from "bun:test";
import type { DirectoryAttributes } from "../../../src/store/directory.ts";
import type { Processes } from "../contract.ts";

const config = "/a.json";

function userOf(name: string, more: Partial<DirectoryAttributes> = {}): DirectoryAttributes {
  const json = JSON.stringify({ userName: name });
  return { name, externalId: `x-${name}`, isActive: true, json, members: [], ...more };
}

function groupOf(displayName: string, members: string[]): DirectoryAttributes {
  return { name: displayName, isActive: true, json: JSON.stringify({ displayName }), members };
}

export function directoryContract(processes: Processes): void {
  const list = (filter = {}, from = 0, count = 10) =>
    processes.other.directory.list(config, "User", { filter, from, count, withMembers: true });

  test("has users of one config, with names that are the same in any case", async () => {
    const { directory } = processes.one;
    expect(await list()).toEqual({ total: 0, entries: [] });
    const ann = await directory.add(config, "User", userOf("Ann"), "1");
    expect(ann).toMatchObject({ id: "1", name: "Ann", person: null, isActive: true });
    expect(await directory.add(config, "User", userOf("ANN"), "2")).toBeUndefined();
    expect(await directory.add("/b.json", "User", userOf("ann"), "3")).toBeDefined();
    expect(await directory.add(config, "Group", groupOf("ann", []), "4")).toBeDefined();
    await directory.add(config, "User", userOf("bob", { isActive: false }), "5");
    expect((await list()).entries.map(({ id, isActive }) => [id, isActive])).toEqual([
      ["1", true],
      ["5", false],
    ]);
    for (const filter of [{ id: "1" }, { name: "aNN" }, { externalId: "x-Ann" }])
      expect((await list(filter)).entries).toMatchObject([{ id: "1", json: '{"userName":"Ann"}' }]);
    expect(await list({ name: "eve" })).toEqual({ total: 0, entries: [] });
    expect(await list({}, 1, 1)).toMatchObject({ total: 2, entries: [{ id: "5" }] });
    expect(await directory.get(config, "User", "3")).toBeUndefined();
  });

  test("changes an entry from what it is at that moment, whoever else changes it", async () => {
    const { one, other } = processes;
    await one.directory.add(config, "Group", groupOf("qa", ["0"]), "g");
    const grow = (store: typeof one, member: string) =>
      store.directory.change(config, "Group", "g", ({ members }) => groupOf("qa", [...members, member]));
    await Promise.all(Array.from({ length: 10 }, (_, at) => grow(at % 2 === 0 ? one : other, String(at))));
    const { members = [] } = (await one.directory.get(config, "Group", "g")) ?? {};
    expect(members.toSorted()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    await one.directory.add(config, "Group", groupOf("ops", []), "h");
    expect(await other.directory.change(config, "Group", "h", () => groupOf("QA", []))).toBe("taken");
    expect(await other.directory.change(config, "Group", "i", () => groupOf("new", []))).toBe("missing");
    const failing = other.directory.change(config, "Group", "g", () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect((await one.directory.get(config, "Group", "g"))?.members).toHaveLength(10);
  });

  test("knows the groups of a user, in circles too, and whose tokens are for a user", async () => {
    const { one, other } = processes;
    await one.directory.add(config, "User", userOf("ann"), "u");
    await one.directory.add(config, "Group", groupOf("Testers", ["u"]), "g1");
    await one.directory.add(config, "Group", groupOf("qa", ["g1"]), "g2");
    await one.directory.change(config, "Group", "g1", () => groupOf("Testers", ["u", "g2"]));
    const find = () => other.directory.user(config, "externalId", "x-ann");
    const found = await find();
    expect(found?.groups.toSorted()).toEqual(["Testers", "qa"]);
    expect(await other.directory.user(config, "userName", "ANN")).toMatchObject({ id: "u", person: null });
    expect(await other.directory.user(config, "externalId", "X-ANN")).toBeUndefined();
    await one.directory.known(config, "u", "p1");
    expect(await find()).toMatchObject({ person: "p1" });
    expect(await other.directory.remove(config, "Group", "g2")).toMatchObject({ id: "g2" });
    expect(await find()).toMatchObject({ groups: ["Testers"] });
  });

  test("knows the person of a user who comes back, unless the person was deleted", async () => {
    const { one, other } = processes;
    const come = async (id: string) => {
      const user = await one.directory.add(config, "User", userOf("ann"), id);
      return one.directory.comeBack(config, user!);
    };
    expect(await come("1")).toBeUndefined();
    await one.directory.known(config, "1", "p1");
    expect(await other.directory.remove(config, "User", "1")).toMatchObject({ person: "p1" });
    expect(await other.directory.remove(config, "User", "1")).toBeUndefined();
    expect(await come("2")).toBe("p1");
    expect(await other.directory.user(config, "userName", "ann")).toMatchObject({ id: "2", person: "p1" });
    await other.directory.remove(config, "User", "2");
    await one.directory.forget(config, "p1");
    expect(await come("3")).toBeUndefined();
    expect((await list()).total).toBe(1);
  });

  test("of two active and inactive users with one external id takes the inactive one", async () => {
    const { directory } = processes.one;
    await directory.add(config, "User", userOf("a", { externalId: "same" }), "1");
    await directory.add(config, "User", userOf("b", { externalId: "same", isActive: false }), "2");
    expect(await directory.user(config, "externalId", "same")).toMatchObject({ id: "2", isActive: false });
  });
}
