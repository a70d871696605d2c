/** Methods of other languages and libraries, each with what does the same here. */

type Kind = "list" | "text" | "object" | "Set" | "Map";

/** Each key is a list of names; `x` stands for the object. */
const methods: Record<Kind, Record<string, string>> = {
  list: {
    append: "x.push(value)",
    extend: "x.push(...list)",
    insert: "x.splice(index, 0, value)",
    index: "x.indexOf(value)",
    copy: "[...x]",
    add: "x.push(value), or for a Set new Set(list)",
    remove: "x.filter((each) => each !== value)",
    "contains has": "x.includes(value)",
    count: "x.filter((each) => …).length",
    "len size": "x.length",
    length: "x.length, without parentheses",
    isEmpty: "x.length === 0",
    each: "for (const each of x)",
    "first head": "x[0]",
    last: "x.at(-1)",
    "take limit": "x.slice(0, n)",
    skip: "x.slice(n)",
    sum: "x.reduce((sum, each) => sum + each, 0)",
    avg: "x.reduce((sum, each) => sum + each, 0) / x.length",
    max: "Math.max(...x)",
    min: "Math.min(...x)",
    "unique uniq distinct": "[...new Set(x)]",
    "sortBy sort_by orderBy": "x.toSorted((a, b) => a.key - b.key)",
    "groupBy group_by": "Object.groupBy(x, (each) => each.key)",
    countBy: "Object.groupBy(x, (each) => each.key), then the length of each group",
    keyBy: "Object.fromEntries(x.map((each) => [each.key, each]))",
    pluck: "x.map((each) => each.key)",
    select: "x.map((each) => …), or x.filter",
    where: "x.filter((each) => …)",
    chunk: "x.slice(from, to) in a loop",
    "toArray tolist": "x itself: it is a list",
  },
  text: {
    strip: "x.trim()",
    lstrip: "x.trimStart()",
    rstrip: "x.trimEnd()",
    upper: "x.toUpperCase()",
    lower: "x.toLowerCase()",
    startswith: "x.startsWith(text)",
    endswith: "x.endsWith(text)",
    splitlines: 'x.split("\\n")',
    format: "`…${value}…`",
    "capitalize title": "x[0].toUpperCase() + x.slice(1)",
    contains: "x.includes(text)",
    zfill: 'x.padStart(length, "0")',
    isdigit: "/^\\d+$/.test(x)",
    equals: "x === text",
    length: "x.length, without parentheses",
  },
  object: {
    "items entries": "Object.entries(x)",
    keys: "Object.keys(x)",
    values: "Object.values(x)",
    get: "x[key]",
    "has has_key": "key in x",
    set: "x[key] = value",
    setdefault: "x[key] ??= value (for a list: (x[key] ??= []).push(value))",
    "append push": "(x[key] ??= []).push(value), or start with a list: []",
    copy: "{ ...x }",
    update: "Object.assign(x, other)",
    pop: "x[key], then delete x[key]",
    forEach: "for (const [key, value] of Object.entries(x))",
    map: "Object.entries(x).map(([key, value]) => …)",
    sort: "Object.entries(x).toSorted(([, a], [, b]) => b - a)",
    join: "[...x].join(text)",
    "size length": "Object.keys(x).length",
    toFixed: "Number(x).toFixed(2)",
    strftime: "new Intl.DateTimeFormat(…).format(new Date(x))",
  },
  Set: {
    "append push": "x.add(value)",
    update: "for (const each of list) x.add(each)",
    "remove discard": "x.delete(value)",
    "includes contains": "x.has(value)",
  },
  Map: {
    items: "x.entries()",
    "push put": "x.set(key, value)",
    setdefault: "if (!x.has(key)) x.set(key, value)",
    remove: "x.delete(key)",
    pop: "x.get(key), then x.delete(key)",
    "includes contains containsKey": "x.has(key)",
  },
};

/** What to write in place of `object.method(…)`. `kind` is undefined if the object is not known. */
export function methodInstead(method: string, object: string, kind: Kind | undefined): string | undefined {
  const kinds: Kind[] = kind === "text" ? ["text", "object"] : kind ? [kind] : ["list", "text", "object"];
  const found = kinds.flatMap((each) => {
    const [, text] = Object.entries(methods[each]).find(([names]) => names.split(" ").includes(method)) ?? [];
    return text ?? otherMethod(method, each) ?? [];
  });
  const name = object.length <= 30 && /^[\w$.[\]"']+$/.test(object) ? object : "x";
  const texts = [...new Set(found)].map((text) => text.replace(/\bx\b/g, () => name));
  return texts.length === 0 ? undefined : `Write ${texts.join(", or ")}.`;
}

/** Methods of lists that other collections lack, and methods of dates. */
function otherMethod(method: string, kind: Kind): string | undefined {
  if (kind === "list" || kind === "text") return undefined;
  const list = { object: "Object.values(x)", Set: "[...x]", Map: "[...x.entries()]" }[kind];
  if (method in Array.prototype) return `${list}.${method}(…)`;
  return kind === "object" && method in Date.prototype ? `new Date(x).${method}()` : undefined;
}
