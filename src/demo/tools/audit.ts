/** An audit of all orders that takes the requested time. It demonstrates progress and cancellation. */
import { setTimeout as sleep } from "node:timers/promises";
import { objectSchema } from "../json-schema.ts";
import type { Order } from "../model.ts";
import { Refusal } from "../shop.ts";
import { defineTool, jsonResult, READS } from "../tool.ts";

const STEP_MS = 100;

export const slowAudit = defineTool({
  name: "slow_audit",
  title: "Audit all orders, slowly",
  description:
    "Checks for every order that its total is the sum of its lines, and takes the given time over it. " +
    "Reports progress every 100 ms and can be cancelled. Gives { checked }, the number of orders.",
  annotations: READS,
  inputSchema: objectSchema({
    seconds: { type: "number", minimum: 0, maximum: 600, description: "How long it is to take, in seconds." },
  }),
  async run({ seconds }, { shop, signal, progress }) {
    const steps = Math.max(1, Math.round((seconds * 1000) / STEP_MS));
    const total = shop.orders.length;
    let checked = 0;
    for (let step = 1; step <= steps; step += 1) {
      // Sent before each step and not after it, because clients such as the SDK's drop progress that arrives together with the
      // result.
      await progress(checked, total, `${checked} of ${total} orders checked`);
      await sleep(Math.min(STEP_MS, seconds * 1000), undefined, { signal });
      const until = Math.floor((total * step) / steps);
      for (; checked < until; checked += 1) checkTotal(shop.orders[checked]!);
    }
    return jsonResult({ checked });
  },
});

function checkTotal(order: Order): void {
  const sum = order.lines.reduce((cents, line) => cents + line.quantity * line.unit_cents, 0);
  if (sum !== order.total_cents) throw new Refusal(`The total of order ${order.id} is not the sum of its lines.`);
}
