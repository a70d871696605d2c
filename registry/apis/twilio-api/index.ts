/** Twilio's core API, from the document that Twilio publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "twilio-api",
  category: "apis",
  title: "Twilio API",
  description: "Sends messages, makes calls, and manages phone numbers, recordings and usage with Twilio",
  server: {
    openapi: "https://raw.githubusercontent.com/twilio/twilio-oai/HEAD/spec/json/twilio_api_v2010.json",
    auth: "${TWILIO_ACCOUNT_SID}:${TWILIO_AUTH_TOKEN}",
  },
  variables: [
    {
      name: "TWILIO_ACCOUNT_SID",
      required: true,
      what: "the id of the account, which begins with AC",
      from: "https://console.twilio.com",
    },
    {
      name: "TWILIO_AUTH_TOKEN",
      required: true,
      what: "the auth token of the account",
      from: "https://console.twilio.com",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["private"],
    list_message: ["untrusted", "private"],
    fetch_message: ["untrusted", "private"],
    create_message: ["public"],
    create_call: ["public"],
  },
  goodFor: ["send a text message", "calls of a day", "phone numbers", "usage and costs"],
  notes: [
    "Messages and calls cost money, and cannot be taken back.",
    "Twilio publishes one document for each product: add others by their address with `--openapi`.",
  ],
  aliases: ["twilio rest"],
  homepage: "https://www.twilio.com/docs/usage/api",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
