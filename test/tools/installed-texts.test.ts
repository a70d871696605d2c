/** Our sections in files of the user are added, replaced and removed without other changes, and skills are recognised. */
import { describe, expect, test } from "bun:test";
import {
  markedSkill,
  originOfSkill,
  section,
  withoutSection,
  withSection,
} from "../../src/tools/registry/installed-texts.ts";

const body = "## Ours\n\n$& $1 text\n";

describe("a section", () => {
  const texts = ["", "abc", "abc\n", "abc\n\n", "a\r\nb", "a\r\nb\r\n", "a\r\n\r\n", "\n", "# Title\n\ntext $&\n\n\n"];

  test.each(texts)("in %j changes no other byte, and removing it restores the text", (text) => {
    const after = withSection(text, body) ?? "";
    expect(after).toStartWith(text);
    expect(after.replaceAll("\r\n", "\n")).toContain("$& $1 text\n<!-- claudikins end -->\n");
    expect(text.includes("\r\n") ? after.replaceAll("\r\n", "") : "").not.toContain("\n");
    expect(withoutSection(after)).toEqual({ text, file: true });
    // Adding it again changes nothing.
    expect(withSection(after, body)).toBe(after);
    // Another text replaces it, and removing that restores the file too.
    const newer = withSection(after, "## Newer\n") ?? "";
    expect(newer).not.toContain("Ours");
    expect(withoutSection(newer)).toEqual({ text, file: true });
  });

  test("has an empty line before it", () => {
    expect(withSection("abc", body)).toStartWith("abc\n\n<!-- claudikins begin 2");
    expect(withSection("abc\n", body)).toStartWith("abc\n\n<!-- claudikins begin 1");
    expect(withSection("abc\n\n", body)).toStartWith("abc\n\n<!-- claudikins begin 0");
  });

  test("is removed together with a new file", () => {
    const text = withSection(undefined, body) ?? "";
    expect(withoutSection(text)).toEqual({ text: "", file: false });
    expect(withoutSection(`${text}more\n`)).toEqual({ text: "more\n", file: true });
  });

  test("is removed from the middle of later text", () => {
    const after = `${withSection("before", body)}\nafter\n`;
    expect(withoutSection(after)).toEqual({ text: "before\n\n\nafter\n", file: true });
    expect(withSection(after, "## Newer")).toEndWith("## Newer\n<!-- claudikins end -->\n\nafter\n");
  });

  test("with unpaired or repeated marks is not changed", () => {
    const whole = section(body);
    for (const text of [whole.replace(/.*end -->/, ""), whole.replace(/.*begin.*/, ""), `${whole}\n${whole}`]) {
      expect([withSection(text, body), withoutSection(text)]).toEqual([undefined, undefined]);
    }
  });
});

test("a skill is ours until it is edited", () => {
  const text = markedSkill("---\nname: x\n---\n\n# Title\n");
  expect(text).toMatch(/^---\nname: x\n---\n<!-- claudikins skill [\da-f]{12}: [^\n]* -->\n\n# Title\n$/);
  expect(originOfSkill(text)).toBe("ours");
  expect(originOfSkill(text.replaceAll("\n", "\r\n"))).toBe("ours");
  expect(originOfSkill(`${text}more`)).toBe("changed");
  expect(originOfSkill("---\nname: x\n---\n")).toBe("foreign");
});
