/** A few rounds of `bun run zombies`: every way to die, twice; no process is left after any. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { planOf, zombieRound } from "../../scripts/harnesses/zombies.ts";
import { executable } from "../support/claudikins.ts";
import { processesWith, testEnvironment } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";

// A round takes one or two seconds, and the build before the first one longer.
setDefaultTimeout(60_000);

const rounds = Array.from({ length: 12 }, (_, index) => planOf(4, index));

test.each(rounds.map((plan) => [plan.command, plan.death, plan.work, plan] as const))(
  "%s that ends by %s during %s leaves no process",
  async (...[, , , plan]) => {
    const { left, had } = await zombieRound(plan);
    expect(left).toEqual([]);
    expect(had).toBeGreaterThan(0);
  },
);

test("code that calls no server starts neither a server nor the watchdog", async () => {
  using folder = temporaryFolder();
  const child = Bun.spawn([executable(), "exec", "-e", "while (true) {}"], {
    cwd: folder.path,
    env: testEnvironment(),
    stdio: ["ignore", "ignore", "ignore"],
  });
  await Bun.sleep(500);
  expect(processesWith(`claudikins-watchdog ${child.pid} `)).toEqual([]);
  child.kill("SIGKILL");
  await child.exited;
});
