/** Says whether a value fits a schema of a document. Formats are not checked, and a value may fit several options of a choice. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type OpenDocument, type Place } from "./document.ts";
import { regExpOf } from "./pattern-text.ts";
import { fitsType, type Merged, merged } from "./schemas.ts";

export interface Problem {
  pointer: string;
  text: string;
}

/** Levels of a value. */
const maxLevels = 40;

/** `weight` says how much a problem counts where one option of a choice is compared with others. */
export function problemsOf(
  document: OpenDocument,
  place: Place,
  value: unknown,
  weight: (problem: Problem) => number,
  pointer = "",
  level = 0,
): Problem[] {
  if (level > maxLevels) return [];
  const schema = merged(document, place);
  const sum = (problems: Problem[]) => problems.reduce((all, each) => all + weight(each), 0);
  const inner = (each: Place, part: unknown, key: string | number) =>
    problemsOf(document, each, part, weight, `${pointer}/${key}`, level + 1);
  if (value === null && schema.isNullable) return [];
  const problems = keywordProblems(schema, value).map((text) => ({ pointer, text }));
  if (Array.isArray(value) && schema.items)
    problems.push(...value.flatMap((each, at) => inner(schema.items!, each, at)));
  if (isRecord(value)) {
    for (const name of schema.required)
      if (!(name in value) && !isReadOnly(document, schema, name))
        problems.push({ pointer: `${pointer}/${name}`, text: "is missing" });
    for (const [name, each] of Object.entries(value)) {
      const property = schema.properties.get(name);
      if (property) problems.push(...inner(property, each, name));
      else if (typeof schema.additional === "object") problems.push(...inner(schema.additional, each, name));
      else if (schema.additional === false && schema.choices.length === 0 && !schema.required.has(name))
        problems.push({ pointer: `${pointer}/${name}`, text: "is not in the document" });
    }
  }
  for (const options of schema.choices) {
    const found = options.map((option) => problemsOf(document, option, value, weight, pointer, level + 1));
    if (found.every(({ length }) => length > 0))
      problems.push(...found.toSorted((one, other) => sum(one) - sum(other))[0]!);
  }
  return problems;
}

function isReadOnly(document: OpenDocument, { properties }: Merged, name: string): boolean {
  const property = properties.get(name);
  return property !== undefined && merged(document, property).keywords["readOnly"] === true;
}

function keywordProblems({ keywords, types, properties }: Merged, value: unknown): string[] {
  const problems: string[] = [];
  const expect = (isRight: boolean, text: string) => {
    if (!isRight) problems.push(text);
  };
  if (types.length > 0) expect(fitsType(types, value), `is no ${types.join(" or ")}`);
  else if (properties.size > 0) expect(isRecord(value), "is no object");
  const { enum: values, pattern } = keywords;
  if (Array.isArray(values) && values.some((each) => fitsType(types, each)))
    expect(
      values.some((each) => isDeepStrictEqual(each, value)),
      "is none of the values",
    );
  if (keywords["const"] !== undefined) expect(isDeepStrictEqual(keywords["const"], value), "is not the value");
  const size = typeof value === "number" ? value : undefined;
  const length = typeof value === "string" ? [...value].length : undefined;
  const count = Array.isArray(value) ? value.length : undefined;
  const bounds: [least: string, most: string, size: number | undefined][] = [
    ["minimum", "maximum", size],
    ["minLength", "maxLength", length],
    ["minItems", "maxItems", count],
  ];
  for (const [least, most, actual] of bounds) {
    const [from, to] = [keywords[least], keywords[most]];
    if (actual === undefined) continue;
    if (typeof from === "number") expect(actual >= from, `is below ${least}`);
    if (typeof to === "number") expect(actual <= to, `is above ${most}`);
  }
  if (typeof pattern === "string" && typeof value === "string")
    expect(regExpOf(pattern)?.test(value) !== false, "does not match the pattern");
  return problems;
}
