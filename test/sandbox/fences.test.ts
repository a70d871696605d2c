/** Code in Markdown fences. */
import { describe, expect, test } from "bun:test";
import { onlyFence, withoutFences } from "../../src/sandbox/code/transpile.ts";

describe("a text that is one fence", () => {
  test.each([
    ["```\na\n```", "\na"],
    ["```ts\na\nb\n```\n\n", "\na\nb"],
    [" \n~~~ts title=x\na\n~~~", "\n\na"],
    ["```\n```", "\n"],
    ["```\na```", "\na"],
  ])("%j gives its code, on the same lines", (text, code) => {
    expect(withoutFences(text)).toBe(code);
  });

  test.each(["a", "", "```", "```ts", "```\n", "```ts\nreturn 5", "```\na\n~~~", "x\n```\na\n```", "```\na\n```\nx"])(
    "%j is left as it is, because it is not one",
    (text) => {
      expect(withoutFences(text)).toBe(text);
    },
  );

  test("has no first line that names a program", () => {
    expect(withoutFences("#!/usr/bin/env node\nreturn 1")).toBe("\nreturn 1");
  });
});

describe("the only fence", () => {
  test.each([
    ["x\n```ts\na\n```\ny", "\n\na\n"],
    ["  ```\na\nb\n  ```  ", "\na\nb\n"],
    ["```\n```", "\n"],
  ])("is found in %j, on the same lines", (text, code) => {
    expect(onlyFence(text)).toEqual({ code });
  });

  test.each(["", "a", "```\na", "```\na\n```\n```\nb\n```", "x ``` y\n```"])("is not found in %j", (text) => {
    expect(onlyFence(text)).toBeUndefined();
  });

  test("is not looked for far behind the beginning of a line", () => {
    expect(onlyFence(`${" ".repeat(300)}\`\`\`\na\n\`\`\``)).toBeUndefined();
  });
});
