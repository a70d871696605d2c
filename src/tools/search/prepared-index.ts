/** Prepares the search index of all tools, and keeps it in a file if that takes long. */
import { edenGC } from "bun:jsc";
import { join } from "node:path";
import { readIfThere, writeWhenChanged } from "../../base/files.ts";
import { version } from "../../base/version.ts";
import { minPreparedTools } from "../limits.ts";
import { type RegistryServer, type RegistryTool, toolId } from "../model.ts";
import { documentOf, meanLengths, strengthsOf } from "./document.ts";
import { type PostingEntry, postingEntries } from "./postings.ts";

/** Tools after which making the index collects its garbage. */
const collectedTools = 1_000;

/** A tool with its server. Its number is its place in the list. */
export interface NumberedTool {
  id: string;
  of: RegistryServer;
  tool: RegistryTool;
}

export interface Prepared {
  /** The stems of each tool's name, separated by spaces. */
  names: string[];
  /** Each tool's kind of act. */
  acts: (string | null)[];
  /** All words in names and descriptions, for spelling. */
  words: string[];
  postings: PostingEntry[];
}

export function prepare(tools: readonly NumberedTool[]): Prepared {
  const words = new Set<string>();
  const documents = tools.map(({ of, tool }, at) => {
    collectBefore(at);
    const { words: written, ...document } = documentOf(of, tool);
    for (const word of written) words.add(word);
    return document;
  });
  const means = meanLengths(documents);
  const strengths = documents.values().map((document, at) => {
    collectBefore(at);
    return strengthsOf(document, means);
  });
  return {
    names: documents.map(({ fields }) => fields.name.join(" ")),
    acts: documents.map(({ act }) => act ?? null),
    words: [...words],
    postings: postingEntries(strengths),
  };
}

/** The garbage of 10,000 tools would be 90 MB. Collecting what is new takes a few milliseconds. */
function collectBefore(tool: number): void {
  if (tool > 0 && tool % collectedTools === 0) edenGC();
}

export const preparedFileName = "search.json";

/** The tools of all servers, sorted by id, which gives them their numbers. */
export function listedTools(servers: readonly RegistryServer[]): NumberedTool[] {
  return servers
    .flatMap((of) => of.tools.map((tool) => ({ id: toolId(of.name, tool.name), of, tool })))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The version of the file. Increase it with every change of tokenizing, weights or tables. */
const format = 1;

/** Reads the file in the folder if it is of the same tools; else prepares them and writes the file. */
export function preparedIn(folder: string, tools: readonly NumberedTool[]): Prepared {
  if (tools.length < minPreparedTools) return prepare(tools);
  const path = join(folder, preparedFileName);
  const stamp = stampOf(tools);
  const kept = readKept(path, stamp);
  if (kept) return kept;
  const made = prepare(tools);
  write(path, stamp, made);
  return made;
}

/** Writes the file in the folder, unless it is of the same tools, or of so few that nobody would read it. */
export function keepPrepared(folder: string, tools: readonly NumberedTool[]): void {
  if (tools.length < minPreparedTools) return;
  const path = join(folder, preparedFileName);
  const stamp = stampOf(tools);
  if (!readKept(path, stamp)) write(path, stamp, prepare(tools));
}

function write(path: string, stamp: string, made: Prepared): void {
  try {
    writeWhenChanged(path, JSON.stringify({ stamp, ...made }));
  } catch {
    // Without the file, the next process prepares again.
  }
}

function readKept(path: string, stamp: string): Prepared | undefined {
  try {
    const text = readIfThere(path) ?? "";
    // A file of other tools is not parsed.
    return text.startsWith(JSON.stringify({ stamp }).slice(0, -1)) ? (JSON.parse(text) as Prepared) : undefined;
  } catch {
    return undefined;
  }
}

/** Identifies the tools by everything that is indexed. */
function stampOf(tools: readonly NumberedTool[]): string {
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
