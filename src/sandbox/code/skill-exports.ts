/** What a skill exports, by its text: names, how they are called, and what their comments say. Nothing is run. */

export interface SkillExport {
  name: string;
  /** `topCustomers(limit: number): Promise<string[]>`; for what is no function, its name and its type where it has one. */
  signature: string;
  /** The comment before it, on one line; of the file, where it is the first export. */
  description: string;
}

const declaration =
  /^export\s+(default\s+)?(?:declare\s+|abstract\s+)*(?:(async\s+)?function\s*(\*?)\s*([\w$]*)|(?:const|let|var)\s+([\w$]+)|(?:class|enum|const\s+enum)\s+([\w$]+)|(?=async\b|[([\w$]))/gm;

const maxSignature = 300;
const maxComment = 4_000;

export function exportsOf(source: string): SkillExport[] {
  const found = [...source.matchAll(declaration)].map((match): SkillExport => {
    const [whole, isDefault, isAsync, isGenerator, called, held, other] = match;
    const end = match.index + whole.length;
    const isExpression = isDefault !== undefined && called === undefined && held === undefined && other === undefined;
    const name = isDefault ? "default" : called || held || other || "default";
    const text =
      called !== undefined
        ? functionText(source, end, { isAsync: Boolean(isAsync), isGenerator: Boolean(isGenerator) })
        : held !== undefined || isExpression
          ? heldText(source, end, isExpression ? "" : "=")
          : "";
    const signature = `${called || held || other || name}${text}`.replace(/\s+/g, " ").trim();
    return { name, signature: cut(signature), description: commentBefore(source, match.index) };
  });
  const [first] = found;
  if (first && first.description === "") first.description = commentBefore(source, source.length, true);
  return found;
}

function functionText(source: string, from: number, how: { isAsync: boolean; isGenerator: boolean }): string {
  const open = source.indexOf("(", from);
  const close = open === -1 ? -1 : closing(source, open);
  if (close === -1) return "()";
  return (
    source.slice(from, close + 1) + (typeAfter(source, close + 1, "{") ?? (how.isAsync ? ": Promise<unknown>" : ""))
  );
}

/** `const f = async (a: string): Promise<number> => …`, `const limit: number = 3`. */
function heldText(source: string, from: number, equals: "=" | ""): string {
  const type = (equals && typeAfter(source, from, "=")) || "";
  const rest = source.slice(from + type.length);
  const arrow = (equals ? /^\s*=\s*(async\s*)?(?=\(|[\w$]+\s*=>)/ : /^\s*(async\s*)?(?=\(|[\w$]+\s*=>)/).exec(rest);
  if (!arrow) return type;
  const start = from + type.length + arrow[0].length;
  if (source[start] !== "(") return `(${/^[\w$]+/.exec(source.slice(start))?.[0]})`;
  const close = closing(source, start);
  if (close === -1 || !/^\s*(?:=>|:)/.test(source.slice(close + 1))) return type;
  const result = typeAfter(source, close + 1, "=") ?? (arrow[1] ? ": Promise<unknown>" : "");
  return source.slice(start, close + 1) + result;
}

/** `: type` up to where the body or the value begins; undefined where there is none. */
function typeAfter(source: string, from: number, end: "{" | "="): string | undefined {
  const start = /^\s*:/.exec(source.slice(from, from + 200));
  if (!start) return undefined;
  let at = from + start[0].length;
  let complete = false;
  while (at < source.length) {
    const character = source[at]!;
    const arrow = source.startsWith("=>", at);
    if (character === end && complete && !(arrow && source[at - 1] === ")")) return source.slice(from, at).trimEnd();
    if (arrow && complete && end === "=") return source.slice(from, at).trimEnd();
    if (/[([{<]/.test(character)) {
      const close = closing(source, at);
      if (close === -1) return undefined;
      at = close + 1;
      complete = true;
    } else {
      if (arrow) at += 1;
      if (/[\w$"'`\]]/.test(character)) complete = true;
      else if (/[|&>]/.test(character)) complete = false;
      at += 1;
    }
  }
  return undefined;
}

/** Where the bracket that opens at `open` closes; strings, templates and comments are passed over. */
function closing(source: string, open: number): number {
  let depth = 0;
  const token = /["'`]|\/\*|\/\/|=>|[([{<>)\]}]/g;
  token.lastIndex = open;
  for (let match = token.exec(source); match; match = token.exec(source)) {
    const [text] = match;
    if (text === "=>") continue;
    if (/^["'`]$/.test(text)) token.lastIndex = after(source, match.index, text);
    else if (text === "/*") token.lastIndex = (source.indexOf("*/", match.index) + 1 || source.length) + 1;
    else if (text === "//") token.lastIndex = source.indexOf("\n", match.index) + 1 || source.length;
    else {
      depth += /[([{<]/.test(text) ? 1 : -1;
      if (depth === 0) return match.index;
    }
  }
  return -1;
}

function after(source: string, quoteAt: number, quote: string): number {
  for (let at = quoteAt + 1; at < source.length; at++) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === quote) return at + 1;
  }
  return source.length;
}

/** The comment that ends at `at`, or the one that the file begins with. */
function commentBefore(source: string, at: number, atTop = false): string {
  const before = source.slice(atTop ? 0 : Math.max(0, at - maxComment), at);
  const [block = ""] =
    (atTop
      ? /^\s*(?:\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*(?:\n|$))+)/.exec(before)
      : /(?:\/\*(?:(?!\*\/)[\s\S])*\*\/|(?:(?:^|\n)[ \t]*\/\/[^\n]*)+)\s*$/.exec(before)) ?? [];
  return block
    .replace(/^\s*\/\*+|\*\/\s*$/g, "")
    .replace(/^\s*(?:\*(?!\/)|\/\/+)[ \t]?/gm, "")
    .replace(/@(?:param|returns?|throws|example)\b[\s\S]*$/, "")
    .replace(/\s+/g, " ")
    .trim();
}

function cut(text: string): string {
  return text.length > maxSignature ? `${text.slice(0, maxSignature - 1)}…` : text;
}
