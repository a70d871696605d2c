/** The state of the shop. It is generated from a seed, and tools change it until the process ends. */
import { isoTime, NOW_MS } from "./data/calendar.ts";
import { generateCustomers } from "./data/customers.ts";
import { generateOrders } from "./data/orders.ts";
import { generateProducts } from "./data/products.ts";
import { generateTickets } from "./data/tickets.ts";
import type { Customer, Order, Product, Ticket } from "./model.ts";
import { seededRandom } from "./random.ts";

const SEED = 20_250_101;

/** The error for a call that the shop cannot do. It becomes a tool result with `isError`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

export interface Shop {
  readonly customers: readonly Customer[];
  readonly products: readonly Product[];
  readonly orders: readonly Order[];
  readonly tickets: readonly Ticket[];
  readonly emails: { to: string; subject: string; body: string }[];
  readonly refunds: { order_id: string; amount_cents: number }[];
  rateRequests: number;
  /** Advances the shop's clock by one second and returns its time. Each change has a time of its own. */
  tick(): string;
}

export function openShop(): Shop {
  // Each kind of record has its own sequence, so that a change to one generator does not affect the others.
  const customers = generateCustomers(seededRandom(SEED));
  const products = generateProducts(seededRandom(SEED + 1));
  const orders = generateOrders(seededRandom(SEED + 2), customers, products);
  const tickets = generateTickets(seededRandom(SEED + 3), customers, products, orders);
  let now = NOW_MS;
  function tick(): string {
    now += 1000;
    return isoTime(now);
  }
  return { customers, products, orders, tickets, emails: [], refunds: [], rateRequests: 0, tick };
}

export function findOrder(shop: Shop, id: string): Order {
  return find(shop.orders, (order) => order.id === id, `order "${id}"`, "Ids look like ord_00042.");
}

export function findCustomer(shop: Shop, id: string): Customer {
  return find(shop.customers, (customer) => customer.id === id, `customer "${id}"`, "Ids look like cus_0007.");
}

export function findTicket(shop: Shop, id: string): Ticket {
  return find(shop.tickets, (ticket) => ticket.id === id, `ticket "${id}"`, "Ids look like tkt_0101.");
}

export function findProduct(shop: Shop, sku: string): Product {
  return find(shop.products, (product) => product.sku === sku, `product "${sku}"`, "SKUs look like LAMP-0003.");
}

function find<T>(list: readonly T[], wanted: (item: T) => boolean, name: string, hint: string): T {
  const found = list.find(wanted);
  if (found === undefined) throw new Refusal(`No ${name}. ${hint}`);
  return found;
}
