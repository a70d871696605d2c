/** Methods of other languages and libraries, each with what does the same here. `x` stands for the object. */

const onLists: Record<string, string> = {
  __proto__: null as never,
  append: "x.push(value)",
  extend: "x.push(...list)",
  insert: "x.splice(index, 0, value)",
  index: "x.indexOf(value)",
  copy: "[...x]",
  add: "x.push(value), or for a Set new Set(list)",
  remove: "x.filter((each) => each !== value)",
  contains: "x.includes(value)",
  has: "x.includes(value)",
  count: "x.filter((each) => …).length",
  len: "x.length",
  size: "x.length",
  length: "x.length, without parentheses",
  isEmpty: "x.length === 0",
  each: "for (const each of x)",
  first: "x[0]",
  last: "x.at(-1)",
  head: "x[0]",
  take: "x.slice(0, n)",
  limit: "x.slice(0, n)",
  skip: "x.slice(n)",
  sum: "x.reduce((sum, each) => sum + each, 0)",
  avg: "x.reduce((sum, each) => sum + each, 0) / x.length",
  max: "Math.max(...x)",
  min: "Math.min(...x)",
  unique: "[...new Set(x)]",
  uniq: "[...new Set(x)]",
  distinct: "[...new Set(x)]",
  sortBy: "x.toSorted((a, b) => a.key - b.key)",
  sort_by: "x.toSorted((a, b) => a.key - b.key)",
  orderBy: "x.toSorted((a, b) => a.key - b.key)",
  groupBy: "Object.groupBy(x, (each) => each.key)",
  group_by: "Object.groupBy(x, (each) => each.key)",
  countBy: "Object.groupBy(x, (each) => each.key), then the length of each group",
  keyBy: "Object.fromEntries(x.map((each) => [each.key, each]))",
  pluck: "x.map((each) => each.key)",
  select: "x.map((each) => …), or x.filter",
  where: "x.filter((each) => …)",
  chunk: "x.slice(from, to) in a loop",
  toArray: "x itself: it is a list",
  tolist: "x itself: it is a list",
};

const onTexts: Record<string, string> = {
  __proto__: null as never,
  strip: "x.trim()",
  lstrip: "x.trimStart()",
  rstrip: "x.trimEnd()",
  upper: "x.toUpperCase()",
  lower: "x.toLowerCase()",
  startswith: "x.startsWith(text)",
  endswith: "x.endsWith(text)",
  splitlines: 'x.split("\\n")',
  format: "`…${value}…`",
  capitalize: "x[0].toUpperCase() + x.slice(1)",
  contains: "x.includes(text)",
  title: "x[0].toUpperCase() + x.slice(1)",
  zfill: 'x.padStart(length, "0")',
  isdigit: "/^\\d+$/.test(x)",
  equals: "x === text",
  length: "x.length, without parentheses",
};

const onObjects: Record<string, string> = {
  __proto__: null as never,
  items: "Object.entries(x)",
  entries: "Object.entries(x)",
  keys: "Object.keys(x)",
  values: "Object.values(x)",
  get: "x[key]",
  has: "key in x",
  has_key: "key in x",
  set: "x[key] = value",
  setdefault: "x[key] ??= value (for a list: (x[key] ??= []).push(value))",
  append: "(x[key] ??= []).push(value), or start with a list: []",
  copy: "{ ...x }",
  update: "Object.assign(x, other)",
  pop: "x[key], then delete x[key]",
  forEach: "for (const [key, value] of Object.entries(x))",
  map: "Object.entries(x).map(([key, value]) => …)",
  filter: "Object.values(x).filter((each) => …)",
  reduce: "Object.values(x).reduce(…)",
  sort: "Object.entries(x).toSorted(([, a], [, b]) => b - a)",
  find: "Object.values(x).find((each) => …)",
  some: "Object.values(x).some((each) => …)",
  slice: "Object.entries(x).slice(0, n)",
  push: "(x[key] ??= []).push(value), or start with a list: []",
  size: "Object.keys(x).length",
  length: "Object.keys(x).length",
  toFixed: "Number(x).toFixed(2)",
  toLocaleDateString: "new Date(x).toLocaleDateString()",
  getTime: "new Date(x).getTime()",
  getFullYear: "new Date(x).getFullYear()",
  getMonth: "new Date(x).getMonth()",
  getDate: "new Date(x).getDate()",
  getDay: "new Date(x).getDay()",
  toISOString: "new Date(x).toISOString()",
  join: "[...x].join(text)",
  strftime: "new Intl.DateTimeFormat(…).format(new Date(x))",
};

/** Methods that a Set and a Map call otherwise. */
const onCollections: Record<"Set" | "Map", Record<string, string>> = {
  Set: {
    __proto__: null as never,
    append: "x.add(value)",
    push: "x.add(value)",
    update: "for (const each of list) x.add(each)",
    remove: "x.delete(value)",
    discard: "x.delete(value)",
    includes: "x.has(value)",
    contains: "x.has(value)",
  },
  Map: {
    __proto__: null as never,
    items: "x.entries()",
    push: "x.set(key, value)",
    put: "x.set(key, value)",
    setdefault: "if (!x.has(key)) x.set(key, value)",
    remove: "x.delete(key)",
    pop: "x.get(key), then x.delete(key)",
    includes: "x.has(key)",
    contains: "x.has(key)",
    containsKey: "x.has(key)",
  },
};

/** What to write in place of a method that a Set or a Map does not have; methods of lists need a list of it. */
export function collectionMethod(method: string, object: string, kind: "Set" | "Map"): string | undefined {
  const found = onCollections[kind][method];
  if (found !== undefined) return `write ${withObject(found, object)}`;
  return method in Array.prototype ? `[...${object}${kind === "Map" ? ".entries()" : ""}].${method}(…)` : undefined;
}

export type Kind = "list" | "text" | "other";

/** What to write in place of `object.method(…)`. `kind` is undefined if the object is not known. */
export function methodInstead(method: string, object: string, kind: Kind | undefined): string | undefined {
  const tables =
    kind === "list"
      ? [onLists]
      : kind === "text"
        ? [onTexts, onObjects]
        : kind
          ? [onObjects]
          : [onLists, onTexts, onObjects];
  const found = [...new Set(tables.flatMap((table) => table[method] ?? []))];
  if (found.length === 0) return undefined;
  return `Write ${found.map((text) => withObject(text, object)).join(", or ")}.`;
}

function withObject(text: string, object: string): string {
  const name = object.length <= 30 && /^[\w$.[\]"']+$/.test(object) ? object : "x";
  return text.replace(/\bx\b/g, () => name);
}
