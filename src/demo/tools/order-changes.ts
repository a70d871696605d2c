/** The tools that change orders: they update the status and refund. */
import { objectSchema } from "../json-schema.ts";
import { ORDER_STATUSES, type OrderStatus, statusOf } from "../model.ts";
import { Refusal } from "../refusal.ts";
import { findOrder } from "../shop.ts";
import { DESTROYS, defineTool, jsonResult, SETS } from "../tool.ts";
import { orderDetail } from "../views.ts";
import { ORDER_ID } from "./orders.ts";

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
    const present = statusOf(order);
    if (status !== present) {
      if (!NEXT[present].includes(status)) throw new Refusal(impossible(order_id, present, status));
      order.history.push({ status, atMs: shop.tick(), ...(note !== undefined && { note }) });
    }
    return jsonResult(orderDetail(order));
  },
});

function impossible(id: string, present: OrderStatus, wanted: OrderStatus): string {
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
    const present = statusOf(order);
    if (!REFUNDABLE.includes(present)) {
      throw new Refusal(
        `Order ${order_id} is ${present}. Only orders that are ${REFUNDABLE.join(", ")} can be refunded.`,
      );
    }
    const left = order.totalCents - order.refundedCents;
    const amount = amount_cents ?? left;
    if (amount > left) {
      const before = order.refundedCents > 0 ? `, and ${order.refundedCents} have already been refunded` : "";
      throw new Refusal(
        `amount_cents is ${amount}. At most ${left} can be refunded: the total of order ${order_id} is ${order.totalCents}${before}.`,
      );
    }
    order.refundedCents += amount;
    shop.refunds += 1;
    const status = amount === left ? "refunded" : present;
    order.history.push({ status, atMs: shop.tick(), note: `Refunded ${amount} cents: ${reason}` });
    return jsonResult({ refund_id: `ref_${String(shop.refunds).padStart(4, "0")}`, order_id, amount_cents: amount });
  },
});

export const ORDER_CHANGE_TOOLS = [updateOrderStatus, refundOrder];
