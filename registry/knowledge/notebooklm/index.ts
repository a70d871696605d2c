/** Google's NotebookLM, through a package that signs in as a browser does. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "notebooklm",
  category: "knowledge",
  title: "NotebookLM",
  description: "Asks NotebookLM notebooks, adds sources to them, and makes audio, video and reports of them",
  server: { command: "uvx", args: ["--from", "notebooklm-mcp-cli", "notebooklm-mcp"] },
  alternatives: [
    {
      what: "the npm package of that name, a different project: it queries notebooks in a browser that it opens itself",
      server: { command: "npx", args: ["-y", "notebooklm-mcp"] },
    },
  ],
  variables: [],
  confined: "it signs in with the files of your browser",
  session: "private",
  signIn: "program",
  labels: {
    "*": ["untrusted", "private"],
    "*list*": ["private"],
    "*get*": ["private"],
    "*search_notebooks*": ["private"],
    "*add*": ["public"],
    "*share*": ["public"],
    "*source_add*": ["public"],
    "*create*": ["public"],
    "*auth*": [],
    "*delete*": [],
    "*remove*": [],
    "*session*": [],
    "*audio*": [],
    "*health*": [],
    cleanup_data: [],
  },
  goodFor: [
    "ask my notebooks",
    "add a web page or a document as a source",
    "make a podcast of sources",
    "research with citations",
    "share a notebook",
  ],
  notes: [
    "Sign in first: `uvx --from notebooklm-mcp-cli nlm login` opens Chrome and keeps the cookies for some weeks.",
    "npm's `notebooklm-mcp` is not this package, though its program has the same name.",
    "Google offers no API for it, so it may break at any time. The free plan allows about 50 questions a day.",
    "About 30 tools; some of them delete. Install uv first: `uvx` is part of it.",
  ],
  aliases: ["nlm", "google notebooklm", "jacob-bd/notebooklm-mcp-cli"],
  homepage: "https://github.com/jacob-bd/notebooklm-mcp-cli",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
