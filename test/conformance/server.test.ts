/** Every server scenario of the protocol's own conformance suite, over HTTP: through us in direct mode, and of us in code mode. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { httpServe } from "../support/http-serve.ts";
import { processesLeft } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { checksIn, failuresIn, runSuite, scenariosFor } from "./suite.ts";

setDefaultTimeout(120_000);

test("every server scenario passes in direct mode", async () => {
  const found = await failuresInMode("direct");
  expect([...found.keys()].length).toBe(32);
  expect(Object.fromEntries([...found].filter(([, failures]) => failures.length > 0))).toEqual({});
});

/** Scenarios that need only what every server has. */
const ofEveryServer = [
  "server-initialize",
  "ping",
  "tools-list",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

test("the scenarios that apply pass in code mode", async () => {
  const found = await failuresInMode("code");
  expect(ofEveryServer.map((scenario) => [scenario, found.get(scenario)])).toEqual(
    ofEveryServer.map((scenario) => [scenario, []]),
  );
});

/** The failed checks of each scenario against `serve` in front of the expected server. */
async function failuresInMode(mode: string): Promise<Map<string, string[]>> {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { suite: fixture("conformance", folder.path) } });
  const output = join(folder.path, "checks");
  await using door = await httpServe(folder, ["--mode", mode]);
  await runSuite("server", "--url", door.url, "--suite", "all", "-o", output);
  door.signal("SIGTERM");
  expect(await door.exited).toBe(0);
  expect(await processesLeft(folder.path)).toEqual([]);
  const names = readdirSync(output);
  const failures = (await scenariosFor("server")).map(async (scenario): Promise<[string, string[]]> => {
    // The folder's name ends with a time.
    const own = names.find((name) => name.replace(/-\d{4}-\d\d-\d\dT.*$/, "") === `server-${scenario}`);
    const checks = own === undefined ? [] : await checksIn(join(output, own));
    return [scenario, checks.length === 0 ? ["nothing was checked"] : failuresIn(checks)];
  });
  return new Map(await Promise.all(failures));
}
