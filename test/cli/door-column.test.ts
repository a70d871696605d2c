/** Executions, records and approvals name their door. Without doors there is no column for them. */

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { completedNames } from "../../src/cli/completions/names.ts";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { newId } from "../../src/programs/trace/id.ts";
import { asking } from "../store/approvals.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { storeExecution } from "../support/stored.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

async function done(argv: string[], options: CliOptions = {}): Promise<string> {
  const result = await cli(argv, { cwd: folder.path, ...options });
  expect([argv, result.exitCode]).toEqual([argv, 0]);
  return result.stdout;
}

const jsonOf = async (argv: string[]) => JSON.parse(await done([...argv, "--json"]));
const headOf = async (argv: string[]) => (await done(argv)).split("\n")[0]!.split(/\s{2,}/);
const config = () => folder.write("claudikins.json", { mcpServers: { shop: fixture("minimal") }, doors: { qa: {} } });

describe("the door", () => {
  test("recorded executions have their door in the list, the JSON and the timeline; without doors there is no column", async () => {
    config();
    await done(["exec", "-e", "1 + 1", "--trust"]);
    expect(await headOf(["trace"])).not.toContain("door");
    await done(["exec", "-e", "2 + 2", "--door", "qa", "--trust"]);
    expect(await headOf(["trace"])).toContain("door");
    const { executions } = await jsonOf(["trace"]);
    expect(executions.map(({ door }: { door?: string }) => door)).toEqual(["qa", undefined]);
    expect(await done(["trace", "last"])).toContain("claudikins.json, door qa · ");
    const file = join(folder.path, "trace.html");
    await done(["trace", "last", "--html", file]);
    expect(await Bun.file(file).text()).toMatch(/, door <bdi>qa<\/bdi>/);
  });

  test("stored executions have it in the list, and completions offer only those of the config and the door", async () => {
    const file = config();
    const [open, behind, foreign] = [newId(1), newId(2), newId(3)];
    const add = (id: string, owner: string, door?: string) => {
      const about = { config: owner, startedAt: Date.now(), request: { source: "1", door } };
      return storeExecution(folder.path, id, { ...about, outcome: { ok: true } });
    };
    await add(open, file);
    expect(await headOf(["executions", "list", "--trust"])).not.toContain("door");
    await add(behind, file, "qa");
    await add(foreign, "/other/claudikins.json");
    expect(await headOf(["executions", "list", "--trust"])).toContain("door");
    const listed = (await jsonOf(["executions", "list", "--trust"])).executions as { id: string; door?: string }[];
    expect(new Map(listed.map(({ id, door }) => [id, door]))).toEqual(
      new Map([
        [open, undefined],
        [behind, "qa"],
      ]),
    );
    expect(await done(["executions", "show", behind, "--door", "qa", "--trust"])).toContain(
      "by exec behind the door qa, ",
    );
    const offered = async (flags: [string, string][]) => {
      const place = { current: "", positionals: [], flags: new Map(flags) };
      const found = await completedNames("kept", place, { env: { HOME: folder.path }, cwd: folder.path });
      return found.map(({ value }) => value);
    };
    expect([await offered([]), await offered([["door", "qa"]])]).toEqual([[open], [behind]]);
  });

  test("approvals have it in the list, alone and in JSON, open and decided", async () => {
    const file = config();
    await using approvals = new Approvals({ env: { HOME: folder.path } });
    const times = { askedAt: Date.now(), expiresAt: Date.now() + 60_000 };
    const { owner: _, ...row } = asking({ config: file, ...times });
    await approvals.ask(row);
    expect(await headOf(["approvals"])).not.toContain("door");
    const { id } = await approvals.ask({ ...row, call: 2, door: "qa" });
    expect(await headOf(["approvals"])).toContain("door");
    const doors = ((await jsonOf(["approvals"])).approvals as { door?: string }[]).map(({ door }) => door);
    expect(doors).toEqual([undefined, "qa"]);
    expect(await done(["approvals", "show", id])).toContain("claudikins.json, door qa\n");
    const denied = await jsonOf(["approvals", "deny", id]);
    expect(denied.denied.find((each: { id: string }) => each.id === id)).toMatchObject({ door: "qa" });
  });
});
