/** Shows an execution as one HTML file. It makes no request, and texts of tools and code cannot run in it. */
import { createHash } from "node:crypto";
import type { ExecutionRecord } from "../../programs/trace/record.ts";
import base from "../browser/base.css" with { type: "text" };
import code from "../browser/code.css" with { type: "text" };
import own from "../browser/execution/execution.css" with { type: "text" };
import tokens from "../browser/tokens.css" with { type: "text" };
import { executionScript } from "../bundle.ts";
import type { ExecutionHtml } from "../contract.ts";
import { htmlDocument } from "../document.ts";

const script = executionScript();

export async function pageOf(record: ExecutionRecord): Promise<string> {
  const { title, body, rules } = await viewOf(record);
  const style = [tokens, base, code, own, rules].join("\n");
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return htmlDocument({
    title: `${title} · claudikins execution`,
    head: `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<style>${style}</style>`,
    body: `${body}\n<script>${script}</script>`,
  });
}

/** The components are checked with the types of a browser, in a project of their own. "as string" keeps those types out of this one. */
async function viewOf(record: ExecutionRecord): Promise<ExecutionHtml> {
  const { executionView } = (await import("../browser/execution/execution.tsx" as string)) as {
    executionView(record: ExecutionRecord): ExecutionHtml;
  };
  return executionView(record);
}

/** The hash for the content security policy, which allows only these texts as style and script. */
function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
