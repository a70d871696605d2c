/** The results of the tools of demo. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "claudikins",
  version: "0.1.0",
  tools: {
    adjust_stock: {
      type: "{ sku: string; warehouse: string; on_hand: number; reserved: number }",
    },
    "export-orders": {
      type: "string | { id: string; customer_id: string; status: string; created_at: string; country: string; total_cents: number; currency: string; items: number }[]",
      text: "csv: a line of column names, then one order per line; json: an array of the orders",
    },
    get_customer: {
      type: "{ id: string; name: string; email: string; country: string; segment: string; created_at: string; address: { street: string; postal_code: string; city: string; country: string }; totals: { orders: number; revenue_cents: number; last_order_at: string } }",
    },
    get_exchange_rate: {
      type: "{ rate: number }",
    },
    get_order: {
      type: "{ id: string; customer_id: string; status: string; created_at: string; country: string; total_cents: number; currency: string; items: number; lines: { sku: string; name: string; quantity: number; unit_cents: number }[]; history: { status: string; at: string }[] }",
    },
    get_ticket: {
      type: "{ id: string; customer_id: string; order_id?: string; subject: string; status: string; priority: string; created_at: string; messages: { author: string; created_at: string; body: string }[] }",
    },
    list_customers: {
      type: "{ customers: { id: string; name: string; email: string; country: string; segment: string; created_at: string }[]; total: number; next_cursor: string | null }",
    },
    list_orders: {
      type: "{ orders: { id: string; customer_id: string; status: string; created_at: string; country: string; total_cents: number; currency: string; items: number }[]; total: number; next_cursor: string | null }",
    },
    list_tickets: {
      type: "{ tickets: { id: string; customer_id: string; subject: string; status: string; priority: string; created_at: string; order_id?: string }[] }",
    },
    refund_order: {
      type: "{ refund_id: string; order_id: string; amount_cents: number }",
    },
    render_chart: {
      type: "{ type: string; data?: string; mimeType?: string; text?: string }[]",
      text: "an image block with the PNG in base64, then a text block with a sentence",
    },
    reply_ticket: {
      type: "{ id: string; customer_id: string; order_id?: string; subject: string; status: string; priority: string; created_at: string; messages: { author: string; created_at: string; body: string }[] }",
    },
    search_customers: {
      type: "{ customers: { id: string; name: string; email: string; country: string; segment: string; created_at: string }[] }",
    },
    send_email: {
      type: "{ message_id: string }",
    },
    slow_audit: {
      type: "{ checked: number }",
    },
    update_order_status: {
      type: "{ id: string; customer_id: string; status: string; created_at: string; country: string; total_cents: number; currency: string; items: number; lines: { sku: string; name: string; quantity: number; unit_cents: number }[]; history: { status: string; at: string }[] }",
    },
  },
} satisfies CatalogResults;
