/** The documented shapes of the results. */
import type {
  listedCustomer,
  listedOrder,
  listedProduct,
  listedTicket,
  Customer as WholeCustomer,
} from "../../src/demo/model.ts";

export type { Order as OrderDetail, Ticket as TicketDetail } from "../../src/demo/model.ts";
export type Order = ReturnType<typeof listedOrder>;
export type Customer = ReturnType<typeof listedCustomer>;
export type Product = ReturnType<typeof listedProduct>;
export type Ticket = ReturnType<typeof listedTicket>;
export interface CustomerDetail extends WholeCustomer {
  totals: { orders: number; revenue_cents: number; last_order_at: string | null };
}

export interface OrderList {
  orders: Order[];
  total: number;
  next_cursor: string | null;
}

export interface CustomerList {
  customers: Customer[];
  total: number;
  next_cursor: string | null;
}

export interface Stock {
  sku: string;
  levels: { warehouse: string; on_hand: number; reserved: number }[];
}

export interface SalesReport {
  rows: { key: string; orders: number; revenue_cents: number }[];
}
