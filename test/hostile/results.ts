/** Answers to tools/call that overload whatever parses, checks, shows or keeps them. Each is a complete result as JSON text. */

const content = (text: string) => JSON.stringify({ content: [{ type: "text", text }] });
const structured = (json: string) => `{"content":[],"structuredContent":${json}}`;

export const hostileResults: Record<string, () => string> = {
  "200,000 levels": () => structured(`${"[".repeat(200_000)}${"]".repeat(200_000)}`),
  "3,000,000 levels": () => structured(`${"[".repeat(3_000_000)}${"]".repeat(3_000_000)}`),
  "200,000 levels of objects": () => structured(`${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`),
  "200,000 levels in a text": () => content(`${"[".repeat(200_000)}${"]".repeat(200_000)}`),
  "60,000 levels in a short text": () => content(`${"[".repeat(30_000)}${"]".repeat(30_000)}`),
  "a text of 60 MB": () => content("word ".repeat(12_000_000)),
  "a text of 100 MB that begins as JSON": () => content(`{"a":"${"x".repeat(100_000_000)}`),
  "rows of 40 MB": () =>
    structured(
      JSON.stringify({
        rows: Array.from({ length: 250_000 }, (_, i) => ({ id: i, name: `customer ${i}`, note: "x".repeat(100) })),
      }),
    ),
  "20 million values": () => structured(`[${"1,".repeat(20_000_000)}1]`),
  "5 million empty objects": () => structured(`[${"{},".repeat(5_000_000)}{}]`),
  "a million content blocks": () =>
    `{"content":[${'{"type":"text","text":"a"},'.repeat(1_000_000)}{"type":"text","text":"b"}]}`,
  "a million blocks of no kind": () => `{"content":[${'{"type":"x"},'.repeat(1_000_000)}{"type":"y"}]}`,
  "a million keys": () => structured(`{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":1`).join(",")}}`),
  "the same key a million times": () => structured(`{${'"k":1,'.repeat(1_000_000)}"k":2}`),
  "a number of 10 MB": () => structured("9".repeat(10_000_000)),
  "5 million escapes": () => content("\u0001".repeat(5_000_000)),
  "an image of 50 MB": () =>
    JSON.stringify({ content: [{ type: "image", mimeType: "image/png", data: "A".repeat(50_000_000) }] }),
  "a failure of 50 MB": () =>
    JSON.stringify({ isError: true, content: [{ type: "text", text: "failed ".repeat(7_000_000) }] }),
  "a failure of a million blocks": () =>
    `{"isError":true,"content":[${'{"type":"text","text":"no"},'.repeat(1_000_000)}{"type":"text","text":"b"}]}`,
  "keys that are special": () =>
    structured(
      `{"__proto__":{"a":1},"constructor":{"prototype":{}},"toJSON":1,"rows":[${'{"__proto__":null},'.repeat(50_000)}1]}`,
    ),
  "300,000 links": () =>
    `{"content":[${'{"type":"resource_link","uri":"x://y","name":"z"},'.repeat(300_000)}{"type":"text","text":"b"}]}`,
};

/** The name of a case as that of a tool. */
export const toolOf = (title: string) => `case_${title.replace(/[^a-z\d]+/gi, "_")}`;
