/** OpenAI's API, from the document that OpenAI publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "openai-api",
  category: "apis",
  title: "OpenAI API",
  description: "Calls the OpenAI API: responses, images, speech, embeddings, files, batches and administration",
  server: {
    openapi: "https://raw.githubusercontent.com/openai/openai-openapi/HEAD/openapi.yaml",
    auth: { ApiKeyAuth: "${OPENAI_API_KEY}" },
  },
  variables: [
    {
      name: "OPENAI_API_KEY",
      required: true,
      what: "a key of a project",
      from: "https://platform.openai.com/api-keys",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": [],
    list_files: ["private"],
    retrieve_file: ["private"],
    download_file: ["private"],
    "create_*": ["public"],
  },
  goodFor: ["make an image", "transcribe speech", "batches and fine-tuning", "usage and costs"],
  notes: [
    "Calls cost money.",
    "Streamed answers are not supported: leave out `stream`.",
    "Operations for organizations need `AdminApiKeyAuth` in `auth`.",
  ],
  aliases: ["openai rest"],
  homepage: "https://platform.openai.com/docs/api-reference",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
