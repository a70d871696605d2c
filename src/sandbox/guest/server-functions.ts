/** `server.resources` and `server.prompts`: what servers have beside their tools, in the protocol's own shapes. */
import { call, noticed } from "./calls.ts";
import { type CallKind, callKind } from "./kinds.ts";

type Shape = Record<string, unknown>;

const serverOf = new WeakMap<object, string>();

/** The prototype of every server: a tool of the same name hides what is here. */
const server = Object.create(null, {
  resources: { get: resources },
  prompts: { get: prompts },
});
// What hosts call the same.
for (const [alias, group, name] of [
  ["list_resources", "resources", "list"],
  ["read_resource", "resources", "read"],
  ["list_prompts", "prompts", "list"],
  ["get_prompt", "prompts", "get"],
] as const) {
  Object.defineProperty(server, alias, {
    get(this: Record<string, Shape>) {
      return this[group]?.[name];
    },
  });
}

Object.freeze(server);

/** An object for a server, to be given its tools. */
export function serverObject(name: string): Record<string, never> {
  const object = Object.create(server);
  serverOf.set(object, name);
  return object;
}

function resources(this: object) {
  const ask = asker(this, callKind.resources);
  return Object.freeze({
    list: () => ask("list", {}, (result) => listIn(result, "resources")),
    templates: () => ask("templates", {}, (result) => listIn(result, "resourceTemplates")),
    read: (uri: unknown) =>
      ask("read", typeof uri === "string" ? { uri } : uri, (result) => withText(result, "contents")),
  });
}

function prompts(this: object) {
  const ask = asker(this, callKind.prompts);
  return Object.freeze({
    list: () => ask("list", {}, (result) => listIn(result, "prompts")),
    get: (name: unknown, args?: unknown) =>
      ask("get", typeof name === "string" ? { name, arguments: args } : name, (result) => withText(result, "messages")),
  });
}

function asker(object: object, kind: CallKind) {
  const name = serverOf.get(object) ?? "";
  return (what: string, args: unknown, shape: (result: Shape) => unknown) =>
    noticed(
      call(name, what, args, kind).then((result) => shape(result as Shape)),
      `${name}.${what}`,
    );
}

/** The list, which also answers to what it is called in the protocol: `const { resources } = await …`. */
function listIn(result: Shape, key: string): unknown {
  return Object.defineProperty(result[key], key, { value: result[key] });
}

/** The result, whose `text` is all the text that is in it. */
function withText(result: Shape, key: string): unknown {
  const parts = Array.isArray(result[key]) ? (result[key] as { text?: unknown; content?: { text?: unknown } }[]) : [];
  const texts = parts.map((part) => part?.text ?? part?.content?.text).filter((text) => typeof text === "string");
  return Object.defineProperty(result, "text", { value: texts.join("\n") });
}
