/** Slack: channels, threads and people. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "slack",
  category: "business",
  title: "Slack",
  description: "Reads and writes messages in Slack channels and threads",
  server: {
    command: "npx",
    args: ["-y", "@modelcontextprotocol/server-slack"],
    env: { SLACK_BOT_TOKEN: "${SLACK_BOT_TOKEN}", SLACK_TEAM_ID: "${SLACK_TEAM_ID}" },
  },
  alternatives: [
    {
      what: "the server hosted by Slack; only apps that Slack knows can sign in",
      server: { type: "http", url: "https://mcp.slack.com/mcp" },
    },
  ],
  variables: [
    {
      name: "SLACK_BOT_TOKEN",
      required: true,
      what: "the bot token of your own app (xoxb-…), with the scopes for channels, history, chat, reactions and users",
      from: "https://api.slack.com/apps",
    },
    {
      name: "SLACK_TEAM_ID",
      required: true,
      what: "the workspace ID (T…)",
      from: "https://slack.com/help/articles/221769328-Locate-your-Slack-URL-or-ID",
    },
  ],
  confined: { network: ["slack.com"] },
  session: "shared",
  folders: { "@modelcontextprotocol/server-slack": "none" },
  signIn: "token",
  labels: {
    "*": ["untrusted", "private"],
    "*list_channels*": ["private"],
    "*post*": ["public"],
    "*send*": ["public"],
    "*reply*": ["public"],
    "*schedule*": ["public"],
    "*create*": ["public"],
    "*add_reaction*": [],
  },
  goodFor: [
    "post a message to a channel",
    "read a thread",
    "history of a channel",
    "who is who in the team",
    "react with an emoji",
  ],
  notes: [
    "8 tools. It sees only channels that the bot was invited to. It cannot search.",
    "The old reference server: it works but is no longer maintained.",
  ],
  aliases: ["slack-mcp", "server-slack"],
  homepage: "https://github.com/modelcontextprotocol/servers-archived/tree/main/src/slack",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
