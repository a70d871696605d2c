/** Counts tokens as o200k has them. Its table is a file of its own in the executable, which nothing else has to load. */
import { readFileSync } from "node:fs";
import tableFile from "gpt-tokenizer/data/o200k_base.tiktoken" with { type: "file" };
import { GptEncoding } from "gpt-tokenizer/GptEncoding";

/** A third of a second, mostly for the table. */
export function o200k(): (text: string) => number {
  const encoding = GptEncoding.getEncodingApi("o200k_base", () => readTable(readFileSync(tableFile, "latin1")));
  return (text) => encoding.countTokens(text, { disallowedSpecial: new Set() });
}

/** A line a token, in their order: its bytes in base64, and its number. Bytes that are a text are given as one. */
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
