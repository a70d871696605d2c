/** NaN, circles and the texts of what is no text, in what a program returned or logged. */
import type { Literal, Node } from "acorn";
import { objectsInTexts } from "./nan-causes.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Result } from "./warnings.ts";

/** What the guest says of a value, see guest/oddities.ts. */
export interface Notes {
  late: boolean;
  /** Properties that were read from promises of tools. */
  unawaited?: { tool: string; key: string }[];
  odd: { kind: string; path: string; count: number }[];
}

/** `explained` when a property is named already whose absence makes NaN. */
export function oddValues({ notes, json = "" }: Result, explained: boolean): string[] {
  const found = (notes?.odd ?? []).flatMap(({ kind, path, count }) => {
    const where = path === "" ? "the value" : `${path}${count > 1 ? ` and ${count - 1} more` : ""}`;
    const is = count > 1 ? "are" : "is";
    switch (kind) {
      case "circular":
        return `${where} ${is} circular, shown as "[Circular]": return ids there, not objects.`;
      case "NaN":
        return explained ? [] : `${where} ${is} NaN: something in the calculation is undefined or not a number.`;
      case "Infinity":
        return `${where} ${is} infinite: a division by 0, or the minimum or maximum of an empty list.`;
      case "function":
        return count > 1
          ? `${where} are functions that were not called: add () after their names.`
          : `${where} is a function that was not called: add () after its name.`;
      default:
        return [];
    }
  });
  if (explained) return found;
  const key = /"(undefined|NaN|\[object \w+\])":/.exec(json)?.[1];
  return key === undefined
    ? found
    : [...found, `the value has the key "${key}": the value it is grouped by is not a string there.`];
}

/** `Total: undefined`: in texts that the program made, of what no tool said. */
export function textOddities({ json = "", logs }: Result, around: Surroundings): string[] {
  const { calls } = around;
  const { tree } = around.values;
  const own = [
    ...tree.all<Literal>("Literal").map(({ raw }) => raw ?? ""),
    ...tree.all<Node & { value: { raw: string } }>("TemplateElement").map(({ value }) => value.raw),
  ].join("\n");
  const said = (word: string) =>
    own.includes(word) ||
    tree.nodes.some((node) => node.type === "Identifier" && tree.text(node) === word) ||
    calls.some(({ tool }) => around.resultsOf(tool).some((result) => JSON.stringify(result).includes(word)));
  for (const [pattern, word, advice] of oddTexts) {
    const line = logs.find(({ text, level }) => level !== "warn" && pattern.test(text))?.text;
    const place = line ?? textIn(json, pattern);
    if (place === undefined || said(word)) continue;
    const [cause] = word === "[object Object]" ? objectsInTexts(around) : [];
    if (cause !== undefined) return [`${cause}, which becomes the string "${word}": ${advice}`];
    const start = place.search(pattern);
    return [
      `"${place
        .slice(Math.max(0, start - 30), start + word.length + 10)
        .replace(/\s+/g, " ")
        .trim()}" in the output: ${advice}`,
    ];
  }
  return [];
}

const oddTexts: [RegExp, string, string][] = [
  [/\[object Promise\]/, "[object Promise]", "a promise became a string: await it."],
  [/\[object Object\]/, "[object Object]", "use one of its properties, or JSON.stringify(value)."],
  [/(?<![\w"'`])NaN(?![\w"'`])/, "NaN", "something in the calculation is undefined or not a number."],
];

/** Within a longer text of the value; alone it is told of elsewhere. */
function textIn(json: string, pattern: RegExp): string | undefined {
  if (json.length > 200_000) return undefined;
  for (const [text] of json.matchAll(/"(?:[^"\\]|\\.)*"(?!:)/g))
    if (text.length > 6 && pattern.test(text.slice(1, -1))) return text.slice(1, -1);
  return undefined;
}
