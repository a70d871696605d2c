/** Gives a name to long object types that several signatures of an answer share, so that each is written once. */

/** Types of one answer that get a name, so that the work is in proportion to the length of the signatures. */
const maxNamedTypes = 20;

/** Shorter types are not worth a name. */
const minNamedTypeChars = 80;

interface NamedTypes {
  /** `type T1 = { … }`, the longest first. */
  types: string[];
  /** The signatures with the names. */
  signatures: string[];
}

/** Names at most `maxNamedTypes` types, so that the work is in proportion to the length of the signatures. */
export function nameRepeatedTypes(signatures: readonly string[]): NamedTypes {
  let texts = [...signatures];
  const counts = new Map<string, number>();
  for (const type of texts.flatMap(objectTypesIn)) counts.set(type, (counts.get(type) ?? 0) + 1);
  const repeated = [...counts].filter(([, count]) => count > 1).map(([type]) => type);
  const named: string[] = [];
  // The longest first: a type inside it may occur nowhere else.
  for (const type of repeated.sort((a, b) => b.length - a.length).slice(0, maxNamedTypes)) {
    const occurrences = [...texts, ...named].reduce((sum, text) => sum + text.split(type).length - 1, 0);
    if (occurrences < 2) continue;
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
      if (from !== undefined && at + 1 - from >= minNamedTypeChars) types.push(signature.slice(from, at + 1));
    }
  }
  return types;
}

function endOfText(signature: string, start: number): number {
  let at = start + 1;
  while (at < signature.length && signature[at] !== '"') at += signature[at] === "\\" ? 2 : 1;
  return at;
}
