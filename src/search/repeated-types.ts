/** Gives a name to long object types that several signatures of an answer share, so that each is written once. */

/** Shorter types are not worth a name. */
const minLength = 80;

export interface NamedTypes {
  /** `type T1 = { … }`, the longest first. */
  types: string[];
  /** The signatures with the names. */
  signatures: string[];
}

export function nameRepeatedTypes(signatures: readonly string[]): NamedTypes {
  let texts = [...signatures];
  const found = new Set(texts.flatMap(objectTypesIn));
  const named: string[] = [];
  // The longest first: a type inside it may occur nowhere else.
  for (const type of [...found].sort((a, b) => b.length - a.length || (a < b ? -1 : 1))) {
    const isRepeated = [...texts, ...named].reduce((sum, text) => sum + text.split(type).length - 1, 0) > 1;
    if (!isRepeated) continue;
    const name = `T${named.length + 1}`;
    texts = texts.map((text) => text.replaceAll(type, () => name));
    for (const [at, body] of named.entries()) named[at] = body.replaceAll(type, () => name);
    named.push(type);
  }
  return { types: named.map((type, at) => `type T${at + 1} = ${type}`), signatures: texts };
}

/** The object types in a signature that are long enough, with those inside them. Braces in texts do not count. */
function objectTypesIn(signature: string): string[] {
  const types: string[] = [];
  const open: number[] = [];
  for (let at = 0; at < signature.length; at++) {
    const character = signature[at]!;
    if (character === '"') at = endOfText(signature, at);
    else if (signature.startsWith("/*", at)) at = signature.indexOf("*/", at) + 1 || signature.length;
    else if (character === "{") open.push(at);
    else if (character === "}") {
      const from = open.pop();
      if (from !== undefined && at + 1 - from >= minLength) types.push(signature.slice(from, at + 1));
    }
  }
  return types;
}

function endOfText(signature: string, start: number): number {
  let at = start + 1;
  while (at < signature.length && signature[at] !== '"') at += signature[at] === "\\" ? 2 : 1;
  return at;
}
