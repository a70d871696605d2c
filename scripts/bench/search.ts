/** Search among ten thousand tools: the time until it is ready, the time of a query, and its memory. */
import { heapStats } from "bun:jsc";
import { Document } from "flexsearch";
import MiniSearch from "minisearch";
import type { RegistryIndex } from "../../src/tools/model.ts";
import { readIndex, writeIndex } from "../../src/tools/registry/store.ts";
import { listedTools, preparedIn } from "../../src/tools/search/prepared-index.ts";
import { ToolSearch } from "../../src/tools/search/tool-search.ts";
import { inTurn, percentile, type Times } from "./measure.ts";
import { rowOf, rowOfAll, under } from "./report.ts";
import { syntheticIndex, syntheticQueries } from "./search-corpus.ts";
import type { Measure } from "./section.ts";

/** Takes the index and a folder for stored files; returns a function that answers a query with the best tools. */
type Open = (index: RegistryIndex, folder: string) => (query: string) => string[];

const limit = 5;

export const idOf = (server: string, tool: string) => `${server} ${tool}`;

const opens: { ours: Open } & Record<string, Open> = {
  ours: (index, folder) => {
    const search = new ToolSearch(index, preparedIn(folder, listedTools(index.servers)));
    return (query) => search.search(query, limit).map(({ server, tool }) => idOf(server.name, tool.name));
  },
  flexsearch: (index) => {
    const documents = new Document({ document: { id: "id", index: ["name", "text"] } });
    const all = documentsOf(index);
    for (const each of all) documents.add(each);
    return (query) => {
      const found = documents.search(query, { limit, suggest: true }).flatMap(({ result }) => result);
      return [...new Set(found)].slice(0, limit).map((id) => all[Number(id)]!.of);
    };
  },
  minisearch: (index) => {
    const documents = new MiniSearch({ fields: ["name", "text"], searchOptions: { boost: { name: 3 } } });
    const all = documentsOf(index);
    documents.addAll(all);
    return (query) => {
      const found = documents.search(query).slice(0, limit);
      return found.map(({ id }) => all[id]!.of);
    };
  },
};

export const measureSearch: Measure = async ({ runs, rounds, folder: newFolder }) => {
  const folder = newFolder();
  writeIndex(folder, syntheticIndex().servers);
  const openRead = (open: Open) => open(readIndex(folder)!, folder);
  const first = msOf(() => openRead(opens.ours));
  const load = await inTurn(
    rounds(),
    eachOf((open) => async () => {
      // The garbage of others does not count.
      Bun.gc(true);
      return msOf(() => openRead(open));
    }),
  );
  const memory = eachOf((open) => heapMb(() => openRead(open)));
  const queries = syntheticQueries(500);
  const asks = eachOf(openRead);
  const asked = Array.from({ length: 30 * runs }, (_, number) => queries[number % queries.length]!);
  inBlocks(asks, asked);
  const times = inBlocks(asks, asked);
  const { ours, ...others } = memory;
  return {
    rows: [
      under(rowOf("10,000 tools, loaded from a file", load), 150),
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
      `The first load after a change, without the cached index, takes ${first.toFixed(0)} ms.`,
      "flexsearch and minisearch run with their defaults and two fields: the name, and the description with the parameters.",
    ],
  };
};

/** The number of queries that one contestant answers before the next one's turn. */
const block = 50;

/** Each contestant answers all queries, some at a time; its garbage is collected before the next one's turn. */
function inBlocks(asks: Record<string, (query: string) => unknown>, queries: string[]): Times {
  const times = Object.fromEntries(Object.keys(asks).map((name): [string, number[]] => [name, []])) as Times;
  for (let first = 0; first < queries.length; first += block) {
    for (const [name, ask] of Object.entries(asks)) {
      Bun.gc(true);
      for (const query of queries.slice(first, first + block)) times[name]!.push(msOf(() => ask(query)));
    }
  }
  return times;
}

export function eachOf<T>(make: (open: Open) => T): { ours: T } & Record<string, T> {
  const { ours, ...others } = opens;
  return { ours: make(ours), ...Object.fromEntries(Object.entries(others).map(([name, open]) => [name, make(open)])) };
}

function documentsOf({ servers }: RegistryIndex): { id: number; of: string; name: string; text: string }[] {
  return servers
    .flatMap((server) => server.tools.map((tool) => ({ server, tool })))
    .map(({ server, tool }, id) => {
      const parameters = Object.keys(Object(tool.inputSchema["properties"])).join(" ");
      return {
        id,
        of: idOf(server.name, tool.name),
        name: `${server.name} ${tool.name}`,
        text: `${tool.description} ${parameters}`,
      };
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
  // Keeps the objects alive until here.
  return kept ? after - before : 0;
}
