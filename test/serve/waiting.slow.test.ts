/** Agents that ask for the outcome of a program later: in the background, after a time, and after the end of `serve`. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { eventually } from "../support/eventually.ts";
import { openHost, type TestHost } from "../support/host.ts";
import { openModernHost } from "../support/modern-host.ts";
import { ownFolder } from "../support/own-folder.ts";
import { testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

// Many processes run at once on a small machine.
setDefaultTimeout(120_000);

const folder = ownFolder();
let counts: string;
let go: string;
beforeEach(() => {
  counts = join(folder.path, "counts");
  go = join(folder.path, "go");
  folder.write("claudikins.json", {
    mcpServers: { counting: fixture("counting", counts) },
    executions: { answerAfterMs: 2_000 },
  });
});

const called = (): string[] =>
  existsSync(counts)
    ? readFileSync(counts, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as string[]).join(" "))
    : [];

async function untilCalled(count: number): Promise<void> {
  await eventually(() => called().length >= count);
}

async function execute(host: TestHost, args: object): Promise<string> {
  const { content } = (await host.call("execute_code", args)) as { content: { text: string }[] };
  return content.map(({ text }) => text).join("\n");
}

function idIn(text: string): string {
  const [, id] = /\{"resume": "(\w+)"\}/.exec(text) ?? [];
  if (id === undefined) throw new Error(`no id: ${text}`);
  return id;
}

const waiting = () => `const { count } = await counting.wait({ until: ${JSON.stringify(go)} });
  return "done after " + count + " and " + (await counting.act({ name: "last" })).count`;

describe("execute_code", () => {
  test("a program in the background is answered with its id, and resume waits for its outcome", async () => {
    await using host = await openHost(folder);
    const text = await execute(host, { code: waiting(), background: true });
    const id = idIn(text);
    await untilCalled(1);
    await Bun.write(go, "");
    expect(await execute(host, { resume: id })).toStartWith("done after 1 and 2");
    expect(await execute(host, { resume: id })).toStartWith("done after 1 and 2");
  });

  test("a program that is not done in time is answered with its id and the call that it waits for", async () => {
    await using host = await openHost(folder);
    const text = await execute(host, { code: waiting() });
    expect(text).toContain("is not done yet: it waits for counting.wait.");
    expect(await execute(host, { resume: idIn(text) })).toContain("it waits for counting.wait");
    await Bun.write(go, "");
    expect(await execute(host, { resume: idIn(text) })).toStartWith("done after 1 and 2");
  });

  test("a program that sleeps says until when", async () => {
    await using host = await openHost(folder);
    const text = await execute(host, { code: 'await sleep("3h"); return 1' });
    const [, until] = /sleeps until (\S+Z)\./.exec(text) ?? [];
    expect(Date.parse(until ?? "")).toBeGreaterThan(Date.now() + 10_000_000);
  });

  test("an unknown id, and code beside an id, are errors with the next step", async () => {
    await using host = await openHost(folder);
    expect(await execute(host, { resume: "0000000000" })).toContain("claudikins executions list");
    expect(await execute(host, { resume: "0000000000", code: "return 1" })).toBe('Give "code" or "resume", not both');
    expect(await execute(host, { resume: 7 })).toBe('"resume" takes the id of an execution as a string');
  });
});

describe("after the end of serve", () => {
  test("another agent gets the outcome, and no call is made twice", async () => {
    let id = "";
    {
      await using host = await openHost(folder);
      const code = `const { count } = await counting.act({ name: "first" }); await sleep("61s"); return count`;
      id = idIn(await execute(host, { code, background: true }));
      await eventually(async () => (await execute(host, { resume: id })).includes("sleeps until"), { everyMs: 50 });
    }
    await using host = await openHost(folder);
    expect(await execute(host, { resume: id })).toContain("sleeps until");
    expect(called()).toEqual(["act first"]);
  });

  test("a call that was under way is reported to the program", async () => {
    let id = "";
    {
      await using host = await openHost(folder);
      const code = `return await counting.wait({ until: "/nowhere/at-all" }).catch(({ code }) => code)`;
      id = idIn(await execute(host, { code, background: true }));
      await untilCalled(1);
    }
    await using host = await openHost(folder);
    expect(await execute(host, { resume: id })).toStartWith("CALL_OUTCOME_UNKNOWN");
    expect(called()).toEqual(["wait "]);
  });
});

describe("a call that needs approval", () => {
  const confirmed = () =>
    folder.write("claudikins.json", {
      mcpServers: { counting: { ...fixture("counting", counts), confirm: { act: "always" } } },
      executions: { answerAfterMs: 20_000 },
    });
  const env = () => testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` });
  const code = `const { count } = await counting.act({ name: "merge" }); return "done after " + count`;

  async function decide(state: "approved" | "denied", execution: string): Promise<void> {
    await using approvals = new Approvals({ env: env() });
    const [open] = await approvals.open({ execution });
    const by = "command" as const;
    await approvals.decide(open!.id, state === "approved" ? { state, scope: "once", by } : { state, by });
  }

  test("is named in the answer at once if nobody can be asked, and made when it is approved", async () => {
    confirmed();
    await using host = await openHost(folder);
    const text = await execute(host, { code });
    expect(text).toContain("waits until a person approves or denies:\n- counting.act (line 1), since 20");
    expect(text).toMatch(/: approval \w+\. Asked because the user confirms every call of this tool\n/);
    expect(called()).toEqual([]);
    const later = execute(host, { resume: idIn(text) });
    await decide("approved", idIn(text));
    expect(await later).toStartWith("done after 1");
    expect(called()).toEqual(["act merge"]);
  });

  test("fails with POLICY_DENIED when it is denied", async () => {
    confirmed();
    await using host = await openHost(folder);
    const text = await execute(host, { code });
    await decide("denied", idIn(text));
    expect(await execute(host, { resume: idIn(text) })).toContain("counting.act was not called: the person said no");
    expect(called()).toEqual([]);
  });

  test("is made by the next serve, when it is approved after the end of this one", async () => {
    confirmed();
    let id = "";
    {
      await using host = await openHost(folder);
      id = idIn(await execute(host, { code }));
    }
    await decide("approved", id);
    await using host = await openHost(folder);
    expect(await execute(host, { resume: id })).toStartWith("done after 1");
    expect(called()).toEqual(["act merge"]);
  });

  test("is refused at once if the config says that approvals do not wait", async () => {
    folder.write("claudikins.json", {
      mcpServers: { counting: { ...fixture("counting", counts), confirm: { act: "always" } } },
      approvals: { wait: false },
    });
    await using host = await openHost(folder);
    expect(await execute(host, { code })).toContain("needs a person's confirmation, and nobody can be asked here");
  });
});

test("an agent of revision 2026-07-28 hears of the approval, comes back late, and gets the outcome", async () => {
  folder.write("claudikins.json", {
    mcpServers: { counting: { ...fixture("counting", counts), confirm: { act: "always" } } },
    executions: { answerAfterMs: 20_000 },
  });
  const code = `const { count } = await counting.act({ name: "merge" }); return "done after " + count`;
  const ask = async (args: object) => {
    await using host = await openModernHost(folder);
    const { content } = await host.callTool({ name: "execute_code", arguments: { ...args } });
    return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  };
  const text = await ask({ code });
  expect(text).toContain("waits until a person approves or denies:\n- counting.act (line 1)");
  await using approvals = new Approvals({ env: testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` }) });
  const [open] = await approvals.open({ execution: idIn(text) });
  await approvals.decide(open!.id, { state: "approved", scope: "once", by: "page" });
  expect(await ask({ resume: idIn(text) })).toStartWith("done after 1");
  expect(called()).toEqual(["act merge"]);
});
