/** Shows an execution as one HTML page. It makes no request, and texts of tools and code cannot run in it. */
import { createHash } from "node:crypto";
import type { ExecutionRecord } from "../../programs/trace/record.ts";
import callsStyle from "./calls.css" with { type: "text" };
import common from "./common.css" with { type: "text" };
import frame from "./frame.css" with { type: "text" };
import { Html, html, jsonIn } from "./html.ts";
import media from "./media.css" with { type: "text" };
import script from "./script.js" with { type: "text" };
import {
  codeOf,
  failureSection,
  figuresOf,
  headerOf,
  logsOf,
  receiptOf,
  returnedOf,
  section,
  titleOf,
} from "./sections.ts";
import texts from "./texts.css" with { type: "text" };
import { waterfallOf } from "./waterfall.ts";

export function pageOf(record: ExecutionRecord): string {
  const { rows, rules, data, byLine } = waterfallOf(record);
  const styles = [common, frame, callsStyle, texts, media, rules].join("\n");
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(styles)}'`,
    `script-src '${hashOf(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const calls =
    data.length > 0
      ? html`<div class="with-details">${rows}
<aside id="details" class="details" aria-label="The selected call" aria-live="polite"><p class="note">To see a call's details, point at it or use the arrow keys.</p></aside></div>`
      : html`<p class="note">The code called no tools.</p>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${titleOf(record)} · claudikins trace</title>
<style>${new Html(styles)}</style>
</head>
<body>
<main>
${headerOf(record)}
${failureSection(record)}
${figuresOf(record)}
${section("Calls", calls)}
${codeOf(record, byLine)}
${returnedOf(record)}
${logsOf(record)}
${receiptOf(record)}
</main>
<script type="application/json" id="data">${jsonIn(data)}</script>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
}

/** The hash for the content security policy, which allows only these texts as style and script. */
function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
