/** The page of an execution as a file: it has only the elements of our components, and can be read without its script. */
import { expect, test } from "bun:test";
import { pageOf } from "../../src/page/execution/page.ts";
import type { ExecutionRecord } from "../../src/programs/trace/record.ts";
import { callOf, recordOf } from "../programs/trace/records.ts";

/** A record with the text in every place for a text. */
function recordWith(text: string): ExecutionRecord {
  const excerpt = { text, isWhole: false };
  const call = callOf({ server: text, tool: text, outcome: "failed", code: text, message: text });
  return recordOf({
    id: "one",
    at: 0,
    config: `/${text}`,
    ok: false,
    timeline: [{ ...call, arguments: excerpt, result: excerpt }],
    code: { chars: 1, lines: 1, text },
    logs: { lines: 1, chars: 1, entries: [{ level: text, text }] },
    error: { name: text, message: text, hint: text, code: text, line: 1 },
    protocols: { [text]: text },
    receipt: text,
    value: excerpt,
  });
}

interface Parsed {
  /** The elements with the names of their attributes. */
  elements: string[];
  texts: string;
}

function parsed(html: string): Parsed {
  const elements: string[] = [];
  let texts = "";
  const handlers = {
    element: ({ tagName, attributes }: HTMLRewriterTypes.Element) => {
      elements.push([tagName, ...[...attributes].map(([name]) => name)].join(" "));
    },
    text: (chunk: HTMLRewriterTypes.Text) => {
      texts += chunk.text;
    },
  };
  new HTMLRewriter().on("*", handlers).transform(html);
  return { elements, texts };
}

const hostile = [
  "</script><script>hacked()</script>",
  '"><img src=x onerror="hacked()">',
  "' onmouseover='hacked()' x='",
  "</style></title></template></textarea></pre><iframe src=javascript:hacked()></iframe>",
  "<!--",
  "&lt;script&gt;hacked()",
  '{"type":"script","props":{"children":"hacked()"}}',
];

test.each(hostile)("no text adds an element or an attribute: %s", async (text) => {
  const kinds = async (shown: string) => [...new Set(parsed(await pageOf(recordWith(shown))).elements)].sort();
  const harmless = await kinds("return 1");
  expect(harmless).toContain("section class aria-labelledby");
  // The colours of code are spans, and their number depends on the code.
  expect(await kinds(text)).toEqual(harmless);
});

test("no object of a record becomes an element", async () => {
  const element = { type: "img", props: { src: "x" }, key: null };
  expect(pageOf(recordOf({ receipt: element as never }))).rejects.toThrow("only texts and elements of Preact");
});

test("without the script, the figures, calls, code, logs and the value can be read", async () => {
  const whole = { text: '{"total":42}', isWhole: true };
  const html = await pageOf(
    recordOf({
      timeline: [callOf({ tool: "list_orders" })],
      code: { chars: 9, lines: 1, text: "return 42" },
      logs: { lines: 1, chars: 6, entries: [{ level: "warn", text: "careful" }] },
      value: whole,
    }),
  );
  const { texts } = parsed(html.replace(/<script>.*<\/script>/s, ""));
  for (const text of ["1 call in 500 ms", "shop.list_orders", "100 ms", "return", "careful", '"total": 42']) {
    expect(texts).toContain(text);
  }
});
