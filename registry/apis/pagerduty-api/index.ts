/** PagerDuty's API, from the document that PagerDuty publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "pagerduty-api",
  category: "apis",
  title: "PagerDuty API",
  description:
    "Calls every operation of the PagerDuty API: incidents, schedules, services, escalation policies and analytics",
  server: {
    openapi: "https://raw.githubusercontent.com/PagerDuty/api-schema/HEAD/reference/REST/openapiv3.json",
    auth: "Token token=${PAGERDUTY_API_KEY}",
  },
  variables: [
    {
      name: "PAGERDUTY_API_KEY",
      required: true,
      what: "an API access key; a read-only one is enough for questions",
      from: "https://support.pagerduty.com/main/docs/api-access-keys",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["private"],
    "get_incident*": ["untrusted", "private"],
    "list_incident*": ["untrusted", "private"],
    "create_status_update*": ["public"],
  },
  goodFor: ["who is on call", "open incidents", "escalation policies", "analytics of incidents"],
  notes: ["Requests that write name a user of the account in the header `From`, which is an argument."],
  aliases: ["pagerduty rest"],
  homepage: "https://developer.pagerduty.com/api-reference/",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
