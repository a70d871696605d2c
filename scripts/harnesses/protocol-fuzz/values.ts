/** Random schemas, lists of tools and results: mostly small and odd, sometimes of a harmful size or form. */
import { hostileLists } from "../../../test/hostile/lists.ts";
import { hostileResults } from "../../../test/hostile/results.ts";
import { hostileSchemas } from "../../../test/hostile/schemas.ts";
import type { Random } from "../random.ts";

const words = [
  "id",
  "name",
  "__proto__",
  "constructor",
  "toJSON",
  "a".repeat(300),
  "ünï",
  "x-y",
  "",
  "\u202e",
  "\u001b[2J",
  "then",
];
const patterns = ["^(a+)+$", "(.*)*x", "^\\p{L}+$", "(", "^(a|a)*$", "[", "^.{3,9}$"];

/** A random number of parts: mostly few, sometimes very many. */
function many(random: Random, most: number): number {
  return Math.floor(most ** random.next());
}

export function randomSchema(random: Random, depth = 4): unknown {
  if (depth === 0 || random.chance(0.1))
    return random.pick([{}, true, false, null, "string", 5, [], { type: "string" }]);
  const inner = () => randomSchema(random, depth - 1);
  const list = (most: number) => Array.from({ length: many(random, most) }, inner);
  const named = (most: number) =>
    Object.fromEntries(list(most).map((each, index) => [`${random.pick(words)}${index}`, each]));
  switch (random.below(14)) {
    case 0:
      return { type: "object", properties: named(200), required: [random.pick(words), "name0"] };
    case 1:
      return { anyOf: list(8) };
    case 2:
      return { oneOf: list(8), allOf: list(3) };
    case 3:
      return { type: "array", items: inner(), uniqueItems: random.chance(0.5) };
    case 4:
      return { type: "string", pattern: random.pick(patterns) };
    case 5:
      return { enum: Array.from({ length: many(random, 5_000) }, (_, index) => `${random.pick(words)}${index}`) };
    case 6:
      return {
        $ref: random.pick(["#", "#/$defs/a", "#/$defs/b", "#/nowhere", "https://example.com/x", "#/properties/x"]),
      };
    case 7:
      return { type: "object", patternProperties: { [random.pick(patterns)]: inner() }, additionalProperties: inner() };
    case 8:
      return { not: inner(), if: inner(), else: inner() };
    case 9:
      return {
        type: random.pick(["object", "nothing", 5, ["string", "null"]]),
        description: random.pick(words).repeat(many(random, 2_000)),
      };
    case 10:
      return {
        $defs: { a: inner(), b: inner() },
        type: "object",
        properties: { x: { $ref: "#/$defs/a" }, y: { $ref: "#/$defs/b" } },
      };
    case 11:
      return { const: inner(), default: inner(), examples: list(20) };
    case 12:
      return { type: "object", properties: { x: inner() }, unevaluatedProperties: false, dependentSchemas: named(20) };
    default:
      return { prefixItems: list(10), contains: inner(), minContains: random.below(5) };
  }
}

/** A page of `tools/list` as JSON text. */
export function randomList(random: Random): string {
  if (random.chance(0.01)) return random.pick(boundedLists)().next().value ?? "{}";
  const tools = Array.from({ length: many(random, 400) }, (_, index) => ({
    name: `${random.pick(words)}_${index}`,
    description: `${random.pick(words)} `.repeat(many(random, 500)),
    inputSchema: random.chance(0.3) ? randomSchema(random) : { type: "object" },
    ...(random.chance(0.1)
      ? { outputSchema: randomSchema(random), title: random.pick(words), annotations: randomSchema(random, 1) }
      : {}),
  }));
  return JSON.stringify({ tools: [{ name: "answer", inputSchema: { type: "object" } }, ...tools] });
}

/** Lists that end. */
const boundedLists = Object.entries(hostileLists).flatMap(([name, make]) =>
  name === "pages without end" ? [] : [make],
);

/** The result of a call as JSON text. */
export function randomResult(random: Random): string {
  if (random.chance(0.01)) return random.pick(Object.values(hostileResults))();
  const size = many(random, 20_000);
  switch (random.below(7)) {
    case 0:
      return JSON.stringify({ content: [{ type: "text", text: random.pick(words).repeat(size) }] });
    case 1:
      return `{"content":[],"structuredContent":${"[".repeat(size)}${"]".repeat(size)}}`;
    case 2:
      return JSON.stringify({
        content: Array.from({ length: size }, () =>
          random.pick([null, 5, { type: "text", text: "x" }, { type: random.pick(words) }]),
        ),
      });
    case 3:
      return JSON.stringify({
        isError: random.chance(0.5),
        content: [{ type: "text", text: random.pick(words).repeat(size) }],
      });
    case 4:
      return JSON.stringify({
        structuredContent: Object.fromEntries(Array.from({ length: size }, (_, i) => [`${random.pick(words)}${i}`, i])),
      });
    case 5:
      return JSON.stringify(randomSchema(random, 5) ?? {});
    default:
      return JSON.stringify({
        content: randomSchema(random, 3),
        structuredContent: randomSchema(random, 5),
        _meta: randomSchema(random, 2),
      });
  }
}

/** A hostile schema, with the source of its arguments. */
export function hostileSchema(random: Random) {
  return random.pick(Object.values(hostileSchemas))();
}

/** A long list of tools, within the limits or beyond them. */
export function largeList(random: Random): string {
  const count = random.pick([100, 1_000, 3_000, 5_000]);
  const chars = random.pick([0, 100, 100, 2_000]);
  const properties = random.pick([0, 0, 5, 100]);
  const mark = random.below(1_000_000);
  const inputSchema = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: properties }, (_, index) => [`p${index}`, { type: "string", description: `The ${index}` }]),
    ),
  };
  const tools = Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Does ${index} of ${mark}. ${"word ".repeat(chars / 5)}`,
    inputSchema: index % 10 === 0 ? inputSchema : { type: "object" },
  }));
  const own = ["answer", "ask", "flood"].map((name) => ({ name, inputSchema: { type: "object" } }));
  return JSON.stringify({ tools: [...own, ...tools] });
}
