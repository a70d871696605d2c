/** The names that a shell can offer: of the config, the registry, the catalog, the environment. Nothing is started or asked. */
import { loadConfig } from "../../config/load.ts";
import { openConfigFile } from "../../flows/config-file.ts";
import { ShownServers } from "../../flows/shown-servers.ts";
import { isSchema, resolveReference, schemasOf } from "../../registry/json-schema.ts";
import { type RegistryServer, toolId } from "../../registry/model.ts";
import { firstSentence } from "../../registry/signature.ts";
import { readIndex } from "../../registry/store.ts";
import type { Completion } from "../command.ts";
import type { Io } from "../io.ts";

export interface Candidate {
  value: string;
  about?: string | undefined;
  /** More belongs to it: no space follows. */
  isOpen?: boolean;
}

export interface Place {
  /** The word that is being typed, or of `--flag=value` the value. */
  current: string;
  /** The arguments before it. */
  positionals: string[];
  /** The values of flags. */
  flags: ReadonlyMap<string, string>;
}

type Surroundings = Pick<Io, "env" | "cwd">;

/** Of more tools than that, the servers are offered first. */
const maxTools = 200;

/** Throws what the config and the registry do. */
export async function namesOf(
  kind: Exclude<Completion, "file" | "folder">,
  place: Place,
  surroundings: Surroundings,
): Promise<Candidate[]> {
  switch (kind) {
    case "server":
      return [...(await configOf(place, surroundings)).servers.values()].map(({ name, description }) => ({
        value: name,
        about: description,
      }));
    case "entry": {
      const flag = place.flags.get("config");
      const { entries } = openConfigFile({ flag, user: place.flags.has("user"), ...surroundings });
      return [...entries.keys()].map((value) => ({ value }));
    }
    case "tool":
      return tools(await known(place, surroundings), place.current);
    case "parameter":
      return parameters(await known(place, surroundings), place);
    case "category":
      return [...new Set((await known(place, surroundings)).map(({ category }) => category))].map((value) => ({
        value,
      }));
    case "catalog": {
      const { catalogServers } = await import("../../registry/catalog.ts");
      return catalogServers().map(({ name, description }) => ({ value: name, about: description }));
    }
    case "variable":
      return Object.keys(surroundings.env).map((value) => ({ value }));
  }
}

function configOf({ flags }: Place, { env, cwd }: Surroundings) {
  return loadConfig({ flag: flags.get("config"), cwd, env });
}

/** What the registry has of configured servers, without what the config denies. */
async function known(place: Place, surroundings: Surroundings): Promise<RegistryServer[]> {
  const { servers, folders } = await configOf(place, surroundings);
  const shown = new ShownServers(servers);
  const all = readIndex(folders.registry)?.servers ?? [];
  return all.filter(({ name }) => servers.has(name)).map((server) => shown.of(server));
}

function tools(servers: RegistryServer[], current: string): Candidate[] {
  const all = servers.flatMap((server) =>
    server.tools.map(({ name, description }) => ({
      value: toolId(server.name, name),
      about: firstSentence(description),
    })),
  );
  const fitting = all.filter(({ value }) => value.startsWith(current));
  if (fitting.length <= maxTools || current.includes(".")) return all;
  return servers.map(({ name, description }) => ({ value: `${name}.`, about: description, isOpen: true }));
}

/** `key=`, or where its values are known `key=value`. */
function parameters(servers: RegistryServer[], { positionals, current }: Place): Candidate[] {
  const [id, ...given] = positionals;
  const tool = servers
    .flatMap((server) => server.tools.map((each) => ({ id: toolId(server.name, each.name), schema: each.inputSchema })))
    .find((each) => each.id === id);
  const properties = tool?.schema["properties"];
  if (!tool || !isSchema(properties)) return [];
  const used = new Set(given.map((word) => /^(.*?):?=/s.exec(word)?.[1]));
  return Object.entries(properties)
    .filter(([key]) => !used.has(key))
    .flatMap(([key, property]) => {
      const schema = resolved(property, tool.schema);
      const { description } = schema;
      const about = typeof description === "string" ? firstSentence(description) : undefined;
      const values = current.startsWith(`${key}=`) ? valuesOf(schema) : [];
      if (values.length > 0) return values.map((value): Candidate => ({ value: `${key}=${value}` }));
      return [{ value: `${key}=`, about, isOpen: true }];
    });
}

function resolved(schema: unknown, root: unknown): Record<string, unknown> {
  const target =
    isSchema(schema) && typeof schema["$ref"] === "string" ? resolveReference(schema["$ref"], root) : schema;
  return isSchema(target) ? target : {};
}

function valuesOf(schema: Record<string, unknown>): string[] {
  if (schema["type"] === "boolean") return ["true", "false"];
  return schemasOf(schema["enum"]).flatMap((value) => (typeof value === "object" ? [] : [String(value)]));
}
