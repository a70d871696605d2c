/** The tools that list and read orders. */
import { FROM, isWithin, period, TO } from "../dates.ts";
import { objectSchema } from "../json-schema.ts";
import { ORDER_STATUSES, statusOf } from "../model.ts";
import { CURSOR, LIMIT, page } from "../page.ts";
import { findCustomer, findOrder } from "../shop.ts";
import { defineTool, jsonResult, READS, textResult } from "../tool.ts";
import { orderDetail, orderView } from "../views.ts";

export const ORDER_ID = { type: "string", description: "The order's id, such as ord_00042." } as const;

const listOrders = defineTool({
  name: "list_orders",
  title: "List orders",
  description:
    "Lists the shop's orders, oldest first, filtered by status, customer and date. Gives { orders, total, next_cursor } as JSON; " +
    "an order has id, customer_id, status, created_at, country, total_cents, currency, items (how many pieces). " +
    "All 2,400 of them are about 1 MB.",
  annotations: READS,
  inputSchema: objectSchema(
    {
      status: { type: "string", enum: ORDER_STATUSES, description: "Only orders in this status." },
      customer_id: { type: "string", description: "Only orders of this customer, such as cus_0007." },
      from: { ...FROM, description: `Only orders created since then. ${FROM.description}` },
      to: { ...TO, description: `Only orders created until then. ${TO.description}` },
      limit: LIMIT,
      cursor: CURSOR,
    },
    ["status", "customer_id", "from", "to", "limit", "cursor"],
  ),
  run({ status, customer_id, from, to, limit, cursor }, { shop }) {
    const asked = period(from, to);
    if (customer_id !== undefined) findCustomer(shop, customer_id);
    const matching = shop.orders.filter(
      (order) =>
        (status === undefined || statusOf(order) === status) &&
        (customer_id === undefined || order.customerId === customer_id) &&
        isWithin(order.createdAtMs, asked),
    );
    const { items, total, next_cursor } = page(matching, limit, cursor);
    return textResult(wideJson({ orders: items.map(orderView), total, next_cursor }));
  },
});

/** Returns JSON with a wide indentation, as many servers send it. This result demonstrates the cost of a large one. */
function wideJson(value: object): string {
  return JSON.stringify(value, null, 8);
}

const getOrder = defineTool({
  name: "get_order",
  title: "Get one order",
  description:
    "Looks up one order by its id. Gives the order with lines (sku, name, quantity, unit_cents) " +
    "and history (status, at, note?), which says when it was paid, shipped and delivered.",
  annotations: READS,
  inputSchema: objectSchema({ order_id: ORDER_ID }, []),
  run: ({ order_id }, { shop }) => jsonResult(orderDetail(findOrder(shop, order_id))),
});

export const ORDER_TOOLS = [listOrders, getOrder];
