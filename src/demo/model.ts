/** The data model of the shop: its enumerations, and the records as they are stored. */

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
export type Warehouse = (typeof WAREHOUSES)[number];
export type TicketStatus = (typeof TICKET_STATUSES)[number];
export type Priority = (typeof PRIORITIES)[number];

export interface Line {
  sku: string;
  name: string;
  quantity: number;
  unit_cents: number;
}

export interface HistoryEntry {
  status: OrderStatus;
  atMs: number;
  note?: string;
}

/** A stored order. Its status is the status of the last entry of its history. */
export interface OrderRecord {
  id: string;
  customerId: string;
  createdAtMs: number;
  country: Country;
  totalCents: number;
  refundedCents: number;
  lines: Line[];
  history: HistoryEntry[];
}

export interface CustomerRecord {
  id: string;
  name: string;
  email: string;
  country: Country;
  segment: Segment;
  createdAtMs: number;
  address: { street: string; postal_code: string; city: string };
}

export interface StockLevel {
  warehouse: Warehouse;
  on_hand: number;
  reserved: number;
}

/** A stored product. Its stock is the sum over all warehouses. */
export interface ProductRecord {
  sku: string;
  name: string;
  category: Category;
  priceCents: number;
  reorderAt: number;
  levels: StockLevel[];
}

export interface MessageRecord {
  author: "customer" | "support";
  atMs: number;
  body: string;
}

export interface TicketRecord {
  id: string;
  customerId: string;
  orderId?: string;
  subject: string;
  status: TicketStatus;
  priority: Priority;
  createdAtMs: number;
  messages: MessageRecord[];
}

export function statusOf(order: OrderRecord): OrderStatus {
  return order.history[order.history.length - 1]!.status;
}

export function stockOf(product: ProductRecord): number {
  return product.levels.reduce((sum, level) => sum + level.on_hand, 0);
}

/** Returns whether an order counts as revenue: it is neither cancelled nor fully refunded. All reports use this rule. */
export function countsAsRevenue(order: OrderRecord): boolean {
  const status = statusOf(order);
  return status !== "cancelled" && status !== "refunded";
}
