/** Reads what a search answer promises about the results of tools, and whether a program can rely on it. */

export interface Promised {
  /** In TypeScript, without named types. */
  type: string;
  /** The format of a text, or what the type does not tell. */
  format?: string;
}

const signatureLine = /^(\w+(?:\.\w+|\["[^"]+"\])+)\(.*\): Promise<(.*)>(?: \/\* observed \*\/)?(?: \/\* (.*) \*\/)?$/;
const namedType = /^type (T\d+) = (.*)$/;

/** The promises of an answer of `search_tools`, by the path of the call, such as `demo.get_order`. */
export function promisesIn(answer: string): Map<string, Promised> {
  const lines = answer.split("\n");
  const named = lines.flatMap((line) => {
    const [, name, type] = namedType.exec(line) ?? [];
    return name && type ? [[name, type] as const] : [];
  });
  // A named type may contain others, which are shorter and come after it.
  const whole = (text: string) =>
    named.reduce((type, [name, body]) => type.replaceAll(new RegExp(`\\b${name}\\b`, "g"), () => body), text);
  return new Map(
    lines.flatMap((line) => {
      const [, path, type, format] = signatureLine.exec(line) ?? [];
      return path && type ? [[path, { type: whole(type), ...(format ? { format } : {}) }] as const] : [];
    }),
  );
}

/**
 * Whether a program that uses the result must be preceded by one that prints it: nothing is known about the result or a part of it, or
 * it is a text in an unknown format.
 */
export function needsProbe({ type, format }: Promised): boolean {
  if (/^(?:unknown|any)$/.test(type)) return true;
  if (format !== undefined) return false;
  return /\b(?:unknown|any)\b(?!\??:)/.test(type) || alternatives(type).some(isText);
}

/** A text, content blocks with a text, or an object around one text. */
function isText(type: string): boolean {
  return (
    type === "string" ||
    /^\{ (?:content|text|result|output|response|message): string \}$/.test(type) ||
    /^\{ type: string; .*\btext\?: string\b/.test(type)
  );
}

/** The parts of a union, without the unions within them. */
function alternatives(type: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of type) {
    if ("{[(<".includes(character)) depth += 1;
    if ("}])>".includes(character)) depth -= 1;
    if (character === "|" && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}
