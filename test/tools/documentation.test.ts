/** The comments of generated types: the description and what the type cannot express. */
import { describe, expect, test } from "bun:test";
import { docComment } from "../../src/tools/types/documentation.ts";

describe("a comment", () => {
  test.each([
    [{ description: "Page size" }, "Page size"],
    [{ minimum: 1, maximum: 5 }, "1 to 5"],
    [{ description: "Page size", default: 20, minimum: 1 }, "Page size (default: 20; at least 1)"],
    [{ title: "Page size", maximum: 5 }, "Page size (at most 5)"],
    [{ description: "Page size", title: "Size" }, "Page size"],
    [{ exclusiveMinimum: 0, exclusiveMaximum: 1 }, "more than 0, less than 1"],
    [{ maximum: 5, exclusiveMinimum: 0 }, "at most 5, more than 0"],
    [{ minLength: 2 }, "at least 2 characters"],
    [{ minItems: 1, maxItems: 3 }, "1 to 3 items"],
    [{ type: "integer", multipleOf: 5 }, "multiple of 5; whole number"],
    [{ format: "date", pattern: "^2", deprecated: true }, "format: date; pattern: ^2; deprecated"],
  ])("says everything about %j once", (schema, text) => {
    expect(docComment(schema, "")).toBe(`/** ${text} */\n`);
  });

  test.each([
    [{}],
    [true],
    [{ type: "string" }],
    [{ description: " ", title: 5 }],
    [{ default: null, deprecated: false, minimum: "1" }],
  ])("is left out if %j says nothing", (schema) => {
    expect(docComment(schema, "")).toBe("");
  });

  test("keeps lines, without empty ones at its ends or several in a row", () => {
    expect(docComment({ description: "\n\na  \n\n\nb\u0000*/\n\n" }, "  ")).toBe(
      "  /**\n   * a\n   *\n   * b *\\/\n   */\n",
    );
  });

  test("shortens long descriptions and defaults, and never in the middle of a character", () => {
    const long = (text: string, count: number) => text.repeat(count);
    expect(docComment({ description: long("x", 500), default: 1 }, "")).toBe(
      `/** ${long("x", 399)}… (default: 1) */\n`,
    );
    expect(docComment({ default: long("x", 100) }, "")).toBe(`/** default: "${long("x", 58)}… */\n`);
    expect(docComment({ description: long("😀", 300) }, "")).toBe(`/** ${long("😀", 199)}… */\n`);
  });
});
