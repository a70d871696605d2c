/** The tools that list, read and change orders. */
import { FROM, isInPeriod, period, TO } from "../dates.ts";
import { objectSchema } from "../json-schema.ts";
import { listedOrder, ORDER_STATUSES, type Order, type OrderStatus } from "../model.ts";
import { CURSOR, LIMIT, page } from "../page.ts";
import { findCustomer, findOrder, Refusal } from "../shop.ts";
import { DESTROYS, defineTool, jsonResult, READS, SETS, textResult } from "../tool.ts";

const ORDER_ID = { type: "string", description: "The order's id, such as ord_00042." } as const;

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
        (status === undefined || order.status === status) &&
        (customer_id === undefined || order.customer_id === customer_id) &&
        isInPeriod(order.created_at, asked),
    );
    const { items, total, next_cursor } = page(matching, limit, cursor);
    // A wide indentation, as many servers send it: this result demonstrates the cost of a large one.
    return textResult(JSON.stringify({ orders: items.map(listedOrder), total, next_cursor }, null, 8));
  },
});

const getOrder = defineTool({
  name: "get_order",
  title: "Get one order",
  description:
    "Looks up one order by its id. Gives the order with lines (sku, name, quantity, unit_cents) " +
    "and history (status, at, note?), which says when it was paid, shipped and delivered.",
  annotations: READS,
  inputSchema: objectSchema({ order_id: ORDER_ID }),
  run: ({ order_id }, { shop }) => jsonResult(findOrder(shop, order_id)),
});

/** The statuses that an order can get from each status. Only refund_order refunds, because it is marked as destructive. */
const NEXT: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ["paid", "cancelled"],
  paid: ["shipped", "cancelled"],
  shipped: ["delivered"],
  delivered: [],
  cancelled: [],
  refunded: [],
};

const REFUNDABLE: readonly OrderStatus[] = ["paid", "shipped", "delivered"];

const updateOrderStatus = defineTool({
  name: "update_order_status",
  title: "Update an order's status",
  description:
    "Moves an order on: pending to paid or cancelled, paid to shipped or cancelled, shipped to delivered; any other change is refused. " +
    "To refund, use refund_order. Gives the order with lines and history.",
  annotations: SETS,
  inputSchema: objectSchema(
    {
      order_id: ORDER_ID,
      status: { type: "string", enum: ORDER_STATUSES, description: "The new status. The present one changes nothing." },
      note: { type: "string", description: "Kept in the order's history beside the change." },
    },
    ["note"],
  ),
  run({ order_id, status, note }, { shop }) {
    const order = findOrder(shop, order_id);
    if (status !== order.status) {
      if (!NEXT[order.status].includes(status)) throw new Refusal(impossible(order, status));
      order.history.push({ status, at: shop.tick(), ...(note !== undefined && { note }) });
      order.status = status;
    }
    return jsonResult(order);
  },
});

function impossible({ id, status: present }: Order, wanted: OrderStatus): string {
  const next = NEXT[present];
  const allowed = next.length === 0 ? "no other status" : next.join(" or ");
  const refund = REFUNDABLE.includes(present) ? " To refund it, use refund_order." : "";
  return `Order ${id} is ${present} and cannot become ${wanted}. From ${present} it can become: ${allowed}.${refund}`;
}

const refundOrder = defineTool({
  name: "refund_order",
  title: "Refund an order",
  description:
    "Gives a customer the money for an order back, all of it or a part; it cannot be undone. Only for orders that are paid, shipped " +
    "or delivered. Once the whole total is refunded the status is refunded. Gives { refund_id, order_id, amount_cents }.",
  annotations: DESTROYS,
  inputSchema: objectSchema(
    {
      order_id: ORDER_ID,
      amount_cents: {
        type: "integer",
        minimum: 1,
        description: "How much to refund, in cents. Without it, all that has not been refunded yet.",
      },
      reason: { type: "string", minLength: 1, description: "Why, kept in the order's history." },
    },
    ["amount_cents"],
  ),
  run({ order_id, amount_cents, reason }, { shop }) {
    const order = findOrder(shop, order_id);
    if (!REFUNDABLE.includes(order.status)) {
      throw new Refusal(
        `Order ${order_id} is ${order.status}. Only orders that are ${REFUNDABLE.join(", ")} can be refunded.`,
      );
    }
    const earlier = shop.refunds.filter((refund) => refund.order_id === order_id);
    const refunded = earlier.reduce((sum, refund) => sum + refund.amount_cents, 0);
    const left = order.total_cents - refunded;
    const amount = amount_cents ?? left;
    if (amount > left) {
      const before = refunded > 0 ? `, and ${refunded} have already been refunded` : "";
      throw new Refusal(
        `amount_cents is ${amount}. At most ${left} can be refunded: the total of order ${order_id} is ${order.total_cents}${before}.`,
      );
    }
    shop.refunds.push({ order_id, amount_cents: amount });
    if (amount === left) order.status = "refunded";
    order.history.push({ status: order.status, at: shop.tick(), note: `Refunded ${amount} cents: ${reason}` });
    const refund_id = `ref_${String(shop.refunds.length).padStart(4, "0")}`;
    return jsonResult({ refund_id, order_id, amount_cents: amount });
  },
});

export const ORDER_TOOLS = [listOrders, getOrder, updateOrderStatus, refundOrder];
