/** Programs of people that outlive `serve --http`: the daemon continues them for the same person. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { openStore } from "../../src/store/open.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { executeRequest, httpServe, rawSession, resultText } from "../support/http-serve.ts";
import { oidcFixture } from "../support/oidc.ts";
import { testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

test("a program that waits is continued by the daemon in the workspace of its person", async () => {
  await using provider = await oidcFixture({ bob: { groups: ["qa-team"] } });
  using folder = temporaryFolder();
  const env = { XDG_DATA_HOME: join(folder.path, "data"), XDG_RUNTIME_DIR: folder.path, CLAUDIKINS_DAEMON: "on" };
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "serve", folder.path) },
    policy: { confirm: { "newer.echo": "always" } },
    doors: { qa: { servers: ["newer"] } },
    auth: {
      oidc: { issuer: provider.issuer, audience: "https://tools.example.com", doors: { qa: ["qa-team"] } },
    },
  });
  const claudikins = (...words: string[]) =>
    Bun.spawnSync([...claudikinsCommand, ...words], { cwd: folder.path, env: testEnvironment(env) }).stdout.toString();
  const serving = await httpServe(folder, [], { token: "kept", env });
  try {
    const headers = { authorization: `Bearer ${await provider.token("bob")}` };
    const session = await rawSession(new URL("/qa", serving.url).href, "2025-11-25", {}, "agent", headers);
    const write = 'await fs.writeFile("./workspace/mine.txt", "kept"); ';
    const more = 'return [await newer.echo({ value: "hello" }), await fs.readFile("./workspace/mine.txt", "utf8")]';
    const text = await resultText(await session.post(executeRequest(2, write + more)));
    const [, id = ""] = /The execution (\S+) waits/.exec(text) ?? [];
    expect(text).toContain("Tell the user that these may approve it: whoever runs claudikins for them.");
    serving.signal("SIGTERM");
    expect(await serving.exited).toBe(0);

    expect(claudikins("executions", "list")).toMatch(new RegExp(`${id.slice(0, 8)}\\w* .* qa +bob`));
    await using approvals = new Approvals({ env });
    const [open] = await approvals.open();
    await approvals.decide(open!.id, { state: "approved", scope: "once", by: "command" });
    await using store = openStore(env);
    await eventually(async () => (await store.executions.get(id))?.state === "ended");
    const writer = store.executions.writer();
    const { outcome = "{}" } = await writer.do("outcome", id, {});
    await writer.close();
    expect(JSON.parse(outcome)).toMatchObject({ ok: true, value: ["hello", "kept"] });
  } finally {
    serving.signal("SIGTERM");
    claudikins("daemon", "stop", "--all", "--now");
  }
});
