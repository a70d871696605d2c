/** Search over ten thousand tools: until it can be asked, how long a query takes, and what it keeps in memory. */
import { heapStats } from "bun:jsc";
import { Document } from "flexsearch";
import MiniSearch from "minisearch";
import type { RegistryIndex } from "../../src/registry/model.ts";
import { ToolSearch } from "../../src/registry/search.ts";
import { readIndex, writeIndex } from "../../src/registry/store.ts";
import { inTurn, percentile } from "./measure.ts";
import { rowOf, rowOfAll, under } from "./report.ts";
import { syntheticIndex, syntheticQueries } from "./search-corpus.ts";
import type { Measure } from "./section.ts";

/** Reads the index, and gives what answers a query. */
type Open = (folder: string) => (query: string) => unknown;

const limit = 5;

const opens: { ours: Open } & Record<string, Open> = {
  ours: (folder) => {
    const search = new ToolSearch(readIndex(folder)!, folder);
    return (query) => search.search(query, limit);
  },
  flexsearch: (folder) => {
    const documents = new Document({ document: { id: "id", index: ["name", "text"] } });
    for (const each of documentsOf(readIndex(folder)!)) documents.add(each);
    return (query) => documents.search(query, { limit, suggest: true });
  },
  minisearch: (folder) => {
    const documents = new MiniSearch({ fields: ["name", "text"], searchOptions: { boost: { name: 3 } } });
    documents.addAll(documentsOf(readIndex(folder)!));
    return (query) => documents.search(query).slice(0, limit);
  },
};

export const measureSearch: Measure = async ({ runs, folder: newFolder }) => {
  const folder = newFolder();
  writeIndex(folder, syntheticIndex().servers);
  const first = msOf(() => opens.ours(folder));
  const load = await inTurn(
    Math.min(runs, 5),
    eachOf((open) => async () => msOf(() => open(folder))),
  );
  const memory = eachOf((open) => heapMb(() => open(folder)));
  const queries = syntheticQueries(10 * runs + 1);
  const times = await inTurn(
    10 * runs,
    eachOf((open) => {
      const ask = open(folder);
      for (const query of queries.slice(0, 30)) ask(query);
      let next = 0;
      return async () => msOf(() => ask(queries[next++ % queries.length]!));
    }),
  );
  const { ours, ...others } = memory;
  return {
    rows: [
      under(rowOf("10,000 tools, from the file until ready", load), 150),
      under(rowOf("a query, p50", times), 5),
      rowOfAll("a query, p99", times, (values) => percentile(values, 0.99)),
      {
        what: "heap",
        unit: "MB",
        ours,
        others: Object.fromEntries(
          Object.entries(others).map(([name, value]) => [name, { value, ratio: ours / value }]),
        ),
        counted: "once",
      },
    ],
    notes: [
      `After a change, when nothing of it is kept yet, ready takes ${first.toFixed(0)} ms (here: the first in the process).`,
      "flexsearch and minisearch as they come, with names, descriptions and parameters as two fields.",
    ],
  };
};

function eachOf<T>(make: (open: Open) => T): { ours: T } & Record<string, T> {
  const { ours, ...others } = opens;
  return { ours: make(ours), ...Object.fromEntries(Object.entries(others).map(([name, open]) => [name, make(open)])) };
}

function documentsOf({ servers }: RegistryIndex): { id: number; name: string; text: string }[] {
  return servers
    .flatMap((server) => server.tools.map((tool) => ({ server, tool })))
    .map(({ server, tool }, id) => {
      const parameters = Object.keys(Object(tool.inputSchema["properties"])).join(" ");
      return { id, name: `${server.name} ${tool.name}`, text: `${tool.description} ${parameters}` };
    });
}

function msOf(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

function heapMb(open: () => unknown): number {
  const size = () => {
    Bun.gc(true);
    return heapStats().heapSize / 1_048_576;
  };
  const before = size();
  const kept = open();
  const after = size();
  // Alive until here.
  return kept ? after - before : 0;
}
