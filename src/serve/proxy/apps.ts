/** The pages of MCP Apps (extension `io.modelcontextprotocol/ui`): the addresses that definitions and results name in `_meta`. */
import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { isObject, type JsonObject } from "../../base/json-object.ts";

/** The extension of the protocol for apps. */
export const appsExtension = "io.modelcontextprotocol/ui";

/** The extensions of an agent that direct mode passes on, so that servers may rely on them. */
export function passedExtensions(capabilities: ClientCapabilities = {}): ClientCapabilities["extensions"] {
  const apps = capabilities.extensions?.[appsExtension];
  return apps && { [appsExtension]: apps };
}

/** The older name of `ui.resourceUri`. */
const flatKey = "ui/resourceUri";

/** The address of the page of a tool or a result. */
export function pageIn({ _meta: meta }: JsonObject): string | undefined {
  if (!isObject(meta)) return undefined;
  const uri = Object(meta["ui"]).resourceUri ?? meta[flatKey];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : undefined;
}

/** The same with another address of the page. */
export function withPage<T extends JsonObject>(named: T, shown: (uri: string) => string): T {
  const uri = pageIn(named);
  const address = uri === undefined ? undefined : shown(uri);
  if (address === uri) return named;
  const { ui, [flatKey]: flat, ...rest } = named["_meta"] as JsonObject;
  return {
    ...named,
    _meta: {
      ...rest,
      ...(isObject(ui) ? { ui: "resourceUri" in ui ? { ...ui, resourceUri: address } : ui } : {}),
      ...(flat === undefined ? {} : { [flatKey]: address }),
    },
  };
}
