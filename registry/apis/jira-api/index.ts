/** Jira Cloud's API, from the document that Atlassian publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "jira-api",
  category: "apis",
  title: "Jira Cloud API",
  description: "Calls every operation of Jira Cloud: issues, searches, projects, workflows, fields and permissions",
  server: {
    openapi: "https://developer.atlassian.com/cloud/jira/platform/swagger-v3.v3.json",
    baseUrl: "${JIRA_URL}",
    auth: { basicAuth: "${JIRA_EMAIL}:${JIRA_TOKEN}" },
  },
  variables: [
    { name: "JIRA_URL", required: true, what: "the address of your site, such as https://example.atlassian.net" },
    { name: "JIRA_EMAIL", required: true, what: "the address of your Atlassian account" },
    {
      name: "JIRA_TOKEN",
      required: true,
      what: "an API token of that account",
      from: "https://id.atlassian.com/manage-profile/security/api-tokens",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["private"],
    "get_issue*": ["untrusted", "private"],
    "get_comment*": ["untrusted", "private"],
    "search_*": ["untrusted", "private"],
    add_comment: ["public"],
    "create_issue*": ["public"],
  },
  goodFor: ["search issues with JQL", "create and move issues", "workflows and fields of a project", "worklogs"],
  notes: ["Texts of issues are documents in Atlassian's format (ADF), not Markdown."],
  aliases: ["jira rest", "jira cloud"],
  homepage: "https://developer.atlassian.com/cloud/jira/platform/rest/v3/",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
