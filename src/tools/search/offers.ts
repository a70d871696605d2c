/** Resources, prompts and skills of servers as search results: how a program reads them. */
import type { Offer, RegistryServer, RegistryTool } from "../model.ts";

/** What an entry of the search index stands for. */
export interface IndexedOffer {
  server: Pick<RegistryServer, "name" | "jsName">;
  offer: Offer;
}

/** The entries of the index for everything that a server has beside its tools. Their names are not possible for tools in code. */
export function indexedOffers(server: RegistryServer): [RegistryTool, IndexedOffer][] {
  return (server.offers ?? []).map((offer) => {
    const { name, uri = "", description, kind } = offer;
    const words = kind === "template" ? "resource" : kind;
    const names = (offer.arguments ?? []).map((argument) => [argument.replace(/\?$/, ""), {}]);
    const tool = {
      name: `${name} ${uri}`.trim(),
      description: `${description} ${words}`.trim(),
      inputSchema: { properties: Object.fromEntries(names) },
    };
    return [tool, { server, offer }];
  });
}

export function foundOffer({ server, offer }: IndexedOffer) {
  const call = callOf(server, offer);
  const { kind, name, description } = offer;
  return {
    kind: kind === "template" ? ("resource" as const) : kind,
    id: call,
    server: server.name,
    name,
    description: description === "" ? name : description,
    signature: call,
    example: `await ${call}`,
  };
}

/** `docs.resources.read("docs://readme")`. */
function callOf({ name, jsName }: IndexedOffer["server"], offer: Offer): string {
  const object = jsName ?? `servers[${JSON.stringify(name)}]`;
  const { kind, uri = "" } = offer;
  if (kind === "skill") return `${object}.skills.read(${JSON.stringify(uri)})`;
  if (kind !== "prompt") return `${object}.resources.read(${JSON.stringify(uri)})`;
  const args = offer.arguments ? `, { ${offer.arguments.map(keyOf).join(", ")} }` : "";
  return `${object}.prompts.get(${JSON.stringify(offer.name)}${args})`;
}

function keyOf(argument: string): string {
  return /^[A-Za-z_$][\w$]*\??$/.test(argument) ? argument : JSON.stringify(argument);
}
