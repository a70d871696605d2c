/** The state of the shop. It is generated from a seed, and tools change it until the process ends. */
import { NOW_MS } from "./data/calendar.ts";
import { generateCustomers } from "./data/customers.ts";
import { generateOrders } from "./data/orders.ts";
import { generateProducts } from "./data/products.ts";
import { generateTickets } from "./data/tickets.ts";
import type { CustomerRecord, OrderRecord, ProductRecord, TicketRecord } from "./model.ts";
import { seededRandom } from "./random.ts";
import { Refusal } from "./refusal.ts";

const SEED = 20_250_101;

export interface SentEmail {
  id: string;
  to: string;
  subject: string;
  body: string;
}

export interface Shop {
  readonly customers: readonly CustomerRecord[];
  readonly products: readonly ProductRecord[];
  readonly orders: readonly OrderRecord[];
  readonly tickets: readonly TicketRecord[];
  readonly emails: SentEmail[];
  refunds: number;
  rateRequests: number;
  /** Advances the shop's clock by one second and returns it. Each change uses it as its time. */
  tick(): number;
}

export function openShop(): Shop {
  // Each kind of record has its own sequence, so that a change to one generator does not affect the others.
  const customers = generateCustomers(seededRandom(SEED));
  const products = generateProducts(seededRandom(SEED + 1));
  const orders = generateOrders(seededRandom(SEED + 2), customers, products);
  const tickets = generateTickets(seededRandom(SEED + 3), customers, products, orders);
  let now = NOW_MS;
  return { customers, products, orders, tickets, emails: [], refunds: 0, rateRequests: 0, tick: () => (now += 1000) };
}

export function findOrder(shop: Shop, id: string): OrderRecord {
  return find(shop.orders, (order) => order.id === id, `order "${id}"`, "Ids look like ord_00042.");
}

export function findCustomer(shop: Shop, id: string): CustomerRecord {
  return find(shop.customers, (customer) => customer.id === id, `customer "${id}"`, "Ids look like cus_0007.");
}

export function findTicket(shop: Shop, id: string): TicketRecord {
  return find(shop.tickets, (ticket) => ticket.id === id, `ticket "${id}"`, "Ids look like tkt_0101.");
}

export function findProduct(shop: Shop, sku: string): ProductRecord {
  return find(shop.products, (product) => product.sku === sku, `product "${sku}"`, "SKUs look like LAMP-0003.");
}

function find<T>(list: readonly T[], wanted: (item: T) => boolean, name: string, hint: string): T {
  const found = list.find(wanted);
  if (found === undefined) throw new Refusal(`No ${name}. ${hint}`);
  return found;
}
