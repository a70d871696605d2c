import { describe, expect, test } from "bun:test";
import { exactNumber } from "../../../src/base/exact-json.ts";
import { inHeader, inPath, queryParts } from "../../../src/sources/openapi/serialize.ts";

/** The values of the table "Style Examples" of OpenAPI 3.1.1. */
const values = { empty: "", text: "blue", list: ["blue", "black", "brown"], object: { R: 100, G: 200, B: 150 } };
type Kind = keyof typeof values;

const table: [style: string, explode: boolean, Record<Kind, string | undefined>][] = [
  [
    "matrix",
    false,
    { empty: ";color=", text: ";color=blue", list: ";color=blue,black,brown", object: ";color=R,100,G,200,B,150" },
  ],
  [
    "matrix",
    true,
    {
      empty: ";color=",
      text: ";color=blue",
      list: ";color=blue;color=black;color=brown",
      object: ";R=100;G=200;B=150",
    },
  ],
  ["label", false, { empty: ".", text: ".blue", list: ".blue,black,brown", object: ".R,100,G,200,B,150" }],
  ["label", true, { empty: ".", text: ".blue", list: ".blue.black.brown", object: ".R=100.G=200.B=150" }],
  ["simple", false, { empty: "", text: "blue", list: "blue,black,brown", object: "R,100,G,200,B,150" }],
  ["simple", true, { empty: "", text: "blue", list: "blue,black,brown", object: "R=100,G=200,B=150" }],
  [
    "form",
    false,
    { empty: "color=", text: "color=blue", list: "color=blue,black,brown", object: "color=R,100,G,200,B,150" },
  ],
  [
    "form",
    true,
    { empty: "color=", text: "color=blue", list: "color=blue&color=black&color=brown", object: "R=100&G=200&B=150" },
  ],
  [
    "spaceDelimited",
    false,
    {
      empty: undefined,
      text: undefined,
      list: "color=blue%20black%20brown",
      object: "color=R%20100%20G%20200%20B%20150",
    },
  ],
  [
    "pipeDelimited",
    false,
    {
      empty: undefined,
      text: undefined,
      list: "color=blue%7Cblack%7Cbrown",
      object: "color=R%7C100%7CG%7C200%7CB%7C150",
    },
  ],
  [
    "deepObject",
    true,
    {
      empty: undefined,
      text: undefined,
      list: undefined,
      object: "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
    },
  ],
];

describe("values are written as the table of the standard says", () => {
  for (const [style, explode, expected] of table) {
    test(`${style}${explode ? ", exploded" : ""}`, () => {
      const written = { name: "color", style: style as "form", explode };
      const isOfPath = ["matrix", "label", "simple"].includes(style);
      for (const [kind, text] of Object.entries(expected)) {
        const value = values[kind as Kind];
        if (text === undefined) continue;
        expect(isOfPath ? inPath(value, written) : queryParts(value, written).join("&")).toBe(text);
      }
    });
  }
});

test("everything but letters, digits and -._~ is encoded", () => {
  expect(inPath("a/b c?d#e&f=g!'()*", { name: "x", style: "simple", explode: false })).toBe(
    "a%2Fb%20c%3Fd%23e%26f%3Dg%21%27%28%29%2A",
  );
});

test("reserved characters stay where the document says so, except those that would end the value", () => {
  const written = { name: "q", style: "form", explode: true, allowReserved: true } as const;
  expect(queryParts("a/b:c@d&e#f+g", written)).toEqual(["q=a/b:c@d%26e%23f%2Bg"]);
});

test("nested objects and lists are in brackets", () => {
  const value = { card: { number: "4242" }, items: [{ price: "p1" }, { price: "p2" }] };
  expect(queryParts(value, { name: "data", style: "deepObject", explode: true }).map(decodeURIComponent)).toEqual([
    "data[card][number]=4242",
    "data[items][0][price]=p1",
    "data[items][1][price]=p2",
  ]);
});

test("large integers keep their digits", () => {
  expect(queryParts(exactNumber("9007199254740993"), { name: "id", style: "form", explode: true })).toEqual([
    "id=9007199254740993",
  ]);
});

test("a list in a header is separated by commas", () => {
  expect(inHeader(["a", "b c"], { explode: false })).toBe("a,b c");
  expect(inHeader({ R: 1, G: 2 }, { explode: true })).toBe("R=1,G=2");
});
