/** Counts the characters that content takes in a model's context. */

/** Hosts cut results at about 25,000 tokens, so the rest would not have been in the context. */
export const shownChars = 100_000;

/** An image costs about 1,500 tokens by its pixels, not by its base64. Audio and files are counted the same. */
const imageChars = 6_000;

/** The characters of content blocks and of the resources in them. */
export function charsOfBlocks(blocks: unknown): number {
  if (!Array.isArray(blocks)) return 0;
  return blocks.reduce((sum: number, block) => sum + charsOfBlock(block ?? {}), 0);
}

function charsOfBlock(block: Record<string, unknown>): number {
  const { text, data, blob, resource } = block;
  if (typeof text === "string") return text.length;
  if (typeof data === "string" || typeof blob === "string") return imageChars;
  if (typeof resource === "object" && resource !== null) return charsOfBlock(resource as Record<string, unknown>);
  return JSON.stringify(block).length;
}
