/**
 * Finds texts in definitions that seem to talk to the model instead of about the tool. A finding is a hint for a person, and its absence
 * proves nothing.
 */
import { visibleText } from "../../base/visible-text.ts";
import { type RegistryServer, toolId } from "../model.ts";
import type { Definition } from "./definition.ts";

interface Sign {
  /** A sentence that has all of them is a finding, whatever their order. */
  words: RegExp[];
  /** The end of a sentence about the tool. */
  finding: string;
}

const signs: Sign[] = [
  {
    words: [
      /\b(?:ignore|disregard|forget|override)\b/i,
      /\b(?:previous|prior|above|earlier|system|your)\b/i,
      /\b(?:instructions?|prompts?|rules|messages?|guidelines)\b/i,
    ],
    finding: "tells the model to ignore instructions",
  },
  {
    words: [
      /\b(?:do not|don['’]?t|never|without)\b/i,
      /\b(?:tell|mention|inform|reveal|notify|show|telling|mentioning|informing|notifying)\b/i,
      /\b(?:the user|the human|the person|anyone)\b/i,
    ],
    finding: "tells the model to hide something from the user",
  },
  {
    words: [/<\/?\s*(?:important|system|instructions?|secret|hidden|critical|admin)\b[^<>]{0,100}>/i],
    finding: "has a tag such as <IMPORTANT>",
  },
  {
    words: [/(?:^|[\s/"'`~\\])\.ssh\b|\bid_(?:rsa|ed25519)\b|\/etc\/(?:passwd|shadow)\b|\.aws\/credentials/i],
    finding: "names a file with secrets",
  },
  {
    words: [
      /\b(?:before|after|when|whenever)\b/i,
      /\b(?:call|calling|using|use|invoking)\b/i,
      /\b(?:this|any|other|the) (?:\w+ )?tools?\b/i,
      /\b(?:read|send|include|pass|forward|append|upload|copy)\b/i,
      /\b(?:credentials?|passwords?|private keys?|api[ _-]?keys?|conversation|chat history|\.env|config files?)\b/i,
    ],
    finding: "asks for secrets or the conversation when a tool is used",
  },
];

/** The findings in the definition's texts, as ends of sentences about the tool. Each kind appears once. */
export function suspicionsOf(definition: Definition): string[] {
  const texts = textsIn(definition);
  const sentences = texts.flatMap((text) => text.split(/[!?\n]|\.\s/));
  const isIn = ({ words }: Sign) => sentences.some((sentence) => words.every((word) => word.test(sentence)));
  const found = signs.filter(isIn).map(({ finding }) => finding);
  return texts.some((text) => visibleText(text) !== text) ? [...found, "has characters that are not seen"] : found;
}

/** All strings and keys, in the order of the definition. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsIn(each)]);
}

/** The suspicious tool of each server. A listed server is an object that does not change. */
const known = new WeakMap<RegistryServer, string | undefined>();

/** A tool whose definition seems to talk to the agent; undefined if there is none. */
export function firstSuspicious(servers: readonly RegistryServer[]): string | undefined {
  for (const server of servers) {
    if (!known.has(server)) {
      const found = server.tools.find((tool) => suspicionsOf(tool).length > 0);
      known.set(server, found && toolId(server.name, found.name));
    }
    const found = known.get(server);
    if (found !== undefined) return found;
  }
  return undefined;
}
