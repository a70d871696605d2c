/** Stripe, through the server that Stripe runs itself. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "stripe",
  category: "business",
  title: "Stripe",
  description: "Works with customers, invoices, prices, subscriptions, refunds and disputes in Stripe",
  server: { type: "http", url: "https://mcp.stripe.com", headers: { Authorization: "Bearer ${STRIPE_SECRET_KEY}" } },
  alternatives: [
    {
      what: "a local program that forwards everything to that server; it needs network access at startup",
      server: { command: "npx", args: ["-y", "@stripe/mcp"], env: { STRIPE_SECRET_KEY: "${STRIPE_SECRET_KEY}" } },
    },
  ],
  variables: [
    {
      name: "STRIPE_SECRET_KEY",
      required: true,
      what: "an API key, preferably a restricted one: it decides which tools exist; start with a sandbox key",
      from: "https://dashboard.stripe.com/apikeys",
    },
  ],
  session: "shared",
  folders: { "@stripe/mcp": "none" },
  signIn: "token",
  labels: {
    "*": ["private"],
    list_customers: ["untrusted", "private"],
    list_disputes: ["untrusted", "private"],
    search_stripe_resources: ["untrusted", "private"],
    fetch_stripe_resources: ["untrusted", "private"],
    search_stripe_documentation: [],
    "send_*": ["public"],
    create_payment_link: ["public"],
    update_dispute: ["private", "public"],
  },
  goodFor: ["create an invoice", "payment link", "refund a payment", "subscriptions of a customer", "balance"],
  notes: [
    "It moves money: with an unrestricted live key, an agent can refund and cancel.",
    "Without the header, Stripe asks you to sign in with a browser.",
  ],
  aliases: ["stripe-mcp", "stripe agent toolkit"],
  homepage: "https://docs.stripe.com/mcp",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
