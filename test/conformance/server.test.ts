/**
 * Every server scenario of the MCP conformance suite, over HTTP: through us in direct mode, in front of a server of the same revision,
 * and of us in code mode.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { httpServe } from "../support/http-serve.ts";
import { modernAnswer } from "../support/modern-host.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { processesLeft } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { differenceOf, expectedFailures } from "./expected-failures.ts";
import { relay } from "./relay.ts";
import { type Check, checksIn, failedOf, failure, requirementsOf, runSuite } from "./suite.ts";

setDefaultTimeout(120_000);

test.each([
  ["2025-11-25", 30, 3],
  ["2026-07-28", 37, 13],
])(
  "every server scenario of %s passes in direct mode, except the expected failures",
  async (revision, scoredCount, reportedCount) => {
    const { scored, reported } = await requirementsOf(revision, "server");
    expect([scored.length, reported.length]).toEqual([scoredCount, reportedCount]);
    const found = await failuresInMode("direct", revision, [...scored, ...reported]);
    expect(differenceOf(found, await expectedFailures("server"))).toEqual({ unexpected: {}, passing: [] });
  },
);

/** Scenarios that need none of the fixture's tools, prompts and resources. */
const ofEveryServer: Record<string, string[]> = {
  "2025-11-25": [
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "tools-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
  ],
  "2026-07-28": [
    "server-stateless",
    "caching",
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
    "http-header-validation",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
  ],
};

test.each(Object.keys(ofEveryServer))("the scenarios of %s that apply pass in code mode", async (revision) => {
  const found = await failuresInMode("code", revision, ofEveryServer[revision] ?? []);
  expect(differenceOf(found, await expectedFailures("code"))).toEqual({ unexpected: {}, passing: [] });
});

test.each(Object.keys(ofEveryServer))(
  "every server scenario of %s has the same result for a person who has signed in",
  async (revision) => {
    const { scored, reported } = await requirementsOf(revision, "server");
    await using provider = await oidcFixture({ ann: { groups: ["all"] } });
    const found = await failuresInMode("direct", revision, [...scored, ...reported], provider);
    expect(differenceOf(found, await expectedFailures("server"))).toEqual({ unexpected: {}, passing: [] });
  },
);

test("the suite has no scenarios about the authorization of servers, which would have to run here", async () => {
  const { stdout } = await runSuite("list", "--server");
  const names = [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
  expect(names).toContain("server-initialize");
  expect(names.filter((name) => /auth|token|scope|dpop|oauth/.test(name))).toEqual([]);
});

/** The suite waits half a second for some answers, and a first call starts a server. Then it has one for each kind of host. */
async function warmUp(url: string): Promise<void> {
  const call = { name: "test_simple_text", arguments: {} };
  for (const capabilities of [{}, { elicitation: {} }]) {
    await modernAnswer(url, "tools/call", call, { capabilities, name: "conformance-client" });
  }
}

const fixtures: Record<string, string[]> = {
  "2025-11-25": ["conformance"],
  "2026-07-28": ["conformance-2026", "tasks"],
};

/** The failed checks of each scenario against `serve` in front of the expected servers. With a provider, people must sign in there. */
async function failuresInMode(
  mode: string,
  revision: string,
  scenarios: string[],
  provider?: OidcFixture,
): Promise<Map<string, Check[]>> {
  using folder = temporaryFolder();
  const servers = fixtures[revision]?.map((name) => [name, fixture(name, folder.path)]) ?? [];
  const auth = provider && {
    oidc: { issuer: provider.issuer, audience: "https://tools.example.com", doors: { mcp: ["all"] } },
  };
  folder.write("claudikins.json", { mcpServers: Object.fromEntries(servers), ...(auth ? { auth } : {}) });
  const output = join(folder.path, "checks");
  await using door = await httpServe(folder, ["--mode", mode], { token: provider ? "kept" : "none" });
  await using signedIn = provider && relay(door.url, await provider.token("ann"));
  const { url } = signedIn ?? door;
  if (mode === "direct" && revision === "2026-07-28") await warmUp(url);
  await runSuite("server", "--url", url, "--requirements", revision, "-o", output);
  door.signal("SIGTERM");
  expect(await door.exited).toBe(0);
  expect(await processesLeft(folder.path)).toEqual([]);
  const names = readdirSync(output);
  const failures = scenarios.map(async (scenario): Promise<[string, Check[]]> => {
    // The folder's name ends with a time.
    const own = names.find((name) => name.replace(/-\d{4}-\d\d-\d\dT.*$/, "") === `server-${scenario}`);
    const checks = own === undefined ? [] : await checksIn(join(output, own));
    return [scenario, checks.length === 0 ? [failure("checks", "nothing was checked")] : failedOf(checks)];
  });
  return new Map(await Promise.all(failures));
}
