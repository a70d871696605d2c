/** The numbers that somebody might change stand where they are used, or in the `limits.ts` of a room if several files use them. Each has a comment that says what it limits. */
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

/** Values of settings that a config leaves out, and factors between units. */
const otherHomes = ["config/defaults.ts", "base/units.ts", "sandbox/guest/"];

describe("limits", () => {
  test("have a comment each, wherever they stand", () => {
    const uncommented = files
      .filter((file) => !otherHomes.some((home) => file.startsWith(home)))
      .flatMap((file) => {
        const text = textOf(file);
        return [...text.matchAll(declaration)]
          .filter(([, name = "", value = ""]) => hasNumber.test(value) && limitName.test(name))
          .filter(({ index }) => !/\*\/\n$|\/\/ [^\n]*\n$/.test(text.slice(0, index)))
          .map(([, name]) => `${file}: ${name}`);
      });
    expect(uncommented).toEqual([]);
  });

  test.each(files.filter(isLimits))("in %s are used by several files", (limits) => {
    const names = Array.from(textOf(limits).matchAll(/^export const (\w+)/gm), ([, name = ""]) => name);
    const others = files.filter((file) => file !== limits).map(textOf);
    const usedOnce = names.filter((name) => {
      const isUsed = new RegExp(`\\b${name}\\b`);
      return (
        others.filter((text) => isUsed.test(text)).length < 2 &&
        !isUsed.test(textOf(limits).replace(`const ${name} `, ""))
      );
    });
    expect(usedOnce).toEqual([]);
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
