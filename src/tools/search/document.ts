/** Turns a tool into terms with strengths: BM25F, with lengths normalised for each field. */
import { isObject, stringsIn } from "../../base/json-object.ts";
import type { RegistryServer, RegistryTool } from "../model.ts";
import { actOf, topicsOf } from "./thesaurus.ts";
import { commonWords, stemOf, wordsOf } from "./tokenize.ts";

/** Only this much of a description, and of all parameters together, is indexed. */
const maxIndexedChars = 4_000;

/** A term with this weight has half of the full strength. Repetitions add little. */
const termSaturation = 1;

/** The weight of a word in each field, and how much the length of the field lowers it. */
const fields = {
  name: { weight: 4, length: 0.3 },
  title: { weight: 2, length: 0.3 },
  /** The first sentence of the description says what the tool does. The rest explains how. */
  summary: { weight: 1.5, length: 0.5 },
  details: { weight: 0.7, length: 0.5 },
  parameters: { weight: 0.3, length: 0.6 },
  server: { weight: 3, length: 0.3 },
  about: { weight: 0.5, length: 0.6 },
  /** Consecutive words of the name. */
  pairs: { weight: 1, length: 0.3 },
} as const;
type Field = keyof typeof fields;
const fieldNames = Object.keys(fields) as Field[];

/** The stems of a tool, by field. */
type Fields = Pick<ToolDocument, "fields">;

export interface ToolDocument {
  /** The stems of each field, without common words. */
  fields: Record<Field, string[]>;
  /** The words of name and description, for spelling. */
  words: Iterable<string>;
  /** The kind of act, by the name or the first word of the description. */
  act: string | undefined;
}

export function documentOf(server: RegistryServer, tool: RegistryTool): ToolDocument {
  const description = tool.description.slice(0, maxIndexedChars);
  const summary = /^[\s\S]{20,}?[.!?。\n](?=\s|$)/.exec(description)?.[0] ?? description;
  const name = wordsOf(tool.name);
  const title = wordsOf(tool.title ?? "");
  const first = wordsOf(summary);
  const rest = wordsOf(description.slice(summary.length));
  const nameStems = name.map(stemOf);
  return {
    fields: {
      name: nameStems,
      title: telling(title),
      summary: telling(first),
      details: telling(rest),
      parameters: telling(wordsOf(parametersText(tool))),
      server: telling(wordsOf(server.name)),
      pairs: nameStems.slice(1).map((stem, at) => `${nameStems[at]} ${stem}`),
      about: telling(wordsOf(`${server.category} ${server.description.slice(0, maxIndexedChars)}`)),
    },
    words: [...name, ...title, ...first, ...rest],
    act: nameStems.map(actOf).find((act) => act !== undefined) ?? (first[0] && actOf(stemOf(first[0]))),
  };
}

/** The stems of the words that are not common. */
export function tellingWords(text: string): string[] {
  return telling(wordsOf(text));
}

function telling(words: string[]): string[] {
  return words.filter((word) => !commonWords.has(word)).map(stemOf);
}

function parametersText({ inputSchema: { properties } }: RegistryTool): string {
  if (!isObject(properties)) return "";
  const texts = Object.entries(properties).map(([name, schema]) => {
    const { description, enum: values } = isObject(schema) ? schema : {};
    return [name, ...stringsIn([description]), ...stringsIn(values)].join(" ");
  });
  return texts.join(" ").slice(0, maxIndexedChars);
}

/** The mean number of words in each field. */
export function meanLengths(documents: readonly Fields[]): Record<Field, number> {
  const means = Object.fromEntries(fieldNames.map((field) => [field, 0])) as Record<Field, number>;
  for (const document of documents) for (const field of fieldNames) means[field] += document.fields[field].length;
  for (const field of fieldNames) means[field] = means[field] / documents.length || 1;
  return means;
}

/** The strength of each term from 0 to 1, including the terms of its topics. */
export function strengthsOf({ fields: words }: Fields, means: Record<Field, number>): Map<string, number> {
  const strengths = new Map<string, number>();
  for (const field of fieldNames) {
    if (words[field].length === 0) continue;
    const { weight, length } = fields[field];
    // Both parts of a description share one length.
    const share =
      field === "summary" || field === "details"
        ? (words.summary.length + words.details.length) / (means.summary + means.details)
        : words[field].length / means[field];
    const each = weight / (1 - length + length * share);
    for (const stem of words[field]) strengths.set(stem, (strengths.get(stem) ?? 0) + each);
  }
  const topics = new Map<string, number>();
  for (const [stem, weight] of strengths) {
    const strength = weight / (termSaturation + weight);
    strengths.set(stem, strength);
    const ofStem = topicsOf(stem);
    for (const topic of ofStem) topics.set(topic, (topics.get(topic) ?? 0) + strength / ofStem.length);
  }
  for (const [topic, weight] of topics) strengths.set(topic, weight / (termSaturation + weight));
  return strengths;
}
