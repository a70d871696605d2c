/** Generates 320 support tickets. Most are about an order; nearly all old ones are closed, and many new ones are open. */
import type {
  CustomerRecord,
  MessageRecord,
  OrderRecord,
  ProductRecord,
  TicketRecord,
  TicketStatus,
} from "../model.ts";
import type { Random } from "../random.ts";
import { DAY_MS, HOUR_MS, NOW_MS } from "./calendar.ts";
import { TOPICS, type Topic } from "./conversations.ts";

const COUNT = 320;

export function generateTickets(
  random: Random,
  customers: readonly CustomerRecord[],
  products: readonly ProductRecord[],
  orders: readonly OrderRecord[],
): TicketRecord[] {
  const tickets = Array.from({ length: COUNT }, () => ticket(random, customers, products, orders));
  tickets.sort((a, b) => a.createdAtMs - b.createdAtMs);
  return tickets.map((each, index) => ({ ...each, id: `tkt_${String(index + 1).padStart(4, "0")}` }));
}

function ticket(
  random: Random,
  customers: readonly CustomerRecord[],
  products: readonly ProductRecord[],
  orders: readonly OrderRecord[],
): TicketRecord {
  const topic = random.pick(TOPICS);
  const order = random.pick(orders);
  const customer = random.pick(customers);
  const earliestMs = topic.aboutOrder ? order.createdAtMs : Math.max(customer.createdAtMs, NOW_MS - 364 * DAY_MS);
  const latestMs = topic.aboutOrder ? Math.min(earliestMs + 25 * DAY_MS, NOW_MS) : NOW_MS;
  const createdAtMs = random.int(earliestMs / 1000, latestMs / 1000) * 1000;
  const product = topic.aboutOrder ? order.lines[0]!.name : random.pick(products).name;
  const fill = (text: string) =>
    text.replace(/\{(product|order)\}/g, (_, word) => (word === "order" ? order.id : product));
  const status = statusByAge(random, NOW_MS - createdAtMs);
  return {
    id: "",
    customerId: topic.aboutOrder ? order.customerId : customer.id,
    ...(topic.aboutOrder && { orderId: order.id }),
    subject: fill(topic.subject),
    status,
    priority: random.weighted({ low: 20, normal: 50, high: 20, urgent: 10 }),
    createdAtMs,
    messages: conversation(random, topic, status, createdAtMs, fill),
  };
}

function statusByAge(random: Random, ageMs: number): TicketStatus {
  if (ageMs < 4 * DAY_MS) return random.weighted({ open: 80, waiting: 15, closed: 5 });
  if (ageMs < 40 * DAY_MS) return random.weighted({ open: 30, waiting: 40, closed: 30 });
  return random.weighted({ open: 5, waiting: 11, closed: 84 });
}

/** Returns the messages of a ticket. In an open ticket the customer writes last, otherwise support does. */
function conversation(
  random: Random,
  topic: Topic,
  status: TicketStatus,
  createdAtMs: number,
  fill: (text: string) => string,
): MessageRecord[] {
  const answered = status !== "open" || random.chance(0.4);
  const askedAgain = answered && (status === "open" || random.chance(0.35));
  const answeredAgain = askedAgain && status !== "open";
  const texts = [
    topic.question,
    ...(answered ? [topic.answer] : []),
    ...(askedAgain ? [topic.followUp] : []),
    ...(answeredAgain ? ["We are looking into it and will be back within one working day."] : []),
  ];
  // All answers to a ticket of today must fit between its creation and the present.
  const stepMs = Math.min(30 * HOUR_MS, (NOW_MS - createdAtMs) / texts.length);
  let atMs = createdAtMs;
  return texts.map((text, index) => {
    if (index > 0) atMs += Math.floor((stepMs * random.int(40, 100)) / 100_000) * 1000;
    return { author: index % 2 === 0 ? "customer" : "support", atMs, body: fill(text) };
  });
}
