/** Decides which server gets a name that several different servers have. The others get another name or stay in their files. */
import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean } from "../../base/near-names.ts";
import { type Conflict, configOrigin, type Inventory, isSameServer, type MergedServer } from "./merge.ts";
import { agentNames, unknownAgent } from "./supported/agents.ts";

/** The flags' choices about servers with the same name. */
export interface Wishes {
  /** Agents or project folders whose servers keep the names; the others are renamed. */
  order: readonly string[];
  /** By server name: the agent whose server is imported. Other servers of that name stay in their files. */
  byName: ReadonlyMap<string, string>;
  /** Import all of them, under different names. */
  both: boolean;
}

type Choice = Conflict["choices"][number];

/** An agent, the existing config, or a project folder. */
const origin = `${[configOrigin, ...agentNames].join("|")}|(?:[A-Za-z]:)?[\\\\/].*`;

/** Reads the values of `--prefer`: `agent` or `name=agent`. Names and folders may contain `=`. Throws USAGE for an unknown agent. */
export function wishesOf(values: readonly string[], both: boolean): Wishes {
  const order: string[] = [];
  const byName = new Map<string, string>();
  for (const value of values) {
    const [, name, one] = new RegExp(`^(?:(.+?)=)?(${origin})$`, "s").exec(value) ?? [];
    if (one === undefined) throw unknownAgent(value.slice(value.lastIndexOf("=") + 1), [configOrigin, ...agentNames]);
    if (name === undefined) order.push(one);
    else byName.set(name, one);
  }
  return { order, byName, both };
}

/** Settles the conflicts that the wishes decide; the others remain. Throws USAGE for a wish that matches nothing. */
export function settleByWishes(inventories: readonly Inventory[], wishes: Wishes): void {
  for (const [name, origin] of wishes.byName) checkWish(inventories, name, origin);
  for (const inventory of inventories) {
    for (const conflict of inventory.conflicts.splice(0)) {
      const wanted = wishes.byName.get(conflict.name);
      const only = wanted === undefined ? undefined : choiceOf(conflict, wanted);
      const first = wishes.order.map((host) => choiceOf(conflict, host)).find(Boolean);
      if (only) chooseOne(inventory, conflict, only, `the server of this name from ${wanted} was chosen`);
      else if (first || wishes.both) keepAll(inventory, conflict, first);
      else inventory.conflicts.push(conflict);
    }
  }
}

/** The server of an agent or folder; undefined if it has none or several. */
function choiceOf({ choices }: Conflict, origin: string): Choice | undefined {
  const all = choices.filter(({ from }) => from.some(({ host, folder }) => host === origin || folder === origin));
  return all.length === 1 ? all[0] : undefined;
}

function checkWish(inventories: readonly Inventory[], name: string, origin: string): void {
  const names = inventories.flatMap(({ servers, conflicts }) => [...servers, ...conflicts].map((each) => each.name));
  if (!names.includes(name)) {
    throw new ClaudikinsError("USAGE", `No agent has a server called "${name}"`, {
      hint: didYouMean(name, names) ?? `--prefer ${name}=${origin} has no effect. Nothing was changed.`,
    });
  }
  const conflicts = inventories.flatMap((each) => each.conflicts).filter((conflict) => conflict.name === name);
  if (conflicts.length === 0 || conflicts.some((conflict) => choiceOf(conflict, origin))) return;
  const all = conflicts.flatMap(({ choices }) => choices.flatMap(({ from }) => from));
  const isSeveral = all.some(({ host }) => host === origin);
  throw new ClaudikinsError(
    "USAGE",
    isSeveral ? `${origin} has several servers called "${name}"` : `${origin} has no server called "${name}"`,
    { hint: `Choose one of: ${[...new Set(all.map(({ host, folder }) => folder ?? host))].join(", ")}.` },
  );
}

/** Imports one server. The others stay in their files; one that is already in the config is renamed there. */
export function chooseOne(inventory: Inventory, conflict: Conflict, chosen: Choice, why: string): void {
  const others = conflict.choices.filter((choice) => choice !== chosen);
  const ours = others.filter(({ isThere }) => isThere);
  const left = others.filter(({ isThere }) => !isThere).map(({ entry }) => entry);
  inventory.decided.push({ name: conflict.name, left });
  inventory.servers.push(...named(inventory, conflict.name, [chosen, ...ours]));
  for (const choice of others) if (!choice.isThere) leave(inventory, choice, why);
}

/** Imports all servers. `first`, or else the one in the config, keeps the name; the others get their agent or project as a suffix. */
export function keepAll(inventory: Inventory, { name, choices }: Conflict, first = choices[0]): void {
  const ordered = choices.toSorted((a, b) => Number(b === first) - Number(a === first));
  inventory.servers.push(...named(inventory, name, ordered));
}

/** Leaves all servers in their files, because nothing was decided. */
export function leaveAll(inventory: Inventory, { choices }: Conflict): void {
  for (const choice of choices) leave(inventory, choice);
}

/** Leaves a server in its files that would have been imported. `why` is for the user. */
export function leaveServer(inventory: Inventory, server: MergedServer, why: string): void {
  inventory.servers = inventory.servers.filter((each) => each !== server);
  leave(inventory, server, why);
}

/** With `why`, the user reads the reason. */
function leave({ files }: Inventory, { from }: Choice, why?: string): void {
  for (const file of files) {
    const left = file.servers.filter((each) => from.some(({ server }) => server === each));
    file.servers = file.servers.filter((each) => !left.includes(each));
    file.left.push(...left);
    if (why === undefined) continue;
    file.skipped.push(...left.map(({ name, host, file: path }) => ({ name, host, file: path, why })));
  }
}

function named({ configFile, names, servers }: Inventory, name: string, choices: readonly Choice[]): MergedServer[] {
  const taken = new Set([...configFile.entries.keys(), ...names, ...servers.map((each) => each.name)]);
  return choices.map((choice, place) => {
    if (place === 0) return { name, ...choice };
    const origin = choice.from[0];
    const suffix = origin?.folder?.split(/[\\/]/).findLast(Boolean) ?? origin?.host ?? "other";
    let unique = `${name}-${suffix}`;
    // After an earlier run, the config may have this server under this name already.
    const isThere = () => isSameServer(configFile.entries.get(unique) ?? {}, choice.entry);
    for (let count = 2; taken.has(unique) && !isThere(); count++) unique = `${name}-${suffix}-${count}`;
    taken.add(unique);
    return { ...choice, name: unique, isThere: isThere() };
  });
}
