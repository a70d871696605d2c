/** The numbers that somebody might change stand in the `limits.ts` of their room, each with a comment that says what it limits. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";

const source = join(root, "src");
const files = (readdirSync(source, { recursive: true }) as string[])
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.tsx?$/.test(name));
const textOf = (file: string) => readFileSync(join(source, file), "utf8");
const isLimits = (file: string) => /^[^/]+\/limits\.ts$/.test(file);

/** `const name = 4 * 1_048_576;` at the beginning of a line. */
const declaration = /^(?:export )?const (\w+)(?:: number)? = ([\w.]+(?:\s*[*+/-]\s*[\w.]+)*);/gm;
const hasNumber = /(?<![\w.])\d/;

/** The names of numbers that limit something: by their unit, or by what they begin with. */
const limitName =
  /^(?:max|min|default|longest|shortest)[A-Z]|(?:Ms|Seconds|Days|Bytes|Chars|Tokens|Depth|Levels|Share|AtOnce|Burst|PerSecond)$/;

/** Numbers with such a name that a protocol, a format or the system sets. */
const setElsewhere: Record<string, string> = {
  "base/time-limit.ts: maxTimerMs": "the longest delay of setTimeout",
  "config/cel/time.ts: longestDuration": "the longest duration of CEL",
  "base/seal.ts: keyBytes": "a key of AES-256",
  "base/seal.ts: nonceBytes": "a nonce of GCM",
  "base/seal.ts: tagBytes": "a tag of GCM",
  "sandbox/engine/engine.ts: pageBytes": "WebAssembly's pages",
  "sandbox/engine/engine.ts: staticBytes": "where QuickJS keeps its static data",
  "sandbox/engine/remembered.ts: pageBytes": "the format of images",
  "sandbox/engine/remembered.ts: systemPageBytes": "the pages of the system",
  "serve/surface-tokens.ts: definitionTokens": "measured; a test counts them",
  "servers/process-group.ts: limitsBytes": "a structure of Windows",
};

/** Values of settings that a config leaves out, factors between units, and the guest, whose script must not change lightly. */
const otherHomes = ["config/defaults.ts", "base/units.ts", "sandbox/guest/"];

describe("limits", () => {
  const found = files
    .filter((file) => !isLimits(file) && !otherHomes.some((home) => file.startsWith(home)))
    .flatMap((file) =>
      [...textOf(file).matchAll(declaration)]
        .filter(([, name = "", value = ""]) => hasNumber.test(value) && limitName.test(name))
        .map(([, name]) => `${file}: ${name}`),
    );

  test("stand in the limits.ts of their room, unless a protocol, a format or the system sets them", () => {
    // Move a number that is listed here to the limits.ts of its room, or add it to `setElsewhere`.
    expect(found.filter((each) => setElsewhere[each] === undefined)).toEqual([]);
    expect(Object.keys(setElsewhere).filter((each) => !found.includes(each))).toEqual([]);
  });

  test.each(files.filter(isLimits))("in %s have a comment each, and nothing else is there", (file) => {
    const text = textOf(file);
    const uncommented = text.matchAll(/(?<!\*\/\n)^export const (\w+)/gm);
    expect(Array.from(uncommented, ([, name]) => name)).toEqual([]);
    const imports = text.matchAll(/from "([^"]+)"/g);
    expect(Array.from(imports, ([, to = ""]) => to).filter((to) => !/\/(?:limits|units)\.ts$/.test(to))).toEqual([]);
    expect(text).not.toMatch(/\bfunction\b|=>|^(?:class|let|const|export (?!const\b))/m);
  });

  test("are used", () => {
    const all = files.filter(isLimits).flatMap((file) => {
      const names = Array.from(textOf(file).matchAll(/^export const (\w+)/gm), ([, name = ""]) => name);
      return names.map((name) => ({ file, name }));
    });
    const words = new Map<string, number>();
    for (const file of files) {
      for (const word of new Set(textOf(file).match(/\b[a-z]\w+/g))) words.set(word, (words.get(word) ?? 0) + 1);
    }
    const unused = all.filter(
      ({ file, name }) => words.get(name) === 1 && textOf(file).split(new RegExp(`\\b${name}\\b`)).length === 2,
    );
    expect(unused).toEqual([]);
  });
});
