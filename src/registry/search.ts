/** Ranks tools by words: a flexsearch index over their names, descriptions and parameters, nothing started. */
import { Document } from "flexsearch";
import { type RegistryIndex, type RegistryServer, type RegistryTool, toolId } from "./model.ts";

export interface Match {
  id: string;
  server: RegistryServer;
  tool: RegistryTool;
  /** For comparing matches of one query; higher is better. */
  score: number;
}

/** What a word counts for, by where it stands. */
const fields = { name: 4, title: 3, description: 2, parameters: 1, server: 2 } as const;
type Field = keyof typeof fields;

export class ToolSearch {
  readonly #tools = new Map<string, { server: RegistryServer; tool: RegistryTool }>();
  readonly #documents: Document;
  /** How many tools can be found. */
  readonly size: number;

  constructor(index: RegistryIndex) {
    this.#documents = new Document({
      tokenize: "forward",
      document: { id: "id", index: Object.keys(fields) },
    });
    for (const server of index.servers) {
      for (const tool of server.tools) {
        const id = toolId(server.name, tool.name);
        this.#tools.set(id, { server, tool });
        this.#documents.add({ id, ...documentOf(server, tool) });
      }
    }
    this.size = this.#tools.size;
  }

  /** The best matches, best first, ties by id. Every word counts by itself; rare words count more. */
  search(query: string, limit: number): Match[] {
    const scores = new Map<string, number>();
    for (const word of wordsOf(query)) {
      const found = this.#documents.search(word, { limit: this.size, suggest: false });
      const best = new Map<string, number>();
      for (const { field, result } of found) {
        const weight = fields[field as Field] ?? 1;
        for (const id of result) best.set(String(id), (best.get(String(id)) ?? 0) + weight);
      }
      const rarity = Math.log(1 + this.size / (1 + best.size));
      for (const [id, weight] of best) scores.set(id, (scores.get(id) ?? 0) + rarity * Math.sqrt(weight));
    }
    return [...scores]
      .sort(([idA, a], [idB, b]) => b - a || (idA < idB ? -1 : 1))
      .slice(0, limit)
      .map(([id, score]) => ({ id, score: Math.round(score * 1000) / 1000, ...this.#tools.get(id)! }));
  }
}

function documentOf(server: RegistryServer, tool: RegistryTool): Record<Field, string> {
  const properties = tool.inputSchema["properties"];
  const parameters = properties !== null && typeof properties === "object" ? Object.entries(properties) : [];
  return {
    name: plainWords(tool.name),
    title: plainWords(tool.title ?? ""),
    description: plainWords(tool.description),
    parameters: parameters.map(([name, schema]) => plainWords(`${name} ${descriptionOf(schema)}`)).join(" "),
    server: plainWords(`${server.name} ${server.category} ${server.description}`),
  };
}

function descriptionOf(schema: unknown): string {
  const text = schema !== null && typeof schema === "object" ? (schema as Record<string, unknown>)["description"] : "";
  return typeof text === "string" ? text : "";
}

const commonWords = new Set(
  "a an and are as at be by do for from get how i in is it me my of on or please the this that to want what with you your".split(
    " ",
  ),
);

/** The words of a query, each once; if all are common ones, those. */
function wordsOf(query: string): string[] {
  const all = [...new Set(plainWords(query).split(" ").filter(Boolean))];
  const telling = all.filter((word) => !commonWords.has(word));
  return telling.length > 0 ? telling : all;
}

/** `createIssue`, `create-issue` and `creating issues` meet in the same words. */
function plainWords(text: string): string {
  return text
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .map(stem)
    .join(" ");
}

/** Plural and verb endings off, where enough of the word stays. */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && word.endsWith("ing")) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith("ed")) return word.slice(0, -2);
  if (word.length > 4 && /(?:[sxz]|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
