/** Asana's API, from the document that Asana publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "asana-api",
  category: "apis",
  title: "Asana API",
  description: "Calls every operation of the Asana API: tasks, projects, portfolios, goals, teams and custom fields",
  server: {
    openapi: "https://raw.githubusercontent.com/Asana/openapi/HEAD/defs/asana_oas.yaml",
    auth: { personalAccessToken: "${ASANA_TOKEN}" },
  },
  variables: [
    { name: "ASANA_TOKEN", required: true, what: "a personal access token", from: "https://app.asana.com/0/my-apps" },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["private"],
    "get_task*": ["untrusted", "private"],
    "get_stor*": ["untrusted", "private"],
    "search_*": ["untrusted", "private"],
    create_story_for_task: ["public"],
  },
  goodFor: ["tasks of a project", "portfolios and goals", "custom fields", "time tracking"],
  notes: ["Results have few fields until `opt_fields` names more."],
  aliases: ["asana rest"],
  homepage: "https://developers.asana.com/reference/rest-api-reference",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
