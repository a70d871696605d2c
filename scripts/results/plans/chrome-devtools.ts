/** Calls of Chrome DevTools in a headless Chromium. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "../chromium.ts";
import type { Plan, PlannedCall } from "../plan.ts";

const page = { pageId: 1 };
const uidOf = (text: string, name: RegExp) => new RegExp(`uid=(\\S+) ${name.source}`).exec(text)?.[1] ?? "";

const done = { says: "a sentence", pattern: /^(?:Successfully |Typed ).*\n?$/ };
const clicked = {
  says: 'a sentence; if a dialog opened, then "# Open dialog" and its text: handle_dialog closes it',
  pattern: /^Successfully |^The element was clicked .*\n# Open dialog\nconfirm: /,
};
const snapshot: PlannedCall = {
  tool: "take_snapshot",
  args: () => page,
  text: {
    says: 'a line "## Latest page snapshot", then one element per line, indented as a tree: uid=1_11 button "Save"; the uid is what the other tools take',
    pattern: /^## Latest page snapshot\nuid=\S+ RootWebArea /,
  },
};
/** The part of a trace report that programs read. */
const trace = {
  says: 'a sentence; unless the trace goes on, then a report in Markdown: "URL: …" and, per navigation, a section "## insight set id: id" with metrics ("  - LCP: 154 ms, …", "  - CLS: 0.00") and lines "  - insight name: name"',
  pattern: /^The performance trace (?:is being recorded|has been stopped)\..*\n?(?:## Summary [\s\S]*\nURL: [\s\S]*)?$/,
};

export const chromeDevtools: Plan = {
  server: "web/chrome-devtools",
  package: "chrome-devtools-mcp@1.11.0",
  usual: ["list_pages", "new_page", "take_snapshot", "click", "fill", "evaluate_script"],
  args: () => [
    "--headless",
    "--isolated",
    "--executablePath",
    chromium,
    "--chromeArg=--no-sandbox",
    "--no-usage-statistics",
  ],
  prepare: ({ folder }) => writeFileSync(join(folder, "page.json"), "{}"),
  calls: [
    {
      tool: "list_pages",
      text: {
        says: 'a line "## Pages", then one page per line: "1: url [selected]" or "1: title (url) [selected]"',
        pattern: /^## Pages\n\d+: /,
      },
    },
    {
      tool: "navigate_page",
      args: (world) => ({ ...page, type: "url", url: world.page }),
      text: {
        says: 'a sentence, then one page per line after "## Pages": "1: title (url) [selected]"',
        pattern: /^Successfully .*\n## Pages\n\d+: /,
      },
    },
    {
      tool: "evaluate_script",
      args: () => ({ ...page, function: "() => ({ title: document.title })" }),
      text: {
        says: "a sentence, then the JSON of the value between ```json and ```",
        pattern: /^Script ran .*\n```json\n[\s\S]*\n```$/,
      },
    },
    {
      tool: "list_console_messages",
      args: () => page,
      text: {
        says: 'a line "## Console messages" and a line with the page numbers, then one message per line: "msgid=1 [log] text (1 args)"',
        pattern: /^## Console messages\nShowing .*\nmsgid=\d+ \[\w+\] /,
      },
    },
    {
      tool: "list_network_requests",
      args: () => page,
      text: {
        says: 'a line "## Network requests" and a line with the page numbers, then one request per line: "reqid=1 GET url [200]"',
        pattern: /^## Network requests\nShowing .*\nreqid=\d+ GET \S+ \[\d+\]/,
      },
    },
    snapshot,
    {
      tool: "click",
      args: ({ last }) => ({ ...page, uid: uidOf(last, /button "Save"/) }),
      text: clicked,
    },
    snapshot,
    {
      tool: "fill",
      args: ({ last }) => ({ ...page, uid: uidOf(last, /textbox/), value: "Ada" }),
      text: done,
    },
    {
      tool: "wait_for",
      args: () => ({ ...page, text: ["Orders"] }),
      text: { says: "a sentence, then what take_snapshot returns", pattern: / found\.\n## Latest page snapshot\n/ },
    },
    {
      tool: "press_key",
      args: () => ({ ...page, key: "Tab" }),
      text: done,
    },
    {
      tool: "resize_page",
      args: () => ({ ...page, width: 800, height: 600 }),
      text: { says: 'one page per line after "## Pages": "1: title (url) [selected]"', pattern: /^## Pages\n/ },
    },
    {
      tool: "take_screenshot",
      args: () => page,
      text: {
        says: "a text block with a sentence, then an image block with the PNG in base64",
        pattern: /^Took .*\n\[image\]$/,
      },
    },
    snapshot,
    {
      tool: "fill_form",
      args: ({ last }) => ({ ...page, elements: [{ uid: uidOf(last, /textbox/), value: "Bob" }] }),
      text: done,
    },
    snapshot,
    { tool: "hover", args: ({ last }) => ({ ...page, uid: uidOf(last, /button "Save"/) }), text: done },
    snapshot,
    {
      tool: "drag",
      args: ({ last }) => ({
        ...page,
        from_uid: uidOf(last, /button "Save"/),
        to_uid: uidOf(last, /textbox/),
      }),
      text: done,
    },
    { tool: "type_text", args: () => ({ ...page, text: "x" }), text: done },
    {
      tool: "get_console_message",
      args: () => ({ ...page, msgid: 1 }),
      text: {
        says: 'lines "ID: 1" and "Message: log> text"; then, where there are any, sections "### Arguments" ("Arg #0: text") and "### Stack trace"',
        pattern: /^ID: 1\nMessage: log> .*\n### Arguments\nArg #0: /,
      },
    },
    {
      tool: "get_network_request",
      args: () => ({ ...page, reqid: 1 }),
      text: {
        says: 'lines "## Request url" and "Status: 200", then sections "### Request Headers" and "### Response Headers" ("- name:value" per line) and "### Response Body"',
        pattern:
          /^## Request \S+\nStatus: \d+\n### Request Headers\n- [\s\S]*\n### Response Headers\n- [\s\S]*\n### Response Body\n/,
      },
    },
    snapshot,
    {
      tool: "get_css_styles",
      args: ({ last }) => ({ ...page, uid: uidOf(last, /button "Save"/) }),
      text: {
        says: "a line with the page numbers and a line with the element, then CSS: rules with their origin in brackets after the selector, and one property per line",
        pattern: /^Showing .*\nStyles for .*:\n\n\s+\S.* \(.*\) \{\n\s+[\w-]+: /,
      },
    },
    snapshot,
    {
      tool: "upload_file",
      args: ({ last, folder }) => ({
        ...page,
        uid: uidOf(last, /button "Choose/),
        filePaths: [join(folder, "page.json")],
      }),
      text: { says: "a sentence with the path", pattern: /^File uploaded from / },
    },
    snapshot,
    {
      tool: "click",
      args: ({ last }) => ({ ...page, uid: uidOf(last, /button "Ask"/) }),
      text: clicked,
    },
    {
      tool: "handle_dialog",
      args: () => ({ ...page, action: "accept" }),
      text: {
        says: 'a sentence, then one page per line after "## Pages": "1: title (url) [selected]"',
        pattern: /^Successfully .*\n## Pages\n\d+: /,
      },
    },
    { tool: "performance_start_trace", args: () => page, text: trace },
    {
      tool: "performance_analyze_insight",
      args: () => ({ ...page, insightSetId: "NAVIGATION_0", insightName: "LCPBreakdown" }),
      text: {
        says: 'a report in Markdown: "## Insight Title: title", then sections such as "## Insight Summary:" and "## Detailed analysis:"',
        pattern: /^## Insight Title: .*\n[\s\S]*## Detailed analysis:/,
      },
    },
    { tool: "performance_start_trace", args: () => ({ ...page, reload: false, autoStop: false }), text: trace },
    { tool: "performance_stop_trace", args: () => page, text: trace },
    {
      tool: "take_heapsnapshot",
      args: ({ folder }) => ({ ...page, filePath: join(folder, "page.heapsnapshot") }),
      text: { says: "a sentence with the path of the file", pattern: /^Heap snapshot saved to \/.*/ },
    },
    {
      tool: "screencast_start",
      args: ({ folder }) => ({ ...page, filePath: join(folder, "page.mp4") }),
      text: { says: "a sentence with the path of the file", pattern: /^Screencast recording started.* \/.*\.mp4/ },
    },
    {
      tool: "screencast_stop",
      args: () => page,
      text: { says: "a sentence with the path of the file", pattern: /^The screencast .* \/.*\.mp4/ },
    },
    {
      tool: "lighthouse_audit",
      args: ({ folder }) => ({ ...page, mode: "snapshot", outputDirPath: folder }),
      text: {
        says: 'Markdown: lines Mode, Device and URL; "### Category scores" ("- Name: 85 (id)"); "### Audit summary" ("Passed: 16", "Failed: 6"); "### Failed audits" ("- id [category]: text (score: 0)"); "### Reports" with the files',
        pattern:
          /^## Lighthouse audit results\nMode: [\s\S]*### Category scores\n- [\w ]+: \d+ \([\w-]+\)[\s\S]*### Audit summary\nPassed: \d+\nFailed: \d+[\s\S]*### Failed audits\n- [\s\S]*### Reports\n- /,
      },
    },
    {
      tool: "emulate",
      args: () => ({ ...page, colorScheme: "dark" }),
      text: { says: "a sentence, then one line per setting that is emulated", pattern: /^Emulation .*\nEmulating / },
    },
    {
      tool: "new_page",
      args: (world) => ({ url: world.page }),
      text: { says: 'one page per line after "## Pages": "1: title (url) [selected]"', pattern: /^## Pages\n/ },
    },
    {
      tool: "select_page",
      args: () => page,
      text: { says: 'one page per line after "## Pages": "1: title (url) [selected]"', pattern: /^## Pages\n/ },
    },
    {
      tool: "close_page",
      args: () => ({ pageId: 2 }),
      text: { says: 'one page per line after "## Pages": "1: title (url) [selected]"', pattern: /^## Pages\n/ },
    },
  ],
};
