/**
 * Makes an array of content blocks that also has the properties that programs expect: `result.content`, as in the MCP result,
 * `text`, and `data` and `mimeType` of its first image or audio. These properties are not enumerable.
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
