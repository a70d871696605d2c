/** Stripe's API, from the document that Stripe publishes. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "stripe-api",
  category: "apis",
  title: "Stripe API",
  description:
    "Calls every operation of the Stripe API: payments, customers, invoices, subscriptions, payouts and reports",
  server: {
    openapi: "https://raw.githubusercontent.com/stripe/openapi/HEAD/openapi/spec3.json",
    auth: "${STRIPE_SECRET_KEY}",
  },
  variables: [
    {
      name: "STRIPE_SECRET_KEY",
      required: true,
      what: "an API key, preferably a restricted one; start with a sandbox key",
      from: "https://dashboard.stripe.com/apikeys",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["private"],
    "get_customers*": ["untrusted", "private"],
    "get_disputes*": ["untrusted", "private"],
    post_invoices_invoice_send: ["public"],
    "post_payment_links*": ["public"],
  },
  goodFor: [
    "payouts and balance transactions",
    "all invoices of a year",
    "a setting of Stripe that its server does not have",
  ],
  notes: [
    "It moves money: with an unrestricted live key, an agent can refund and cancel.",
    "Amounts are in the smallest unit of the currency.",
  ],
  aliases: ["stripe rest"],
  homepage: "https://docs.stripe.com/api",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
