/** Finds the values of an argument that only its description lists: "either 'pending' or 'paid'", "One of: asc, desc". */
import { isObject } from "../../base/json-object.ts";
import { maxDocDescriptionChars } from "../limits.ts";

/** Values that are listed in a description. A longer list is rather one of examples. */
const maxListedValues = 20;

const quotedValue = String.raw`(?:"[^"\n]{1,60}"|'[^'\n]{1,60}'|${"`[^`\\n]{1,60}`"}|“[^”\n]{1,60}”)`;
const remark = String.raw`(?:\s*\([^()]{1,80}\))?`;
const separator = String.raw`\s*(?:,\s*(?:or\s|and\s)?|[/|;]|\bor\b|\band\b)\s*`;
const quotedList = new RegExp(`${quotedValue}${remark}(?:${separator}${quotedValue}${remark})+`, "g");

const word = String.raw`[A-Za-z][\w-]*`;
const wordList = new RegExp(
  String.raw`${word}(?:(?:\s*[,|/]\s*(?:or\s+)?|\s+or\s+)${word})+(?=\s*(?:[.;)\]\n]|$))`,
  "g",
);
const pipedList = new RegExp(String.raw`(?<![\w|.{<-]\s?|/\()${word}(?:\s?\|\s?${word})+(?!\s?[\w|.<}-]|\)/)`, "g");

/** The words before a list that has all values. Words without quotes need a colon, too: "use either name or id" lists none. */
const listsAll =
  /(?:\b(?:either|(?:one|any) of(?: the following)?|(?:allowed|possible|valid|accepted|supported|available|permitted)(?: values| options)?(?: are)?|values|options|choices|enum|choose(?: from| between)?))\s*[:=(]?\s*$/i;
const isMeant =
  /(?:\b(?:must|should|can|may|has to|needs? to) be(?: set to)?|\b(?:is|are|accepts|takes)|^|[:(=–—]|\s-)\s*$/i;

/** Signs of examples, which leave other values open. */
const isExample = /\b(?:e\.g|i\.e|such as|for example|for instance|examples?|like|including|include)\b[^.;]*$/i;
const isOpenAfter =
  /^\s*\)?\s*,?\s*(?:etc\b|\.\.\.|…|an?\b|and (?:so|more|others?)\b|or (?:any\w*|an?|another|others?|custom|your|the)\b)/i;

/** Signs of JSON in the text. Strings in JSON are not a list of values. */
const isJsonBefore = /[{[:]\s*"[^.;]*$/;
const isJsonAfter = /^\s*[:}]/;

/** Words for types, and ids in a form such as `ord_0000`, which are no values. */
const noValue =
  /^(?:string|number|integer|boolean|null|none|undefined|object|array|list|any|true|false)$|\d{4}|[{}<>]/i;

/** Empty if the description lists none, or only examples. */
export function listedValues(schema: unknown): string[] {
  if (!isObject(schema) || typeof schema["description"] !== "string") return [];
  const text = schema["description"].slice(0, maxDocDescriptionChars);
  for (const { list, before, pattern } of listsIn(text)) {
    const after = text.slice(before.length + list.length);
    const isAll =
      pattern === pipedList ||
      (listsAll.test(before) && (pattern === quotedList || /[:=]\s*$/.test(before))) ||
      (pattern === quotedList && isMeant.test(before));
    if (!isAll || isExample.test(before) || isOpenAfter.test(after)) continue;
    if (isJsonBefore.test(before) || isJsonAfter.test(after)) continue;
    const found = pattern === quotedList ? quotedIn(list) : list.split(/\s*[,|/]\s*(?:or\s+)?|\s+or\s+/);
    const values = [...new Set(found)];
    if (values.length < 2 || values.length > maxListedValues || values.some((each) => noValue.test(each))) continue;
    return values;
  }
  return [];
}

function listsIn(text: string): { list: string; before: string; pattern: RegExp }[] {
  return [quotedList, wordList, pipedList].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({ list: match[0], before: text.slice(0, match.index), pattern })),
  );
}

/** The values without quotes and remarks. */
function quotedIn(list: string): string[] {
  return (list.replace(/\([^()]*\)/g, "").match(new RegExp(quotedValue, "g")) ?? []).map((each) => each.slice(1, -1));
}
