/** The data model of the shop: its enumerations, and the records as the tools return them. Money is in cents, times are ISO 8601 in UTC. */

export const ORDER_STATUSES = ["pending", "paid", "shipped", "delivered", "cancelled", "refunded"] as const;
export const SEGMENTS = ["retail", "wholesale", "vip"] as const;
export const COUNTRIES = ["AT", "CH", "DE", "DK", "FR", "GB", "NL", "PL", "SE"] as const;
export const CATEGORIES = ["decor", "lighting", "seating", "storage", "tables", "textiles"] as const;
export const WAREHOUSES = ["berlin", "lyon", "rotterdam"] as const;
export const TICKET_STATUSES = ["open", "waiting", "closed"] as const;
export const PRIORITIES = ["low", "normal", "high", "urgent"] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];
export type Segment = (typeof SEGMENTS)[number];
export type Country = (typeof COUNTRIES)[number];
export type Category = (typeof CATEGORIES)[number];
export type TicketStatus = (typeof TICKET_STATUSES)[number];

export interface OrderLine {
  sku: string;
  name: string;
  quantity: number;
  unit_cents: number;
}

export interface HistoryEntry {
  status: OrderStatus;
  at: string;
  note?: string;
}

export interface Order {
  id: string;
  customer_id: string;
  /** The status of the last entry of the history. */
  status: OrderStatus;
  created_at: string;
  country: Country;
  total_cents: number;
  currency: "EUR";
  /** The quantities of all lines. */
  items: number;
  lines: OrderLine[];
  history: HistoryEntry[];
}

export interface Customer {
  id: string;
  name: string;
  email: string;
  country: Country;
  segment: Segment;
  created_at: string;
  address: { street: string; postal_code: string; city: string; country: Country };
}

export interface StockLevel {
  warehouse: (typeof WAREHOUSES)[number];
  on_hand: number;
  reserved: number;
}

export interface Product {
  sku: string;
  name: string;
  category: Category;
  price_cents: number;
  /** The pieces on hand in all warehouses. */
  stock: number;
  reorder_at: number;
  levels: StockLevel[];
}

export interface Ticket {
  id: string;
  customer_id: string;
  order_id?: string;
  subject: string;
  status: TicketStatus;
  priority: (typeof PRIORITIES)[number];
  created_at: string;
  messages: { author: "customer" | "support"; created_at: string; body: string }[];
}

/** The records as they are listed. */
export const listedOrder = ({ lines: _lines, history: _history, ...order }: Order) => order;
export const listedCustomer = ({ address: _, ...customer }: Customer) => customer;
export const listedProduct = ({ levels: _, ...product }: Product) => product;
export const listedTicket = ({ messages: _, ...ticket }: Ticket) => ticket;

/** Returns whether an order counts as revenue: it is neither cancelled nor fully refunded. All reports use this rule. */
export function countsAsRevenue({ status }: Order): boolean {
  return status !== "cancelled" && status !== "refunded";
}
