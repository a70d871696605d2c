/** `server.resources`, `server.prompts` and `server.skills`. They return the shapes of the protocol. */
import { call, noticed, targetOf } from "./calls.ts";
import { type CallKind, callKind, functionAliases } from "./kinds.ts";
import { define } from "./named.ts";

type Shape = Record<string, unknown>;

const serverOf = new WeakMap<object, string>();

/** The prototype of every server. A tool of the same name has precedence. */
const server = Object.create(null, {
  resources: { get: resources },
  prompts: { get: prompts },
  skills: { get: skills },
});
for (const [alias, group, name] of functionAliases) {
  Object.defineProperty(server, alias, {
    get(this: Record<string, Shape>) {
      return this[group]?.[name];
    },
  });
}

Object.freeze(server);

/** Returns an object for a server, without its tools. */
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

function skills(this: object) {
  const ask = asker(this, callKind.skills);
  return Object.freeze({
    list: () => ask("list", {}, (result) => listIn(result, "skills")),
    read: (uri: unknown) =>
      ask("read", typeof uri === "string" ? { uri } : uri, (result) => withText(result, "contents")),
  });
}

function asker(object: object, kind: CallKind) {
  const name = serverOf.get(object) ?? "";
  return (what: string, args: unknown, shape: (result: Shape) => unknown) =>
    noticed(
      call(targetOf(name, what, kind), args).then((result) => shape(result as Shape)),
      `${name}.${what}`,
    );
}

/** The functions that end the open subscriptions. */
const ends = new Set<() => void>();

/** Ends all subscriptions when the program has returned. Loops that wait for an update end. */
export function endSubscriptions(): void {
  for (const end of ends) end();
}

/** Returns the updates `{ uri }` of a subscription, until the program stops iterating. */
function subscription(opened: Promise<number>): AsyncIterableIterator<unknown> {
  const over = { done: true, value: undefined } as const;
  const ended = Promise.withResolvers<typeof over>();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    ends.delete(end);
    ended.resolve(over);
    const tell = (id: number) => void call(targetOf("", "unsubscribe", callKind.resources), { id }).catch(() => {});
    opened.then(tell, () => {});
  };
  ends.add(end);
  const next = async () => {
    const id = await opened;
    if (isOver) return over;
    const answer = call(targetOf("", "next", callKind.resources), { id }) as Promise<IteratorResult<unknown>>;
    return Promise.race([answer, ended.promise]);
  };
  const finish = async () => {
    end();
    return over;
  };
  const updates: AsyncIterableIterator<unknown> = { next, return: finish, [Symbol.asyncIterator]: () => updates };
  return define(updates, { [Symbol.dispose]: finish, [Symbol.asyncDispose]: finish });
}

/** Returns the array. It also has itself as a property, so that `const { resources } = await …` works as in the protocol. */
function listIn(result: Shape, key: string): unknown {
  return Object.defineProperty(result[key], key, { value: result[key] });
}

/** Returns the result with a property `text`, which joins all its texts. */
function withText(result: Shape, key: string): unknown {
  const parts = Array.isArray(result[key]) ? (result[key] as { text?: unknown; content?: { text?: unknown } }[]) : [];
  const texts = parts.map((part) => part?.text ?? part?.content?.text).filter((text) => typeof text === "string");
  return Object.defineProperty(result, "text", { value: texts.join("\n") });
}
