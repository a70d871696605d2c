/** Limits the arguments of a call that the user is asked about: millions of characters cannot be read. */
import { eventLoopTurn } from "../base/event-loop.ts";

interface ArgumentLimits {
  /** Characters of the arguments as indented JSON, which is what the user reads. */
  characters: number;
  /** Texts, numbers, objects and so on. */
  values: number;
  levels: number;
}

/** The user is asked about arguments within these limits. */
export const readable: ArgumentLimits = { characters: 4_000_000, values: 20_000, levels: 500 };

/** Arguments beyond these limits are handled in a turn of their own, so that many such calls do not block the thread together. */
const small: ArgumentLimits = { characters: 20_000, values: 500, levels: 100 };

/** Undefined if work with the arguments may be done at once, otherwise a promise that resolves when it is their turn. */
export function turnFor(args: object): Promise<void> | undefined {
  return exceededLimit(args, small) === undefined ? undefined : eventLoopTurn();
}

/** The limit that the arguments exceed, such as `20,000 values`. Undefined if the arguments are within the limits. Stops at the first excess. */
export function exceededLimit(args: object, limits: ArgumentLimits = readable): string | undefined {
  let characters = 0;
  let values = 0;
  const waiting = [{ node: args, depth: 1 }];
  const isFull = () => values > limits.values || characters > limits.characters;
  const add = (value: unknown, depth: number) => {
    values += 1;
    // The indent, the comma and the line break.
    characters += 2 * depth + 2;
    if (typeof value === "string") characters += lengthOf(value, limits.characters - characters);
    else if (typeof value === "object" && value !== null) waiting.push({ node: value, depth: depth + 1 });
    else characters += String(value).length;
  };
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next;
    if (depth > limits.levels) return `${limits.levels} levels`;
    // The closing bracket has a line of its own.
    characters += 2 * depth + 2;
    if (Array.isArray(node)) {
      // A list's items can be counted before they are visited, unlike an object's keys.
      if (values + node.length > limits.values) return text(limits.values, "values");
      for (const item of node) add(item, depth);
    } else {
      // The loop visits one key at a time, without making a list of all keys.
      for (const key in node) {
        characters += lengthOf(key, limits.characters - characters) + 2;
        add((node as Record<string, unknown>)[key], depth);
        if (isFull()) break;
      }
    }
    if (values > limits.values) return text(limits.values, "values");
    if (characters > limits.characters) return text(limits.characters, "characters");
  }
  return undefined;
}

/** Characters that JSON escapes. */
const escaped = /["\\\p{Cc}\p{Cs}]/u;

/** Characters of the text as JSON. A text that is too long is not written out. */
function lengthOf(value: string, most: number): number {
  return value.length > most || !escaped.test(value) ? value.length + 2 : JSON.stringify(value).length;
}

function text(count: number, what: string): string {
  return `${count.toLocaleString("en")} ${what}`;
}
