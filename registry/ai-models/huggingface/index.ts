/** The Hugging Face hub, through its own server. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "huggingface",
  category: "ai-models",
  title: "Hugging Face",
  description: "Searches models, datasets, papers and Spaces on the Hugging Face hub, and runs Spaces as tools",
  server: { type: "http", url: "https://hf.co/mcp", headers: { Authorization: "Bearer ${HF_TOKEN}" } },
  alternatives: [
    {
      what: "the same server as a local program, with fewer tools",
      server: {
        command: "npx",
        args: ["-y", "@llmindset/hf-mcp-server"],
        env: { TRANSPORT: "stdio", HF_TOKEN: "${HF_TOKEN}" },
      },
    },
    {
      what: "sign in with a browser instead of a token",
      server: { type: "http", url: "https://huggingface.co/mcp?login" },
    },
  ],
  variables: [
    {
      name: "HF_TOKEN",
      required: true,
      what: "an access token; `read` is enough",
      from: "https://huggingface.co/settings/tokens",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["untrusted"],
    hf_whoami: ["private"],
    "gr*": ["untrusted", "public"],
    dynamic_space: ["untrusted", "public"],
    use_space: ["untrusted", "public"],
  },
  goodFor: ["find a model", "find a dataset", "machine learning papers", "run a Gradio Space", "model cards"],
  notes: [
    "Choose its tools at https://huggingface.co/settings/mcp; Spaces added there become tools.",
    "The local alternative listed 4 tools when it was checked.",
  ],
  aliases: ["hugging-face", "hf", "hf-mcp-server"],
  homepage: "https://huggingface.co/settings/mcp",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
