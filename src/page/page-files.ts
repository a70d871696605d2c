/** The files of the page: one document, one script, the script of the editor, one style sheet and one icon. They contain no data. */

import activity from "./browser/activity/activity.css" with { type: "text" };
import calls from "./browser/activity/calls.css" with { type: "text" };
import compare from "./browser/activity/compare.css" with { type: "text" };
import detail from "./browser/activity/detail.css" with { type: "text" };
import approvals from "./browser/approvals/approvals.css" with { type: "text" };
import base from "./browser/base.css" with { type: "text" };
import code from "./browser/code.css" with { type: "text" };
import controls from "./browser/controls.css" with { type: "text" };
import difference from "./browser/difference.css" with { type: "text" };
import editor from "./browser/editor/try-it.css" with { type: "text" };
import figures from "./browser/figures/figures-view.css" with { type: "text" };
import first from "./browser/first-visit.css" with { type: "text" };
import frame from "./browser/frame.css" with { type: "text" };
import lists from "./browser/lists.css" with { type: "text" };
import narrow from "./browser/narrow.css" with { type: "text" };
import programs from "./browser/programs/programs.css" with { type: "text" };
import held from "./browser/servers/held.css" with { type: "text" };
import servers from "./browser/servers/servers.css" with { type: "text" };
import system from "./browser/system/system.css" with { type: "text" };
import tokens from "./browser/tokens.css" with { type: "text" };
import tools from "./browser/tools/tools.css" with { type: "text" };
import { browserScript, editorScript } from "./bundle.ts";
import { htmlDocument } from "./document.ts";

const script = browserScript();
const style = [
  tokens,
  base,
  controls,
  code,
  frame,
  lists,
  approvals,
  difference,
  first,
  held,
  programs,
  figures,
  servers,
  activity,
  detail,
  calls,
  compare,
  editor,
  tools,
  system,
  narrow,
].join("\n");

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#2f63c9"/><path d="M5 4.5 8.5 8 5 11.5M9 11.5h3" fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** Shown without a session, and without JavaScript. */
export const howToOpen = "Open this page with: claudikins ui";

const head = `<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>`;

export interface PageFile {
  type: string;
  text: string;
}

function document(body: string): PageFile {
  return { type: "text/html; charset=utf-8", text: htmlDocument({ title: "claudikins", head, body }) };
}

export const userDocument = document(`<div id="page"></div>
<noscript><p>This page needs JavaScript. ${howToOpen}</p></noscript>`);

/** The document for people who sign in. It tells the script where to sign in. */
export const peopleDocument = document(`<div id="page" data-sign-in="sign-in"></div>
<noscript><p>This page needs JavaScript.</p></noscript>`);

/** By the path below the page's own. */
export const pageFiles: ReadonlyMap<string, PageFile> = new Map([
  ["page.js", { type: "text/javascript; charset=utf-8", text: script }],
  ["editor.js", { type: "text/javascript; charset=utf-8", text: editorScript() }],
  ["page.css", { type: "text/css; charset=utf-8", text: style }],
  ["icon.svg", { type: "image/svg+xml", text: icon }],
]);

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The page of an execution brings its own policy. It has no origin, so its script has no access to our page. */
export const tracePolicy = "sandbox allow-scripts; frame-ancestors 'none'";

/** The headers of every answer. Answers must not be cached or embedded, and their addresses must not reach other sites. */
export const headers = {
  "content-security-policy": policy,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};
