/** Numbers of JSON that JavaScript cannot hold. */
import { describe, expect, test } from "bun:test";
import {
  copyExact,
  exactDigits,
  isExactText,
  mayHaveExact,
  numberInText,
  parsedExact,
  parseExact,
  withExactTexts,
} from "../../src/base/exact-json.ts";

const lost = [
  ...["9007199254740992", "9007199254740993", "-9007199254740993", "17269385823764501234", "10000000000000000000"],
  ...["0.1234567890123456789", "12345678901234567.89", "3.3333333333333333", "-0.10000000000000000001"],
  ...["9007199254740993.0", "90071992547409930e-1", "1e400", "-1e400", "1E+999", "1e-400", "1.2345678901234567891e5"],
];
const held = [
  ...["0", "-0", "1.10", "100.0", "1E5", "1e21", "1e308", "5e-324", "0.30000000000000004", "9007199254740991"],
  ...[
    "-9007199254740991",
    "36.6000000000000000000000",
    "0.000000000000000000000001",
    "0e999",
    "1.7976931348623157e308",
  ],
];

describe("a number", () => {
  test.each(lost)("%s keeps its digits, and is a text for programs", (digits) => {
    const json = `{"a":[${digits},1],"b":"x"}`;
    expect(mayHaveExact(json)).toBe(true);
    expect(JSON.stringify(parseExact(json))).toBe(json);
    expect(JSON.stringify(copyExact(parseExact(json)))).toBe(json);
    expect(exactDigits((parseExact(json) as { a: unknown[] }).a[0])).toBe(digits);
    expect(withExactTexts(json)).toBe(`{"a":["${digits}",1],"b":"x"}`);
    expect(withExactTexts(digits)).toBe(`"${digits}"`);
    expect(isExactText(digits)).toBe(true);
    expect(numberInText(digits)).toBeUndefined();
  });

  test.each(held)("%s stays a number", (digits) => {
    const json = `{ "a" : ${digits} }`;
    expect(mayHaveExact(json)).toBe(false);
    expect(parseExact(json)).toEqual({ a: Number(digits) });
    expect(withExactTexts(json)).toBe(json);
    expect(isExactText(digits)).toBe(false);
  });

  test("in a text stays as it is", () => {
    const json = JSON.stringify({
      a: 'id: 17269385823764501234, "b": [17269385823764501234]',
      'k\\"17269385823764501234': 1,
    });
    expect(withExactTexts(json)).toBe(json);
    expect(JSON.stringify(parseExact(json))).toBe(json);
    const both = `${json.slice(0, -1)},"id":17269385823764501234}`;
    expect(withExactTexts(both)).toBe(`${json.slice(0, -1)},"id":"17269385823764501234"}`);
  });

  test("in every place and spelling of JSON is found", () => {
    const id = "17269385823764501234";
    for (const json of [
      `[${id}]`,
      `[1,${id}]`,
      `{"a":\n\t${id}\r\n}`,
      `  ${id}`,
      `{"__proto__":${id}}`,
      `[[[-${id}]]]`,
    ]) {
      expect(JSON.parse(withExactTexts(json))).toEqual(JSON.parse(json.replace(/-?\d{9,}/, '"$&"')));
    }
  });
});

test("text that is not JSON stays invalid", () => {
  for (const text of [
    "[1.2.3.4.5.6.7.8.9.1234]",
    "[17269385823764501234",
    "[--17269385823764501234]",
    "[1-17269385823764501234]",
  ])
    expect(parsedExact(text)).toBeUndefined();
});

test("an object that looks like a kept number is an ordinary object", () => {
  const value = parseExact('{"rawJSON":"1","id":17269385823764501234}') as object;
  expect(exactDigits(value)).toBeUndefined();
  expect(JSON.stringify(value)).toBe('{"rawJSON":"1","id":17269385823764501234}');
});
