/** Lists of tools, resources and prompts that overload whatever reads, names, indexes or writes them. Each is a list of pages as JSON text. */

type Pages = () => Generator<string>;

const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object" },
  ...more,
});
const tools = (count: number, of: (index: number) => object) => Array.from({ length: count }, (_, index) => of(index));

function* one(page: unknown): Generator<string> {
  yield JSON.stringify(page);
}

/** A binary tree of references: 2^30 leaves if all are followed. */
const doubled = {
  type: "object",
  properties: { x: { $ref: "#/$defs/d0" } },
  $defs: Object.fromEntries(
    tools(31, (level) => ({ level })).map((_, level) => [
      `d${level}`,
      level === 30
        ? { type: "string" }
        : {
            anyOf: [
              { $ref: `#/$defs/d${level + 1}` },
              { type: "object", properties: { a: { $ref: `#/$defs/d${level + 1}` } } },
            ],
          },
    ]),
  ),
};

export const hostileLists: Record<string, Pages> = {
  "100,000 tools": () => one({ tools: tools(100_000, (i) => tool(`tool_${i}`)) }),
  "100,000 tools in pages of 500": function* () {
    for (let page = 0; page < 200; page++) {
      const list = tools(500, (i) => tool(`tool_${page}_${i}`));
      yield JSON.stringify({ tools: list, ...(page < 199 ? { nextCursor: `${page + 1}` } : {}) });
    }
  },
  "pages without end": function* () {
    for (let page = 0; ; page++) yield JSON.stringify({ tools: [tool(`tool_${page}`)], nextCursor: `${page + 1}` });
  },
  "a description of 60 MB": () => one({ tools: [tool("wordy", { description: "word ".repeat(12_000_000) })] }),
  "5,000 descriptions of 20 KB": () =>
    one({ tools: tools(5_000, (i) => tool(`tool_${i}`, { description: "word ".repeat(4_000) })) }),
  "a name of 10 MB": () => one({ tools: [tool("n".repeat(10_000_000)), tool("good")] }),
  "20,000 names that are one identifier": () =>
    one({
      tools: tools(20_000, (i) => tool(i.toString(2).padStart(15, "0").replaceAll("0", "-").replaceAll("1", "_"))),
    }),
  "100,000 times the same name": () => one({ tools: tools(100_000, () => tool("same")) }),
  "entries that are no tools": () =>
    one({ tools: [...tools(100_000, () => null as unknown as object), 5, "x", [], {}, tool("good")] }),
  "a title of 30 MB": () => one({ tools: [tool("titled", { title: "T".repeat(30_000_000) })] }),
  "annotations of 20 MB": () =>
    one({ tools: [tool("noted", { annotations: { title: "a".repeat(20_000_000), readOnlyHint: true } })] }),
  "icons without number": () => one({ tools: [tool("iconic", { icons: tools(300_000, () => ({ src: "data:x" })) })] }),
  "meta that is 100,000 deep": function* () {
    yield `{"tools":[{"name":"deep","inputSchema":{"type":"object"},"_meta":{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}},{"name":"good","inputSchema":{"type":"object"}}]}`;
  },
  "a schema that is 200,000 deep": function* () {
    yield `{"tools":[{"name":"deep","inputSchema":{"type":"object","properties":${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}}},{"name":"good","inputSchema":{"type":"object"}}]}`;
  },
  "2,000 schemas that double": () => one({ tools: tools(2_000, (i) => tool(`tool_${i}`, { inputSchema: doubled })) }),
  "90 schemas that double, in results as well": () =>
    one({ tools: tools(90, (i) => tool(`tool_${i}`, { inputSchema: doubled, outputSchema: doubled })) }),
  "1,000 schemas of 100 KB": () =>
    one({
      tools: tools(1_000, (i) =>
        tool(`tool_${i}`, {
          inputSchema: {
            type: "object",
            properties: { x: { enum: tools(5_000, (k) => `choice ${k}` as unknown as object) } },
          },
        }),
      ),
    }),
  "one word of 16,000 letters in 5,000 descriptions": () =>
    one({ tools: tools(5_000, (i) => tool(`tool_${i}`, { description: `w${i}`.repeat(3_000) })) }),
  "a cursor of 20 MB": () => one({ tools: [tool("good")], nextCursor: "c".repeat(20_000_000) }),
  "values without number": function* () {
    yield `{"tools":[{"name":"good","inputSchema":{"type":"object"},"junk":[${"1,".repeat(6_000_000)}1]}]}`;
  },
  "100,000 sentences with no end": () =>
    one({ tools: tools(3_000, (i) => tool(`tool_${i}`, { description: "e.g. i.e. etc. vs. ".repeat(800) })) }),
};
