/**
 * The quality of search, measured with recorded queries and the tools that answer them. `--corpus` names a folder with
 * one folder per data set, each with tools.jsonl and queries.jsonl. The data belongs to others and is not in this
 * repository.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RegistryIndex, RegistryTool } from "../../src/tools/model.ts";
import type { Other, Row } from "./report.ts";
import { eachOf, idOf } from "./search.ts";
import type { Measure } from "./section.ts";

interface Query {
  query: string;
  gold: { server: string; tool: string; alts?: { server: string; tool: string }[] }[];
}

export const measureQuality: Measure = async ({ corpus, folder }) => {
  if (corpus === undefined)
    return {
      rows: [],
      notes: ["Not measured: the recorded queries are not in this repository. Name their folder with --corpus."],
    };
  const sets = readdirSync(corpus).filter((name) => existsSync(join(corpus, name, "queries.jsonl")));
  if (sets.length === 0) throw new Error("--corpus has no folder with queries.jsonl and tools.jsonl");
  const rows = sets.sort().flatMap((name) => rowsOf(name, join(corpus, name), folder()));
  return {
    rows,
    notes: ["hit@k is the share of queries with a correct tool among the first k results. It is deterministic."],
  };
};

function rowsOf(name: string, from: string, folder: string): Row[] {
  const index = indexOf(linesOf(join(from, "tools.jsonl")));
  const queries = linesOf<Query>(join(from, "queries.jsonl"));
  const ranked = eachOf((open) => {
    const ask = open(index, folder);
    return queries.map(({ query }) => ask(query));
  });
  return [1, 5].map((count) => {
    const share = (answers: string[][]) =>
      answers.filter((ids, at) => isHit(ids.slice(0, count), queries[at]!)).length / queries.length;
    const { ours, ...others } = ranked;
    const value = share(ours);
    const beside = Object.entries(others).map(([peer, answers]): [string, Other] => {
      const theirs = share(answers);
      return [peer, { value: theirs, ratio: value / theirs }];
    });
    const what = `${name}, ${queries.length.toLocaleString("en")} queries: hit@${count}`;
    return { what, unit: "share", ours: value, others: Object.fromEntries(beside), counted: "once" };
  });
}

function isHit(ids: string[], { gold }: Query): boolean {
  const right = new Set(
    gold.flatMap((each) => [each, ...(each.alts ?? [])]).map(({ server, tool }) => idOf(server, tool)),
  );
  return ids.some((id) => right.has(id));
}

interface ToolLine {
  server: string;
  tool: string;
  title?: string;
  description?: string;
  inputSchema?: RegistryTool["inputSchema"];
  server_description?: string;
}

function indexOf(lines: ToolLine[]): RegistryIndex {
  const byServer = Map.groupBy(lines, ({ server }) => server);
  const servers = [...byServer].map(([name, tools]) => ({
    name,
    category: "",
    description: tools[0]?.server_description ?? "",
    folder: name,
    fingerprint: name,
    tools: tools.map(({ tool, title, description = "", inputSchema = {} }) => ({
      name: tool,
      ...(title === undefined ? {} : { title }),
      description,
      inputSchema,
    })),
  }));
  return { version: 1, servers };
}

function linesOf<T>(file: string): T[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
}
