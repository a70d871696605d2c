/** Discord's API, from the document that Discord publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "discord-api",
  category: "apis",
  title: "Discord API",
  description: "Calls the Discord API as a bot: channels, messages, members, roles, threads and events",
  server: {
    openapi: "https://raw.githubusercontent.com/discord/discord-api-spec/HEAD/specs/openapi.json",
    auth: { BotToken: "Bot ${DISCORD_BOT_TOKEN}" },
  },
  variables: [
    {
      name: "DISCORD_BOT_TOKEN",
      required: true,
      what: "the token of a bot that is a member of your Discord server",
      from: "https://discord.com/developers/applications",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["private"],
    list_messages: ["untrusted", "private"],
    get_message: ["untrusted", "private"],
    "search_*": ["untrusted", "private"],
    create_message: ["public"],
    update_message: ["public"],
    "execute_webhook*": ["public"],
  },
  goodFor: ["messages of a channel", "members and their roles", "threads", "scheduled events"],
  notes: [
    "The bot needs the permissions of what it does, and the privileged intents for members and for contents of messages.",
  ],
  aliases: ["discord rest"],
  homepage: "https://discord.com/developers/docs/reference",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
