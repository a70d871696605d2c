/** When a newer version is shown, and when a check is started. */
import { describe, expect, test } from "bun:test";
import { isSilenced } from "../../../src/cli/upgrade-hint.ts";
import { nextSteps, noteLatest, readSeen, writeSeen } from "../../../src/setup/upgrade/hint.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const hour = 3_600_000;
const steps = (seen: Parameters<typeof nextSteps>[0]) => nextSteps(seen, "0.1.0", now);

describe("a newer version", () => {
  test.each([
    ["shown if it was never shown", { latest: "0.2.0", checkedAt: now, shownAt: 0 }, "0.2.0"],
    ["shown again after a day", { latest: "0.2.0", checkedAt: now, shownAt: now - 25 * hour }, "0.2.0"],
    ["not shown twice on a day", { latest: "0.2.0", checkedAt: now, shownAt: now - 23 * hour }, undefined],
    ["shown if the clock was set back", { latest: "0.2.0", checkedAt: now, shownAt: now + hour }, "0.2.0"],
    ["not the same version", { latest: "0.1.0", checkedAt: now, shownAt: 0 }, undefined],
    ["not an older version", { latest: "0.0.9", checkedAt: now, shownAt: 0 }, undefined],
    ["unknown before the first check", { checkedAt: now, shownAt: 0 }, undefined],
  ])("is %s", (_, seen, show) => {
    expect(steps(seen)).toEqual({ show, checks: false });
  });
});

test("a check is started once a day", () => {
  const checks = (checkedAt: number) => steps({ checkedAt, shownAt: now }).checks;
  expect([checks(0), checks(now - 25 * hour), checks(now - 23 * hour), checks(now + hour)]).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

test("the result of a check is kept, and a damaged or hostile file counts as none", () => {
  using folder = temporaryFolder();
  const env = { HOME: folder.path };
  expect(readSeen(env)).toEqual({ checkedAt: 0, shownAt: 0 });
  writeSeen({ checkedAt: 1, shownAt: 2 }, env);
  noteLatest("0.2.0", env, 3);
  expect(readSeen(env)).toEqual({ latest: "0.2.0", checkedAt: 3, shownAt: 2 });
  for (const text of ["{", "[]", '{"latest":"0.2.0\\u001b[2J","checkedAt":"x"}']) {
    folder.write(".local/share/claudikins/upgrade/latest.json", text);
    expect(readSeen(env)).toEqual({ checkedAt: 0, shownAt: 0 });
  }
});

test.each(["NO_UPDATE_NOTIFIER", "CI", "BUILD_NUMBER"])("%s turns the hint off", (name) => {
  expect([isSilenced({ [name]: "1" }), isSilenced({ [name]: "" }), isSilenced({})]).toEqual([true, false, false]);
});
