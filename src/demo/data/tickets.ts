/** Generates 320 support tickets. Most are about an order; nearly all old ones are closed, and many new ones are open. */
import type { Customer, Order, Product, Ticket, TicketStatus } from "../model.ts";
import type { Random } from "../random.ts";
import { DAY_MS, HOUR_MS, isoTime, NOW_MS } from "./calendar.ts";

const COUNT = 320;

export function generateTickets(
  random: Random,
  customers: readonly Customer[],
  products: readonly Product[],
  orders: readonly Order[],
): Ticket[] {
  const tickets = Array.from({ length: COUNT }, (): Ticket => {
    const topic = random.pick(TOPICS);
    const order = random.pick(orders);
    const customer = random.pick(customers);
    const earliestMs = topic.aboutOrder
      ? Date.parse(order.created_at)
      : Math.max(Date.parse(customer.created_at), NOW_MS - 364 * DAY_MS);
    const latestMs = topic.aboutOrder ? Math.min(earliestMs + 25 * DAY_MS, NOW_MS) : NOW_MS;
    const createdAtMs = random.int(earliestMs / 1000, latestMs / 1000) * 1000;
    const product = topic.aboutOrder ? order.lines[0]!.name : random.pick(products).name;
    const fill = (text: string) => text.replaceAll("{product}", product).replaceAll("{order}", order.id);
    const status = statusByAge(random, NOW_MS - createdAtMs);
    return {
      id: "",
      customer_id: topic.aboutOrder ? order.customer_id : customer.id,
      ...(topic.aboutOrder && { order_id: order.id }),
      subject: fill(topic.subject),
      status,
      priority: random.weighted({ low: 20, normal: 50, high: 20, urgent: 10 }),
      created_at: isoTime(createdAtMs),
      messages: conversation(random, topic, status, createdAtMs, fill),
    };
  });
  tickets.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  return tickets.map((ticket, index) => ({ ...ticket, id: `tkt_${String(index + 1).padStart(4, "0")}` }));
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
): Ticket["messages"] {
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
    return { author: index % 2 === 0 ? "customer" : "support", created_at: isoTime(atMs), body: fill(text) };
  });
}

/** What customers write about, and what support answers. */
interface Topic {
  /** The subject. `{product}` and `{order}` are placeholders. */
  subject: string;
  /** Whether the topic is about an order. Otherwise it is a question before one. */
  aboutOrder: boolean;
  question: string;
  answer: string;
  followUp: string;
}

const TOPICS: readonly Topic[] = [
  {
    subject: "Where is my order {order}?",
    aboutOrder: true,
    question: "I ordered a {product} and have not heard anything since. When will it arrive?",
    answer: "Thank you for asking. We have called the carrier and will tell you the new delivery date today.",
    followUp: "It still has not arrived. Could you please check again?",
  },
  {
    subject: "Damaged {product}",
    aboutOrder: true,
    question: "The parcel came today, but the {product} has a crack. What can you do about it?",
    answer: "We are sorry about that. Please send us a photo, and we will replace it or refund the price.",
    followUp: "Here is the photo. I would prefer a replacement.",
  },
  {
    subject: "Refund for order {order}",
    aboutOrder: true,
    question: "I sent the {product} back last week. When will I get my refund?",
    answer: "Your parcel has reached our warehouse. The refund takes up to 5 days from here.",
    followUp: "I have not seen the money yet.",
  },
  {
    subject: "Wrong item delivered",
    aboutOrder: true,
    question: "I ordered a {product}, but something else was in the box.",
    answer: "That was our mistake. The right item leaves our warehouse tomorrow, and a return label is attached.",
    followUp: "Thank you. Do I have to pack it in the original box?",
  },
  {
    subject: "Change the delivery address",
    aboutOrder: true,
    question: "I am moving next week. Can order {order} go to my new address?",
    answer: "Yes, as long as it has not been shipped. Please write us the new address.",
    followUp: "It is two streets away, the postcode stays the same.",
  },
  {
    subject: "Invoice for order {order}",
    aboutOrder: true,
    question: "I need an invoice with our VAT number for this order.",
    answer: "The invoice is attached. Please tell us if anything is missing.",
    followUp: "The company name is not complete on it.",
  },
  {
    subject: "Is the {product} still available?",
    aboutOrder: false,
    question: "I would like to buy four of the {product}. Are they in stock, and how long does delivery take?",
    answer: "We have them in our warehouse. Delivery takes about a week.",
    followUp: "Could you reserve them until Friday?",
  },
  {
    subject: "Question about the {product}",
    aboutOrder: false,
    question: "Which materials is the {product} made of, and how is it cleaned?",
    answer: "A dry cloth is all that it needs. The full list of materials is on the product page.",
    followUp: "I could not find it there.",
  },
  {
    subject: "Discount for larger quantities",
    aboutOrder: false,
    question: "We furnish a small hotel and would need twenty of the {product}. Is there a discount?",
    answer: "We would be glad to help. A colleague from our wholesale team will call you.",
    followUp: "Nobody has called yet.",
  },
  {
    subject: "Cannot log in to my account",
    aboutOrder: false,
    question: "The link to reset my password does not work. Could you help?",
    answer: "We have sent you a new link. It is valid for one hour.",
    followUp: "The new link does not work either.",
  },
];
