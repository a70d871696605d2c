/** Calls of Chrome DevTools in a headless Chromium. */
import type { Plan } from "../plan.ts";

const page = { pageId: 1 };
const uidOf = (text: string, name: RegExp) => new RegExp(`uid=(\\S+) ${name.source}`).exec(text)?.[1] ?? "";

export const chromeDevtools: Plan = {
  server: "web/chrome-devtools",
  package: "chrome-devtools-mcp@1.11.0",
  args: () => [
    "--headless",
    "--isolated",
    "--executablePath",
    "/usr/bin/chromium",
    "--chromeArg=--no-sandbox",
    "--no-usage-statistics",
  ],
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
    {
      tool: "take_snapshot",
      args: () => page,
      text: {
        says: 'a line "## Latest page snapshot", then one element per line, indented as a tree: uid=1_11 button "Save"; the uid is what the other tools take',
        pattern: /^## Latest page snapshot\nuid=\S+ RootWebArea /,
      },
    },
    {
      tool: "click",
      args: ({ last }) => ({ ...page, uid: uidOf(last, /button "Save"/) }),
      text: { says: "a sentence", pattern: /^Successfully / },
    },
    {
      tool: "take_snapshot",
      args: () => page,
      text: {
        says: 'a line "## Latest page snapshot", then one element per line, indented as a tree: uid=1_11 button "Save"; the uid is what the other tools take',
        pattern: /^## Latest page snapshot\nuid=\S+ RootWebArea /,
      },
    },
    {
      tool: "fill",
      args: ({ last }) => ({ ...page, uid: uidOf(last, /textbox/), value: "Ada" }),
      text: { says: "a sentence", pattern: /^Successfully / },
    },
    {
      tool: "wait_for",
      args: () => ({ ...page, text: ["Orders"] }),
      text: { says: "a sentence, then what take_snapshot returns", pattern: / found\.\n## Latest page snapshot\n/ },
    },
    {
      tool: "press_key",
      args: () => ({ ...page, key: "Tab" }),
      text: { says: "a sentence", pattern: /^Successfully / },
    },
    {
      tool: "resize_page",
      args: () => ({ ...page, width: 800, height: 600 }),
      text: { says: 'one page per line after "## Pages": "1: title (url) [selected]"', pattern: /^## Pages\n/ },
    },
    { tool: "take_screenshot", args: () => page },
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
