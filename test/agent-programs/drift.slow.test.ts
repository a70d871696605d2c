/**
 * Programs of agents are kept from runs with real servers, and tested without them. Then the servers change. A program breaks in the test
 * or in the check if it really does something else with the changed server, and for that reason alone.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Drifted } from "../fixtures/drifted.ts";
import { claudikinsCommand } from "../support/command.ts";
import { runProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { type Kept, KeptPrograms, leavesOf, listsOf } from "./kept.ts";

setDefaultTimeout(300_000);

const names = [
  ...["a01", "a03", "a05", "a07", "a09", "a13", "a19", "a21", "a23", "a33", "a35", "a37", "a45", "a57", "a59"].map(
    (name) => `natural/${name}`,
  ),
  ...["b-cla-01", "b-gem-04", "b-gpt-05", "b-gpt-09", "b-py-12", "b-sml-03"].map((name) => `habits/${name}`),
  // They read page after page.
  "claude/cursor-generator",
  "small/while-pagination",
];

/** Places of a tool's results that are changed. */
const maxPlaces = 4;

let kept: KeptPrograms;
beforeAll(async () => {
  kept = await KeptPrograms.from(names);
});
afterAll(() => kept[Symbol.asyncDispose]());

test("50 replays pass on a machine without the servers, in other time zones, languages and folders", async () => {
  await kept.command("programs", "export", "--to", "out");
  let passed = 0;
  for (const [TZ, LANG] of [
    ["Asia/Kolkata", "de_DE.UTF-8"],
    ["America/St_Johns", "tr_TR.UTF-8"],
    ["Pacific/Chatham", "C"],
  ] as const) {
    using elsewhere = temporaryFolder();
    const home = join(elsewhere.path, "another home");
    elsewhere.write("another home/empty", "");
    const env = { PATH: "/nowhere", HOME: home, TZ, LANG, LC_ALL: LANG };
    const argv = ["programs", "test", "--all", "--from", join(kept.path, "out"), "--json"];
    const { stdout } = await runProgram([...claudikinsCommand, ...argv], { cwd: home, env });
    const { tests } = JSON.parse(stdout);
    expect(tests.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([]);
    passed += tests.length;
  }
  expect(passed).toBeGreaterThanOrEqual(50);
});

/** How many programs have broken in each way. */
const broken: Record<string, Set<string>> = {};

function count(way: string, name: string): void {
  broken[way] ??= new Set();
  broken[way].add(name);
}

describe.each(names)("%s", (name) => {
  const program = (): Kept => kept.all.get(name)!;
  /** Each tool that answered with a result, and one of these results. */
  const tools = () => {
    const { calls } = program().recording;
    const answered = calls.filter(({ server, raw, result }) => server !== "" && !raw && result !== undefined);
    return [...new Map(answered.toReversed().map((call) => [`${call.server}.${call.tool}`, call])).values()];
  };

  /** Whether the program really does something else. */
  async function breaks(server: string, tool: string, change: Drifted): Promise<boolean> {
    const before = await kept.really(program(), server, {});
    return !isDeepStrictEqual(before, await kept.really(program(), server, { [tool]: change }));
  }

  test("breaks if a field that it reads is renamed, or has another type", async () => {
    for (const { server, tool, result } of tools()) {
      for (const [place, value] of [...leavesOf(result)].slice(0, maxPlaces)) {
        const path = place.split(".");
        const other = typeof value === "string" ? 7 : "other";
        const shown = `${server}.${tool}: ${place.replaceAll(".*", "[*]")}`;
        const kinds = { string: "a text", number: "a number", boolean: "true or false" };
        const was = kinds[typeof value as "string"];
        const now = kinds[typeof other as "string"];
        const changes: [string, Drifted, string][] = [
          ["renamed", { kind: "renamed", path, to: "renamed" }, `${shown} is gone; it may be "renamed" now`],
          ["another type", { kind: "value", path, value: other }, `${shown} is ${now} now; it was ${was}`],
        ];
        for (const [way, change, text] of changes) {
          const isBroken = await breaks(server, tool, change);
          const found = await kept.reasons(program(), server, { [tool]: change });
          // The last page has no cursor.
          const reasons = found.map(({ text }) => text.replace("it was a text or null", "it was a text"));
          expect({ place, way, reasons }).toEqual({
            place,
            way,
            reasons: isBroken ? [text] : [],
          });
          if (!isBroken) continue;
          expect(found[0]?.line).toBeNumber();
          expect(found[0]?.effect).toMatch(
            /^(?:The program fails in line \d|output|logs|calls\[\d+\]|[\w.-]+ is (?:not )?called)/,
          );
          count(way, name);
        }
      }
    }
  });

  test("breaks if a tool vanishes, unless it expects that", async () => {
    for (const { server, tool } of tools()) {
      const found = await kept.reasons(program(), server, { [tool]: { kind: "gone" } });
      expect(found[0]).toMatchObject({
        tool: `${server}.${tool}`,
        text: expect.stringContaining(`${server}.${tool} does not exist any more`),
        effect: expect.any(String),
      });
      count("gone", name);
    }
  });

  test("says if a call that fails, an empty result or another order changes what it gives", async () => {
    for (const { server, tool, result } of tools()) {
      const lists = listsOf(result).map((place) => place.split("."));
      const changes: [string, Drifted][] = [
        ["fails", { kind: "fails", message: "The shop is closed" }],
        ...lists.flatMap((path): [string, Drifted][] => [
          ["empty", { kind: "value", path, value: [] }],
          ["order", { kind: "reversed", path }],
        ]),
        ...(typeof result === "string" ? [["empty", { kind: "value", path: [], value: "" }] as [string, Drifted]] : []),
      ];
      for (const [way, change] of changes) {
        const isBroken = await breaks(server, tool, change);
        const found = await kept.differences(program(), tool, { [tool]: change });
        expect({ tool, way, change, isBroken: found.length > 0, found: isBroken ? [] : found }).toEqual({
          tool,
          way,
          change,
          isBroken,
          found: [],
        });
        if (isBroken) count(way, name);
      }
    }
  });

  test("says if a list has another page", async () => {
    const { calls } = program().recording;
    const last = calls.findLastIndex(({ arguments: args }) => "cursor" in args);
    const { tool } = calls[last] ?? {};
    if (tool === undefined) return;
    const change = { kind: "added", key: "next_cursor", value: "another" } as const;
    const found = await kept.differences(program(), tool, { [tool]: change }, last);
    expect(found[0]).toMatchObject({
      kind: "new call",
      text: `demo.${tool} is called, which the recording does not have`,
    });
    count("page", name);
  });
});

test("programs have broken in each way", () => {
  console.log(
    Object.entries(broken)
      .map(([way, programs]) => `${way}: ${programs.size} programs`)
      .join(", "),
  );
  const least = { renamed: 15, "another type": 15, gone: 20, fails: 20, empty: 12, order: 5, page: 2 };
  for (const [way, number] of Object.entries(least)) {
    expect({ way, isOften: (broken[way]?.size ?? 0) >= number }).toEqual({ way, isOften: true });
  }
});
