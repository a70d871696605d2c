/** Every client scenario of the MCP conformance suite, with the product's pool and sign-in. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { atMostAtOnce } from "../support/at-once.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { differenceOf, entriesWithoutReason, expectedFailures } from "./expected-failures.ts";
import { type Check, checksIn, failedOf, failure, type Requirements, requirementsOf, runSuite } from "./suite.ts";

setDefaultTimeout(120_000);

const atOnce = 4;
const client = `${process.execPath} ${join(import.meta.dir, "client.ts")}`;

/** The oldest revision with sign-in. The suite has no list of what it requires, but scenarios for it. */
const oldest: Requirements = {
  scored: ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"],
  reported: [],
};

test.each([
  ["2025-03-26", 2, 0],
  ["2025-11-25", 18, 7],
  ["2026-07-28", 32, 7],
])(
  "every client scenario of %s passes, except the expected failures, which do fail",
  async (revision, scored, reported) => {
    using folder = temporaryFolder();
    const required = revision === "2025-03-26" ? oldest : await requirementsOf(revision, "client");
    expect([required.scored.length, required.reported.length]).toEqual([scored, reported]);
    const found = new Map<string, Check[]>();
    const run = async (scenario: string) => {
      found.set(scenario, await failuresOf(scenario, revision, folder));
    };
    // The result of this scenario depends on time.
    const [first = "", ...rest] = [...required.scored, ...required.reported].sort((a, b) => isTimed(b) - isTimed(a));
    await run(first);
    const aFewAtOnce = atMostAtOnce(atOnce);
    await Promise.all(rest.map((scenario) => aFewAtOnce(() => run(scenario))));
    expect(differenceOf(found, await expectedFailures("client"))).toEqual({ unexpected: {}, passing: [] });
  },
);

const isTimed = (scenario: string) => Number(scenario === "sse-retry");

test("every expected failure is a scenario of the suite, and has its reason above it", async () => {
  const all = await Promise.all(
    (["client", "server"] as const).map(async (side) => {
      const required = await Promise.all(["2025-11-25", "2026-07-28"].map((each) => requirementsOf(each, side)));
      const known = required.flatMap(({ scored, reported }) => [...scored, ...reported]);
      const listed = [...(await expectedFailures(side)), ...(side === "server" ? await expectedFailures("code") : [])];
      return listed.filter((entry) => !known.includes(entry.split(":")[0] ?? ""));
    }),
  );
  expect(all.flat()).toEqual([]);
  expect(await entriesWithoutReason()).toEqual([]);
});

/** Like `--requirements`, but for one scenario: at the revision's wire, whatever the scenario says about revisions. */
async function failuresOf(scenario: string, revision: string, folder: TemporaryFolder): Promise<Check[]> {
  const output = join(folder.path, scenario.replaceAll("/", "-"));
  const which = ["--scenario", scenario, "--spec-version", revision, "--force"];
  const { exitCode, stdout, stderr } = await runSuite("client", "--command", client, ...which, "-o", output);
  const checks = await checksIn(output);
  const failed = failedOf(checks);
  if (failed.length > 0 || (exitCode === 0 && checks.some(({ status }) => status === "SUCCESS"))) return failed;
  return [failure("exit code", `${exitCode}\n${stdout}\n${stderr}`)];
}
