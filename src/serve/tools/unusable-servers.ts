/** What a search says about servers that are down or silent: each once in a session, and again if the search is about it. */

import type { App } from "../../app/app.ts";
import { didYouMean } from "../../base/near-names.ts";
import { type DownServer, downServers, downText, heldLines } from "../../tools/search/down-servers.ts";
import { filtersOf } from "../../tools/search/query.ts";

/** Servers that an error names. */
const maxDownNames = 30;

/** The servers that a search is restricted to. */
export interface Concerned {
  /** Configured servers; undefined if some need is not restricted. */
  servers: string[] | undefined;
  /** The servers that the whole search is restricted to, if their tools can be searched. Undefined without such a restriction. */
  filters: string[] | undefined;
  /** Why the search cannot be made: it names a server that does not exist. */
  problem: string | undefined;
}

/** `servers` are filters for all needs. Names in code are accepted as well. */
export function concernedBy(needs: readonly string[], servers: readonly string[], { catalog }: App): Concerned {
  const nameOf = (written: string) => {
    const wanted = written.toLowerCase();
    const isMeant = (each: string | undefined) => each?.toLowerCase() === wanted;
    return catalog.names.find(({ name, jsName }) => isMeant(name) || isMeant(jsName))?.name;
  };
  const unknown = servers.find((written) => nameOf(written) === undefined);
  const problem = unknown === undefined ? undefined : noSuchServer(unknown, catalog.names);
  const common = servers.flatMap((written) => nameOf(written) ?? []);
  const each = needs.map((need) => [...common, ...filtersOf(need).servers.flatMap((written) => nameOf(written) ?? [])]);
  const isFree = each.some((named) => named.length === 0);
  return {
    servers: isFree ? undefined : [...new Set(each.flat())],
    get filters() {
      const visible = new Set(catalog.visibleServers.map(({ name }) => name));
      return servers.length === 0 ? undefined : common.filter((name) => visible.has(name));
    },
    problem,
  };
}

function noSuchServer(written: string, known: readonly { name: string }[]): string {
  const names = known.map(({ name }) => name);
  const more = names.length > maxDownNames ? ` and ${names.length - maxDownNames} more` : "";
  const list = `Servers: ${names.slice(0, maxDownNames).join(", ")}${more}`;
  return [`No server is called "${written}".`, didYouMean(written, names), list].filter(Boolean).join("\n");
}

interface Search {
  /** The words of the search. */
  asked: string;
  concerned: Concerned;
  /** Nothing was found. */
  isEmpty: boolean;
  /** Why servers are not known, by name. */
  problems: ReadonlyMap<string, string>;
  /** Servers that answers of this session have mentioned. */
  mentioned: Set<string>;
}

export interface Unusable {
  down: DownServer[];
  /** For the beginning of the answer. */
  lines: string[];
  /** Servers that are not down, and whose tools are not known. */
  notSearched: Map<string, string>;
}

/** Adds to `mentioned` what the answer mentions. A server that has recovered may be mentioned again. */
export function unusableServers(app: App, { asked, concerned, isEmpty, problems, mentioned }: Search): Unusable {
  const all = downServers(app);
  const isConcerned = (name: string) => concerned.servers?.includes(name) ?? true;
  const isNamed = (name: string) => concerned.servers !== undefined || isNamedIn(asked, name);
  const isDue = (name: string) => isConcerned(name) && (!mentioned.has(name) || isNamed(name));
  const isDown = new Set(all.map(({ server }) => server));
  for (const name of mentioned) {
    if (!isDown.has(name) && !problems.has(name) && !isHeldKey(name)) mentioned.delete(name);
  }
  const due = all.filter(({ server }) => isDue(server));
  const again = isEmpty ? all.filter(({ server }) => isConcerned(server) && !isDue(server)) : [];
  const silent = [...problems].filter(([name]) => !isDown.has(name) && (isDue(name) || (isEmpty && isConcerned(name))));
  for (const name of [...due.map(({ server }) => server), ...silent.map(([name]) => name)]) mentioned.add(name);
  const changed = app.catalog.visibleServers.filter(({ name, held }) => held && isConcerned(name));
  const news = changed.filter(({ name }) => isEmpty || isNamed(name) || !mentioned.has(heldKey(name)));
  for (const { name } of news) mentioned.add(heldKey(name));
  const lines = [
    ...heldLines(news),
    downText(due),
    again.length > 0 ? `Still down: ${again.map(({ server }) => server).join(", ")}` : "",
    ...silent.map(([name, problem]) => `Not searched: ${name} (${problem})`),
  ];
  return { down: all, lines: lines.filter(Boolean), notSearched: new Map(silent) };
}

/** Stands in `mentioned` for the held tools of a server. */
const heldKey = (server: string) => `held\n${server}`;
const isHeldKey = (key: string) => key.startsWith(heldKey(""));

function isNamedIn(query: string, name: string): boolean {
  return ` ${query.toLowerCase().replace(/[:.,"'`]/g, " ")} `.includes(` ${name.toLowerCase()} `);
}
