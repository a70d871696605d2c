/** The URIs in the content of results and prompts, and what other servers have under the same URIs. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { mayBeOf } from "./addresses.ts";

/** Comparisons for the links of one result: a server chooses how many URIs it has, and another one how many templates. */
const maxComparedUris = 20_000;

/** The blocks with the addresses that `shown` returns for their resources; the same list if nothing changes. */
export function blocksWith(blocks: unknown, shown: (uri: string) => string): unknown {
  if (!Array.isArray(blocks)) return blocks;
  const all = blocks.map((block) => blockWith(block, shown));
  return all.some((block, at) => block !== blocks[at]) ? all : blocks;
}

/** The message of a prompt with other blocks. Its content is one block, or a list. */
export function messageWith(message: unknown, change: (blocks: unknown) => unknown): unknown {
  if (!isObject(message)) return message;
  const { content } = message;
  const isList = Array.isArray(content);
  const blocks = isList ? content : [content];
  const changed = change(blocks) as unknown[];
  return changed === blocks ? message : { ...message, content: isList ? changed : changed[0] };
}

function blockWith(block: unknown, shown: (uri: string) => string): unknown {
  if (!isObject(block)) return block;
  const { type, resource } = block;
  if (type === "resource_link") return withUri(block, shown);
  if (type !== "resource" || !isObject(resource)) return block;
  const changed = withUri(resource, shown);
  return changed === resource ? block : { ...block, resource: changed };
}

function withUri(named: JsonObject, shown: (uri: string) => string): JsonObject {
  const { uri } = named;
  const address = typeof uri === "string" && uri !== "" ? shown(uri) : uri;
  return address === uri ? named : { ...named, uri: address };
}

export interface Others {
  /** The shown addresses of the server itself. */
  own: ReadonlyMap<string, string>;
  /** Whether another server may have the URI. True in doubt. */
  mayHave(uri: string): boolean;
}

/** The resources that other servers have now. */
export function othersThan(
  server: string,
  shown: ReadonlyMap<string, ReadonlyMap<string, string>>,
  templates: ReadonlyMap<string, readonly string[]>,
): Others {
  const listed = [...shown].filter(([name]) => name !== server).map(([, uris]) => uris);
  const patterns = [...templates].filter(([name]) => name !== server).flatMap(([, all]) => all);
  let left = maxComparedUris;
  return {
    own: shown.get(server) ?? new Map(),
    mayHave(uri) {
      left -= listed.length + patterns.length;
      if (left < 0) return true;
      return listed.some((uris) => uris.has(uri)) || patterns.some((template) => mayBeOf(template, uri));
    },
  };
}
