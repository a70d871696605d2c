/** How many characters something takes in a model's context, where all that is known is characters. */

/** Of a longer result hosts show no more: about 25,000 tokens. What they cut off would not have been in the context. */
export const shownChars = 100_000;

/** What an image costs by its pixels, about 1,500 tokens: its base64 is no text. Sounds and files are taken for the same. */
const imageChars = 6_000;

/** Of content blocks, also of those that are in resources. */
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
