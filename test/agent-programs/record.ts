/**
 * Writes the outcomes into the files of programs, for review: `bun test/agent-programs/record.ts ours/pages`. Each
 * program also runs in Bun, and nothing is written if the two differ, unless `--write` confirms the outcome. With
 * `--look` nothing is written at all.
 */
process.env["TZ"] = "UTC";

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInBun } from "./in-bun.ts";
import { parseProgram, readPrograms, type Shown, settle, withOutcomes } from "./program.ts";
import { runProgram, SharedSandbox } from "./run.ts";

const sandbox = new SharedSandbox();
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const has = (flag: string) => process.argv.includes(flag);

for (const { name } of readPrograms().filter((each) => wanted.some((prefix) => each.name.startsWith(prefix)))) {
  const file = join(import.meta.dir, `${name}.md`);
  const text = readFileSync(file, "utf8");
  const program = parseProgram(name, text);
  const [here, inBun] = [await runProgram(program, sandbox), await runProgram(program, sandbox, runInBun)];
  const different = here.flatMap((shown, at) => differences(`step ${at + 1}`, shown, inBun[at] ?? {}));
  console.log(`${different.length === 0 ? "same" : "DIFFERENT"} ${name}: ${program.task}`);
  for (const each of different) console.log(each);
  if (has("--look")) console.log(withOutcomes(text, here).slice(text.indexOf("````")));
  else if (different.length === 0 || has("--write")) {
    // Handwritten patterns are kept.
    const kept = here.map((shown, at) => keepPatterns(shown, program.steps[at]?.expected ?? {}));
    writeFileSync(file, withOutcomes(text, kept));
  }
}
sandbox.end();

function differences(step: string, here: Shown, inBun: Shown): string[] {
  const kinds = new Set([...Object.keys(here), ...Object.keys(inBun)]);
  const plain = (text = "(nothing)") => text.replace(/^\[\w+\] /gm, "");
  return [...kinds]
    .filter((kind) => plain(here[kind]) !== plain(inBun[kind]))
    .map(
      (kind) => `--- ${step}, ${kind}\nsandbox: ${here[kind]?.slice(0, 1500)}\nBun:     ${inBun[kind]?.slice(0, 1500)}`,
    );
}

function keepPatterns(shown: Shown, expected: Shown): Shown {
  return Object.fromEntries(
    Object.entries(shown).map(([kind, body]) => [
      kind,
      settle(expected[kind] ?? "", body) === body ? (expected[kind] ?? body) : body,
    ]),
  );
}
