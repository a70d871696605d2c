/** How many characters of the servers' definitions make a token: measured, where definitions are known. */
import { definitionText } from "../catalog/definitions.ts";
import { estimate, type Tokenizer } from "../ledger/statistics.ts";
import type { Io } from "./io.ts";
import { openToolbox } from "./session.ts";

/** Enough to know it, and done in a moment. */
const maxChars = 400_000;

/** By the servers of this project, or of the user; an estimate where none is known, or where the config cannot be read. */
export async function tokenizerFor(io: Io, config: string | undefined): Promise<Tokenizer> {
  const texts = await definitions(io, config);
  if (texts.length === 0) return estimate;
  const { o200k } = await import("./o200k.ts");
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
