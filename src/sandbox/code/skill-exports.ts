/** Reads the exports of a skill from its text: names, signatures and comments. The skill is not run. */

/** Characters of the comment before an export that are read. */
const maxExportCommentChars = 4_000;

/** Exports that are read from one skill. Programs write skills, and the thread that answers the host reads them, so the work is limited. */
const maxSkillExports = 100;

/** Characters of an exported declaration in which its signature is looked for. */
const maxExportDeclarationChars = 2_000;

/** Characters of the signature of an export. A longer one is cut. */
const maxExportSignatureChars = 300;

export interface SkillExport {
  name: string;
  /** `topCustomers(limit: number): Promise<string[]>`, or the name and the type of an export that is not a function. */
  signature: string;
  /** The comment before the export, on one line. The first export may have the comment of the file. */
  description: string;
}

const declaration =
  /^export\s+(default\s+)?(?:declare\s+|abstract\s+)*(?:(async\s+)?function\s*(\*?)\s*([\w$]*)|(?:const|let|var)\s+([\w$]+)|(?:class|enum|const\s+enum)\s+([\w$]+)|(?=async\b|[([\w$]))/gm;

export function exportsOf(text: string): SkillExport[] {
  const matches = text.matchAll(declaration).take(maxSkillExports);
  const found = [...matches].map((match): SkillExport => {
    const [whole, isDefault, isAsync, isGenerator, called, held, other] = match;
    const source = text.slice(match.index, match.index + whole.length + maxExportDeclarationChars);
    const end = whole.length;
    const isExpression = isDefault !== undefined && called === undefined && held === undefined && other === undefined;
    const name = isDefault ? "default" : called || held || other || "default";
    const declared =
      called !== undefined
        ? functionText(source, end, { isAsync: Boolean(isAsync), isGenerator: Boolean(isGenerator) })
        : held !== undefined || isExpression
          ? heldText(source, end, isExpression ? "" : "=")
          : "";
    const signature = `${called || held || other || name}${declared}`.replace(/\s+/g, " ").trim();
    return { name, signature: cut(signature), description: commentBefore(text, match.index) };
  });
  const [first] = found;
  if (first && first.description === "") first.description = words(commentAtTop(text));
  return found;
}

function functionText(source: string, from: number, how: { isAsync: boolean; isGenerator: boolean }): string {
  const open = source.indexOf("(", from);
  const close = open === -1 ? -1 : closing(source, open);
  // The bracket may be closed after the text that is read.
  if (close === -1) return source.length - from > maxExportSignatureChars ? source.slice(from) : "()";
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

/** `: type` before the body or the value; undefined if there is none. */
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

/** The index of the bracket that closes the one at `open`, or -1. Strings, templates and comments are skipped. */
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

/** The comment that ends at `at`: a block, or lines that start with `//`. */
function commentBefore(source: string, at: number): string {
  const before = source.slice(Math.max(0, at - maxExportCommentChars), at).trimEnd();
  if (before.endsWith("*/")) {
    const previousEnd = before.lastIndexOf("*/", before.length - 3) + 1;
    const start = before.indexOf("/*", previousEnd);
    return start === -1 ? "" : words(before.slice(start));
  }
  const lines = before.split("\n");
  const start = lines.findLastIndex((line) => !line.trimStart().startsWith("//")) + 1;
  return words(lines.slice(start).join("\n"));
}

/** The comment at the start of the file. */
function commentAtTop(source: string): string {
  const text = source.trimStart();
  if (text.startsWith("/*")) return text.slice(0, Math.min(text.indexOf("*/") + 2, maxExportCommentChars));
  const lines = text.slice(0, maxExportCommentChars).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return (end === -1 ? lines : lines.slice(0, end)).join("\n");
}

/** The text of a comment on one line. */
function words(comment: string): string {
  return comment
    .replace(/^\/\*+|\*\/$/g, "")
    .replace(/^[ \t]*(?:\*(?!\/)|\/\/+)[ \t]?/gm, "")
    .replace(/@(?:param|returns?|throws|example)\b[\s\S]*$/, "")
    .replace(/\s+/g, " ")
    .trim();
}

function cut(text: string): string {
  return text.length > maxExportSignatureChars ? `${text.slice(0, maxExportSignatureChars - 1)}…` : text;
}
