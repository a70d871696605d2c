/** The records as the tools return them. They are always new objects, so that no caller can change the shop's state. */
import {
  type CustomerRecord,
  countsAsRevenue,
  type OrderRecord,
  type ProductRecord,
  statusOf,
  stockOf,
  type TicketRecord,
} from "./model.ts";

/** Returns a time such as `2025-03-04T10:11:12Z`. The shop's times have no milliseconds. */
export function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

export function orderView(order: OrderRecord) {
  return {
    id: order.id,
    customer_id: order.customerId,
    status: statusOf(order),
    created_at: isoTime(order.createdAtMs),
    country: order.country,
    total_cents: order.totalCents,
    currency: "EUR",
    items: order.lines.reduce((sum, line) => sum + line.quantity, 0),
  };
}

export function orderDetail(order: OrderRecord) {
  return {
    ...orderView(order),
    lines: order.lines.map((line) => ({ ...line })),
    history: order.history.map(({ status, atMs, note }) => ({
      status,
      at: isoTime(atMs),
      ...(note !== undefined && { note }),
    })),
  };
}

export function customerView(customer: CustomerRecord) {
  const { id, name, email, country, segment } = customer;
  return { id, name, email, country, segment, created_at: isoTime(customer.createdAtMs) };
}

/** `orders` are all orders of the customer, oldest first. */
export function customerDetail(customer: CustomerRecord, orders: readonly OrderRecord[]) {
  const last = orders[orders.length - 1];
  return {
    ...customerView(customer),
    address: { ...customer.address, country: customer.country },
    totals: {
      orders: orders.length,
      revenue_cents: orders.filter(countsAsRevenue).reduce((sum, order) => sum + order.totalCents, 0),
      last_order_at: last === undefined ? null : isoTime(last.createdAtMs),
    },
  };
}

export function productView(product: ProductRecord) {
  return {
    sku: product.sku,
    name: product.name,
    category: product.category,
    price_cents: product.priceCents,
    stock: stockOf(product),
    reorder_at: product.reorderAt,
  };
}

export function ticketView(ticket: TicketRecord) {
  return {
    id: ticket.id,
    customer_id: ticket.customerId,
    ...(ticket.orderId !== undefined && { order_id: ticket.orderId }),
    subject: ticket.subject,
    status: ticket.status,
    priority: ticket.priority,
    created_at: isoTime(ticket.createdAtMs),
  };
}

export function ticketDetail(ticket: TicketRecord) {
  return {
    ...ticketView(ticket),
    messages: ticket.messages.map(({ author, atMs, body }) => ({ author, created_at: isoTime(atMs), body })),
  };
}
