/** Measures how many characters of the servers' definitions make a token. */
import { readFileSync } from "node:fs";
import tableFile from "gpt-tokenizer/data/o200k_base.tiktoken" with { type: "file" };
import { GptEncoding } from "gpt-tokenizer/GptEncoding";
import { estimate, type Tokenizer } from "../ledger/statistics.ts";
import { definitionText } from "../registry/model.ts";
import type { Io } from "./io.ts";
import { openToolbox } from "./session.ts";

/** Characters of definitions that are measured. More would not change the result. */
const maxChars = 400_000;

/** Measures the known tools of the config in use. Without known tools or a readable config, returns an estimate. */
export async function tokenizerFor(io: Io, config: string | undefined): Promise<Tokenizer> {
  const texts = await definitions(io, config);
  if (texts.length === 0) return estimate;
  const tokensOf = o200k();
  let [chars, tokens] = [0, 0];
  for (const text of texts) {
    if (chars > maxChars) break;
    chars += text.length;
    tokens += tokensOf(text);
  }
  return { ...estimate, definitions: "o200k", definitionCharsPerToken: chars / tokens };
}

async function definitions(io: Io, config: string | undefined): Promise<string[]> {
  try {
    await using toolbox = await openToolbox(io, { config }, { asks: false });
    return toolbox.catalog.knownServers.flatMap(({ tools }) => tools.map(definitionText));
  } catch (error) {
    if (config !== undefined) throw error;
    return [];
  }
}

/** Returns a function that counts o200k tokens. Loading its table takes a third of a second. */
export function o200k(): (text: string) => number {
  const encoding = GptEncoding.getEncodingApi("o200k_base", () => readTable(readFileSync(tableFile, "latin1")));
  return (text) => encoding.countTokens(text, { disallowedSpecial: new Set() });
}

/** Each line is a token: its bytes in base64 and its number. Valid UTF-8 becomes a string. */
function readTable(table: string): (string | number[])[] {
  const texts = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const tokens: (string | number[])[] = [];
  for (const line of table.split("\n")) {
    const space = line.indexOf(" ");
    if (space === -1) continue;
    const bytes = Buffer.from(line.slice(0, space), "base64");
    const place = Number(line.slice(space + 1));
    try {
      tokens[place] = texts.decode(bytes);
    } catch {
      tokens[place] = [...bytes];
    }
  }
  return tokens;
}
