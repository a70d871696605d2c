/** A strict XML parser for our SVGs: text that is not well-formed throws. It supports no doctype, CDATA or comments. */

export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  /** The text of the element and its descendants. */
  text: string;
}

const value = '"(?:[^"<&]|&(?:lt|gt|amp|quot|apos);)*"';
const tokens = new RegExp(
  [
    `<(?<open>[a-zA-Z][\\w:-]*)(?<attributes>(?:\\s+[\\w:-]+=${value})*)\\s*(?<empty>/?)>`,
    "</(?<close>[a-zA-Z][\\w:-]*)\\s*>",
    "(?<text>(?:[^<&\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\uFFFE\\uFFFF]|&(?:lt|gt|amp|quot|apos);)+)",
  ].join("|"),
  "y",
);

/** The root element. */
export function parseXml(source: string): Element {
  const outside: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [outside];
  tokens.lastIndex = 0;
  for (let at = 0; at < source.length; at = tokens.lastIndex) {
    const groups = tokens.exec(source)?.groups;
    if (!groups) throw new Error(`not well-formed at ${at}: ${source.slice(at, at + 60)}`);
    const inside = open.at(-1) ?? outside;
    const text = decoded(groups["text"] ?? "");
    if (inside === outside && text.trim() !== "") throw new Error(`text outside of all elements, at ${at}`);
    for (const each of open) each.text += text;
    if (groups["open"] !== undefined) {
      const element = {
        name: groups["open"],
        attributes: attributesOf(groups["attributes"] ?? ""),
        children: [],
        text: "",
      };
      inside.children.push(element);
      if (groups["empty"] !== "/") open.push(element);
    }
    if (groups["close"] !== undefined && open.pop()?.name !== groups["close"]) {
      throw new Error(`</${groups["close"]}> closes another element, at ${at}`);
    }
  }
  const [root, second] = outside.children;
  if (open.length !== 1 || !root || second) throw new Error("not one element with all in it");
  return root;
}

function attributesOf(source: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [, name = "", text = ""] of source.matchAll(/([\w:-]+)="([^"]*)"/g)) {
    if (Object.hasOwn(attributes, name)) throw new Error(`the attribute ${name} is there twice`);
    attributes[name] = decoded(text);
  }
  return attributes;
}

function decoded(text: string): string {
  const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
  return text.replace(/&(\w+);/g, (_, name: string) => entities[name] ?? "");
}

/** The descendants with this name. */
export function elementsOf(element: Element, name?: string): Element[] {
  const within = element.children.flatMap((child) => elementsOf(child, name));
  return name === undefined || element.name === name ? [element, ...within] : within;
}
