/** DigitalOcean's API, from the document that DigitalOcean publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "digitalocean-api",
  category: "apis",
  title: "DigitalOcean API",
  description:
    "Calls every operation of the DigitalOcean API: droplets, databases, apps, domains, networks and billing",
  server: {
    openapi: "https://api-engineering.nyc3.digitaloceanspaces.com/spec-ci/DigitalOcean-public.v2.yaml",
    auth: "${DIGITALOCEAN_TOKEN}",
  },
  variables: [
    {
      name: "DIGITALOCEAN_TOKEN",
      required: true,
      what: "a personal access token with the scopes that you need",
      from: "https://cloud.digitalocean.com/account/api/tokens",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: { "*": ["private"] },
  goodFor: ["droplets and snapshots", "DNS records", "managed databases", "costs of a month"],
  notes: ["It can destroy machines and data, as far as the token allows."],
  aliases: ["digitalocean rest"],
  homepage: "https://docs.digitalocean.com/reference/api/",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
