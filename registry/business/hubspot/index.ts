/** HubSpot's customer database. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "hubspot",
  category: "business",
  title: "HubSpot",
  description: "Reads and writes contacts, companies, deals, notes and tasks in HubSpot",
  server: {
    command: "npx",
    args: ["-y", "@hubspot/mcp-server"],
    env: { PRIVATE_APP_ACCESS_TOKEN: "${HUBSPOT_ACCESS_TOKEN}" },
  },
  variables: [
    {
      name: "HUBSPOT_ACCESS_TOKEN",
      required: true,
      what: "the access token of a private app; its scopes decide what can be read and written",
      from: "https://developers.hubspot.com/docs/apps/legacy-apps/private-apps/overview",
    },
  ],
  confined: { network: ["api.hubapi.com"] },
  session: "shared",
  folders: { "@hubspot/mcp-server": "none" },
  signIn: "token",
  labels: {
    "*": ["untrusted", "private"],
    "*-create-*": [],
    "hubspot-get-link": [],
    "hubspot-generate-feedback-link": [],
    "*propert*": ["private"],
    "*association*": ["private"],
    "*schemas": ["private"],
    "*workflow*": ["private"],
    "*user-details": ["private"],
  },
  goodFor: ["CRM", "find a customer", "deals of this month", "log a call or a note", "create contacts"],
  notes: [
    "21 tools. They can change whatever the token allows.",
    "HubSpot also hosts a server at https://mcp.hubspot.com; it accepts only apps created in your own account.",
  ],
  aliases: ["hubspot-mcp", "crm"],
  homepage: "https://developers.hubspot.com/mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
