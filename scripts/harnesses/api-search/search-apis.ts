/** Asks the search the questions, over all operations of the documents together. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readApi } from "../../../src/sources/openapi/api-in-worker.ts";
import type { RegistryServer } from "../../../src/tools/model.ts";
import { listedTools, preparedIn } from "../../../src/tools/search/prepared-index.ts";
import { ToolSearch } from "../../../src/tools/search/tool-search.ts";
import { documentsFolder, realDocuments } from "../../sources.ts";
import { type Question, questions } from "./questions.ts";

/** Results that count. */
const limit = 5;

export interface Answers {
  operations: number;
  asked: number;
  /** Questions with a right tool among the first five. */
  hits: number;
  missed: { question: string; wanted: string; found: string[] }[];
}

/** The documents that are not there. */
export function absentDocuments(): string[] {
  return Object.keys(questions).filter((name) => !existsSync(fileOf(name)));
}

const fileOf = (name: string) => join(documentsFolder, realDocuments.find(([each]) => each === name)![1]);

export async function searchApis(folder: string): Promise<Answers> {
  const servers: RegistryServer[] = [];
  const operations = new Map<string, string>();
  for (const name of Object.keys(questions)) {
    const api = await readApi({
      document: fileOf(name),
      cacheFolder: join(folder, "cache"),
      signal: new AbortController().signal,
    });
    for (const { name: tool, method, path } of api.operations) operations.set(`${name}.${tool}`, `${method} ${path}`);
    servers.push({
      name,
      category: "",
      description: api.title,
      folder: name,
      fingerprint: name,
      tools: api.tools.map(({ name: tool, title, description = "", inputSchema }) => ({
        name: tool,
        ...(title === undefined ? {} : { title }),
        description,
        inputSchema,
      })),
    } as RegistryServer);
  }
  const search = new ToolSearch({ version: 1, servers }, preparedIn(folder, listedTools(servers)));
  const all = Object.values(questions).flat();
  const missed = all.flatMap(([question, ...wanted]: Question) => {
    const ids = search.search(question, limit).map(({ server, tool }) => `${server.name}.${tool.name}`);
    const isHit = ids.some((id) => wanted.includes(operations.get(id) ?? ""));
    return isHit ? [] : [{ question, wanted: wanted.join(" or "), found: ids }];
  });
  const known = new Set(operations.values());
  const unknown = all.flatMap(([, ...wanted]) => (wanted.some((each) => known.has(each)) ? [] : [wanted.join(" or ")]));
  if (unknown.length > 0) throw new Error(`The documents do not have ${unknown.join(", ")}`);
  return { operations: operations.size, asked: all.length, hits: all.length - missed.length, missed };
}
