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
    subscribe: (uri: unknown) =>
      subscription(ask("subscribe", typeof uri === "string" ? { uri } : uri, ({ id }) => id) as Promise<number>),
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

/** What ends each subscription that is open. */
const ends = new Set<() => void>();

/** The program is over: whoever still waits for an update gets none. */
export function endSubscriptions(): void {
  for (const end of ends) end();
}

/** Updates, one after the other: `{ uri }` each, for as long as somebody asks for the next. */
function subscription(opened: Promise<number>): AsyncIterableIterator<unknown> {
  const over = { done: true, value: undefined } as const;
  const ended = Promise.withResolvers<typeof over>();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    ends.delete(end);
    ended.resolve(over);
    const tell = (id: number) => void call("", "unsubscribe", { id }, callKind.resources).catch(() => {});
    opened.then(tell, () => {});
  };
  ends.add(end);
  const next = async () => {
    const id = await opened;
    if (isOver) return over;
    const answer = call("", "next", { id }, callKind.resources) as Promise<IteratorResult<unknown>>;
    return Promise.race([answer, ended.promise]);
  };
  const finish = async () => {
    end();
    return over;
  };
  const updates = { next, return: finish, [Symbol.asyncIterator]: () => updates };
  const { dispose, asyncDispose } = Symbol as { dispose?: symbol; asyncDispose?: symbol };
  for (const name of [dispose, asyncDispose]) if (name) Object.defineProperty(updates, name, { value: finish });
  return updates as AsyncIterableIterator<unknown>;
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
