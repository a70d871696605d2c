/** What every execution must find, whatever ran before it: correct results, and unchanged globals. */

/** Lists everything reachable from the global object: names, flags, kinds and texts. */
const fingerprint = `
  const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const numbers = new Map();
  const found = [];
  const numberOf = (value) => {
    if (!numbers.has(value)) { numbers.set(value, numbers.size); found.push(value); }
    return numbers.get(value);
  };
  const shown = (value) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function"))
      return typeof value === "number" ? "number" : String(value);
    return "#" + numberOf(value);
  };
  const flags = (each) => [each.writable, each.enumerable, each.configurable].map(Number).join("");
  const lines = [];
  numberOf(globalThis);
  for (let at = 0; at < found.length; at++) {
    const object = found[at];
    const lineOf = (key) => {
      const each = getOwnPropertyDescriptor(object, key);
      const value = "value" in each ? shown(each.value) : "get " + shown(each.get) + " set " + shown(each.set);
      return String(key) + " " + flags(each) + " " + value;
    };
    lines.push([at, typeof object, Object.isExtensible(object), shown(getPrototypeOf(object)), ...ownKeys(object).map(lineOf)].join("|"));
  }
  return lines.join("\\n");
`;

/** Its value is the same in every execution that starts like new. */
export const probe = `
  const answers = [[1, 2].map((n) => n * 2), (await test.echo({ a: 6 })).a, typeof Math.random(), [3, 1, 2].sort().join()];
  const timed = await new Promise((resolve) => setTimeout(resolve, 1, "timed"));
  const world = (() => { ${fingerprint} })();
  return { answers, timed, world };
`;

/** The difference between two values of the probe, on one line; undefined if they are equal. */
export function difference(expected: unknown, found: unknown): string | undefined {
  const [wanted, given] = [expected, found].map((value) => JSON.stringify(value) ?? "undefined");
  if (wanted === given) return undefined;
  const [wantedLines, givenLines] = [wanted, given].map((text = "") => text.split("\\n"));
  const at = wantedLines?.findIndex((line, index) => line !== givenLines?.[index]) ?? 0;
  return `expected ${wantedLines?.[at]?.slice(0, 400)}, found ${givenLines?.[at]?.slice(0, 400)}`;
}
