/** Every client scenario of the MCP conformance suite, with the product's pool and sign-in. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Semaphore } from "../../src/semaphore.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { checksIn, failuresIn, runSuite, scenariosFor } from "./suite.ts";

setDefaultTimeout(120_000);

const atOnce = 4;
const client = `${process.execPath} ${join(import.meta.dir, "client.ts")}`;

test("every client scenario passes, except the expected failures, which do fail", async () => {
  using folder = temporaryFolder();
  const scenarios = await scenariosFor("client");
  const expected = await expectedFailures();
  const found = new Map<string, string[]>();
  const run = async (scenario: string) => {
    found.set(scenario, await failuresOf(scenario, folder));
  };
  // The result of this scenario depends on time.
  const [first = "", ...rest] = scenarios.toSorted((a) => (a === "sse-retry" ? -1 : 0));
  await run(first);
  const semaphore = new Semaphore(atOnce);
  await Promise.all(
    rest.map(async (scenario) => {
      await semaphore.acquire(undefined);
      await run(scenario).finally(() => semaphore.release());
    }),
  );
  const unexpected = [...found].filter(([scenario, failures]) => failures.length > 0 && !expected.includes(scenario));
  expect(Object.fromEntries(unexpected)).toEqual({});
  expect(expected.filter((scenario) => found.get(scenario)?.length !== 0)).toEqual(expected);
});

test("every expected failure is a scenario of the suite, and has its reason above it", async () => {
  const scenarios = await scenariosFor("client");
  expect(scenarios.length).toBe(26);
  expect((await expectedFailures()).filter((scenario) => !scenarios.includes(scenario))).toEqual([]);
  const lines = (await Bun.file(join(import.meta.dir, "expected-failures.yml")).text()).split("\n");
  const bare = lines.filter((line, at) => line.startsWith("  - ") && !lines[at - 1]?.startsWith("  # "));
  expect(bare).toEqual([]);
});

async function expectedFailures(): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, "expected-failures.yml")).text();
  return (Bun.YAML.parse(text) as { client: string[] | null }).client ?? [];
}

/** The failed checks of the suite, one per line. */
async function failuresOf(scenario: string, folder: TemporaryFolder): Promise<string[]> {
  const output = join(folder.path, scenario.replaceAll("/", "-"));
  const args = ["client", "--command", client, "--scenario", scenario, "-o", output];
  const { exitCode, stdout, stderr } = await runSuite(...args);
  const checks = await checksIn(output);
  const failures = failuresIn(checks);
  if (failures.length > 0 || (exitCode === 0 && checks.some(({ status }) => status === "SUCCESS"))) return failures;
  return [`exit code ${exitCode}\n${stdout}\n${stderr}`];
}
