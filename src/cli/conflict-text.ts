/** Different servers of the same name, as init shows them. */

import { type Conflict, type Inventory, ownOrigin } from "../agents/merge.ts";
import { maskOf } from "../agents/secrets.ts";
import type { Redact } from "../clients/secrets.ts";
import type { PortableEntry } from "../settings/config-file.ts";

/** The names that stand for different servers, with the choices below each. */
export function conflictLines(conflicts: readonly Conflict[]): string {
  const mask = maskOf(conflicts.flatMap(({ choices }) => choices.map(({ entry }) => entry)));
  return conflicts
    .flatMap((conflict) => [`  ${conflict.name}`, ...choiceTexts(conflict, mask).map((text) => `    ${text}`)])
    .join("\n");
}

/** One line a choice: where it comes from, and what it starts. */
export function choiceTexts({ choices }: Conflict, mask: Redact): string[] {
  const ways = choices.map(({ entry }) => mask(entryText(entry)));
  return choices.map(({ from }, place) => {
    const where = from.map(({ host, folder }) => (folder === undefined ? host : `${host} (${folder})`));
    const way = ways[place] ?? "";
    const looksTheSame = ways.filter((other) => other === way).length > 1;
    return `${[...new Set(where)].join(", ")}: ${way}${looksTheSame ? "; a hidden value differs" : ""}`;
  });
}

function entryText(entry: PortableEntry): string {
  const { command, args, url, serverUrl, httpUrl, env, headers } = entry;
  const names = Object.keys({ ...(env as object), ...(headers as object) });
  const way =
    command === undefined ? String(url ?? serverUrl ?? httpUrl) : [command, ...((args as string[]) ?? [])].join(" ");
  return names.length === 0 ? way : `${way} (with ${names.join(", ")})`;
}

/** How the first of the conflicts can be decided on the command line. */
export function decisionText(inventories: readonly Inventory[]): string {
  const [first] = inventories.flatMap((each) => each.conflicts);
  const origin = first?.choices.at(-1)?.from[0];
  const whose = origin?.folder ?? origin?.host ?? ownOrigin;
  return `To keep all of them under different names: --keep-both. To import only one and leave the others where they are: --prefer ${first?.name}=${whose}. To let the servers of ${whose} keep their names and rename the others: --prefer ${whose}.`;
}
