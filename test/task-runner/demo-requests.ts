/** Requests to the demo server as a person would write them, with the tools that answer them. */
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import type { Request } from "./evaluate.ts";

export const demoEntry = {
  command: process.execPath,
  args: [join(root, "test", "demo", "entry.ts")],
};

/** `tool | request | request` */
const lines = `
list_orders | which orders are still pending | all orders of customer cus_0007 in March
get_order | show me order ord_00042 with its lines | what exactly is in order ord_00310
update_order_status | mark ord_00042 as shipped | set the status of order ord_00100 to delivered
refund_order | give the buyer of ord_00017 their money back | refund 20 euros of order ord_00042, it arrived broken
list_customers | our wholesale customers in Germany | who are the VIPs
get_customer | the address of customer cus_0010 | how much has cus_0123 spent in total
search_customers | find the customer called Meyer | which customer has the e-mail anna@example.com
list_products | products that are running low | everything in the category lamps
get_stock | how many LAMP-0003 are on hand | stock of CHAIR-0001 in the Berlin warehouse
adjust_stock | take five broken LAMP-0003 off the stock | correct the inventory of SKU SOFA-0002 by plus two
list_tickets | urgent tickets that are open | what support requests are waiting
get_ticket | read ticket tkt_0101 | the messages of support ticket tkt_0007
reply_ticket | answer ticket tkt_0101 that we are on it | write back on tkt_0007 and close it
send_email | mail to anna@example.com that her parcel is on its way | send an e-mail about the delay to bob@example.com
sales_report | revenue by month of 2025 | how much did we sell per country last quarter
export-orders | dump all orders as CSV | export the orders to a JSON file
render_chart | draw a bar chart of these numbers | plot the points as a picture
get_exchange_rate | how many dollars is a euro | exchange rate from EUR to GBP
slow_audit | audit all orders | check that the totals of all orders are right
`;

export const demoRequests: Request[] = lines
  .trim()
  .split("\n")
  .flatMap((line) => {
    const [tool, ...requests] = line.split(" | ");
    return requests.map((text) => ({ text, right: new Set([`demo.${tool}`]) }));
  });
