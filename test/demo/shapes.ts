/** The shapes of the results, as agents are promised them. */
import type {
  customerDetail,
  customerView,
  orderDetail,
  orderView,
  productView,
  ticketDetail,
  ticketView,
} from "../../src/demo/views.ts";

export type Order = ReturnType<typeof orderView>;
export type OrderDetail = ReturnType<typeof orderDetail>;
export type Customer = ReturnType<typeof customerView>;
export type CustomerDetail = ReturnType<typeof customerDetail>;
export type Product = ReturnType<typeof productView>;
export type Ticket = ReturnType<typeof ticketView>;
export type TicketDetail = ReturnType<typeof ticketDetail>;

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
