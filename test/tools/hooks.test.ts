/** Marks are recognised as words, and each text has exactly one. */
import { describe, expect, test } from "bun:test";
import { hookTexts, readmeMark } from "../../src/tools/registry/hook-texts.ts";
import { hookIn, markedHooks, markOf, withoutMark } from "../../src/tools/registry/hooks.ts";
import { cli } from "../cli/in-memory.ts";

test("markOf is recognised as a word anywhere in a text", () => {
  for (const hook of markedHooks) {
    const mark = markOf(hook);
    for (const text of [mark, `list orders ${mark}`, `// ${mark}\nreturn 1`, `/*${mark}*/`, `"${mark}"`, `${mark}.`])
      expect([text, hookIn(text)]).toEqual([text, hook]);
    for (const text of [`x${mark}`, `-${mark}`, `${mark}s`, `${mark}-x`, mark.toUpperCase(), mark.replace(":", ": ")])
      expect([text, hookIn(text)]).toEqual([text, undefined]);
  }
  expect(hookIn("via:email via:skill")).toBe("skill");
});

test("withoutMark removes the mark from a query", () => {
  expect(withoutMark("list orders via:skill")).toBe("list orders");
  expect(withoutMark("via:readme")).toBe("");
  expect(withoutMark("send via:email")).toBe("send via:email");
});

describe.each([...markedHooks])("the text %s", (hook) => {
  const text = hookTexts[hook];

  test("has its mark and no other", () => {
    const marks = new Set(text.match(/via:[\w-]+/g));
    expect([...marks]).toEqual([markOf(hook)]);
  });

  test("is short", () => {
    expect(text.length).toBeLessThan(2_000);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(160);
  });

  test("is printed unchanged", async () => {
    expect(await cli(["hooks", "print", hook])).toEqual({ exitCode: 0, stdout: text, stderr: "" });
  });
});

test("the skill has the fields that agents need, and the README has its mark", () => {
  expect(hookTexts.skill).toMatch(/^---\nname: claudikins\ndescription: .{20,200}\n---\n/);
  expect(hookTexts.readme).toStartWith(`${readmeMark}\n`);
});

test("an unknown text is refused", async () => {
  const { exitCode, stderr } = await cli(["hooks", "print", "claude"]);
  expect(exitCode).toBe(2);
  expect(stderr).toStartWith('error: skill print takes claude-md, skill or readme; got "claude"\n');
});
