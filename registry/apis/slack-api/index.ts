/** Slack's Web API, from the document that Slack has published. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "slack-api",
  category: "apis",
  title: "Slack Web API",
  description: "Calls the methods of Slack's Web API: messages, channels, files, users, reminders and administration",
  server: {
    openapi: "https://raw.githubusercontent.com/slackapi/slack-api-specs/HEAD/web-api/slack_web_openapi_v2.json",
    auth: "${SLACK_TOKEN}",
  },
  variables: [
    {
      name: "SLACK_TOKEN",
      required: true,
      what: "a bot or user token with the scopes of the methods that you use",
      from: "https://api.slack.com/apps",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["private"],
    conversations_history: ["untrusted", "private"],
    conversations_replies: ["untrusted", "private"],
    "search_*": ["untrusted", "private"],
    files_info: ["untrusted", "private"],
    "chat_*": ["public"],
    files_upload: ["public"],
  },
  goodFor: ["members of a channel", "scheduled messages", "user groups", "reminders"],
  notes: [
    "Slack has archived the document: it has the methods of 2021.",
    "Slack answers with status 200 and `ok: false` if a call fails: look at `ok`.",
  ],
  aliases: ["slack web api"],
  homepage: "https://docs.slack.dev/apis/web-api",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
