/**
 * Content blocks as a list that also answers to what people write: `result.content`, as in the MCP result, and `data`
 * and `mimeType` of its first picture or sound. None of it is seen when the list is looped over or shown.
 */
export function blocksOf(blocks: (Record<string, unknown> | null)[]): unknown {
  const media = blocks.find((block) => block?.["type"] === "image" || block?.["type"] === "audio");
  const texts = blocks.filter((block) => block?.["type"] === "text").map((block) => block?.["text"]);
  const more = { content: blocks, data: media?.["data"], mimeType: media?.["mimeType"], text: texts.join("\n") };
  for (const [name, value] of Object.entries(more)) {
    if (value !== undefined) Object.defineProperty(blocks, name, { value });
  }
  return blocks;
}
