/** What is worked out of all tools before the first search, and the file it is kept in where that takes long. */
import { join } from "node:path";
import { readIfThere, writeWhenChanged } from "../../files.ts";
import { version } from "../../version.ts";
import { type RegistryServer, type RegistryTool, toolId } from "../model.ts";
import { documentOf, meanLengths, strengthsOf } from "./document.ts";
import { type ExportedIndex, exportedIndex } from "./postings.ts";

/** A tool with its server, in the order in which they are numbered. */
export interface ListedTool {
  id: string;
  of: RegistryServer;
  tool: RegistryTool;
}

export interface Prepared {
  /** Of each tool the stems of its name, with spaces between. */
  names: string[];
  /** Of each tool the kind of act it is for. */
  acts: (string | null)[];
  /** All words of names and descriptions, for spelling. */
  words: string[];
  postings: ExportedIndex;
}

export function prepare(tools: readonly ListedTool[]): Prepared {
  const documents = tools.map(({ of, tool }) => documentOf(of, tool));
  const means = meanLengths(documents);
  const words = new Set<string>();
  for (const document of documents) for (const word of document.words) words.add(word);
  return {
    names: documents.map(({ fields }) => fields.name.join(" ")),
    acts: documents.map(({ act }) => act ?? null),
    words: [...words],
    postings: exportedIndex(documents.map((document) => strengthsOf(document, means))),
  };
}

export const preparedFileName = "search.json";

/** With fewer tools it is made faster than it is read. */
export const minTools = 500;

/** The tools of all servers in the order in which they are numbered, by their ids. */
export function listedTools(servers: readonly RegistryServer[]): ListedTool[] {
  return servers
    .flatMap((of) => of.tools.map((tool) => ({ id: toolId(of.name, tool.name), of, tool })))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Another one, and what was kept is made anew: to be raised with every change of words, weights or tables. */
const format = 2;

/** As kept in the folder, if it was made of the very same tools; else made now, and kept for the next time. */
export function preparedIn(folder: string, tools: readonly ListedTool[]): Prepared {
  if (tools.length < minTools) return prepare(tools);
  const path = join(folder, preparedFileName);
  const stamp = stampOf(tools);
  const kept = readKept(path, stamp);
  if (kept) return kept;
  const made = prepare(tools);
  try {
    writeWhenChanged(path, JSON.stringify({ stamp, ...made }));
  } catch {
    // Then it is made again the next time, which is slower and nothing else.
  }
  return made;
}

function readKept(path: string, stamp: string): Prepared | undefined {
  try {
    const text = readIfThere(path) ?? "";
    // What was made of other tools need not be parsed.
    return text.startsWith(JSON.stringify({ stamp }).slice(0, -1)) ? (JSON.parse(text) as Prepared) : undefined;
  } catch {
    return undefined;
  }
}

/** The same for the same tools in the same order, whatever else is known of them. */
function stampOf(tools: readonly ListedTool[]): string {
  const indexed = tools.map(({ of, tool }) => [
    of.name,
    of.category,
    of.description,
    tool.name,
    tool.title,
    tool.description,
    tool.inputSchema["properties"],
  ]);
  return `${version} ${format} ${Bun.hash(JSON.stringify(indexed)).toString(36)}`;
}
