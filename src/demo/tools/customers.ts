/** The tools that list, find and read customers. */
import { objectSchema } from "../json-schema.ts";
import { COUNTRIES, countsAsRevenue, listedCustomer, SEGMENTS } from "../model.ts";
import { CURSOR, LIMIT, page } from "../page.ts";
import { findCustomer, Refusal } from "../shop.ts";
import { plainText } from "../text.ts";
import { defineTool, jsonResult, READS } from "../tool.ts";

const listCustomers = defineTool({
  name: "list_customers",
  title: "List customers",
  description:
    "Lists the shop's customers, the first to sign up first, filtered by segment and country. Gives { customers, total, next_cursor }; " +
    "a customer has id, name, email, country, segment, created_at.",
  annotations: READS,
  inputSchema: objectSchema(
    {
      segment: { type: "string", enum: SEGMENTS, description: "Only customers of this segment." },
      country: { type: "string", enum: COUNTRIES, description: "Only customers in this country, as an ISO 3166 code." },
      limit: LIMIT,
      cursor: CURSOR,
    },
    ["segment", "country", "limit", "cursor"],
  ),
  run({ segment, country, limit, cursor }, { shop }) {
    const matching = shop.customers.filter(
      (customer) =>
        (segment === undefined || customer.segment === segment) &&
        (country === undefined || customer.country === country),
    );
    const { items, total, next_cursor } = page(matching, limit, cursor);
    return jsonResult({ customers: items.map(listedCustomer), total, next_cursor });
  },
});

const getCustomer = defineTool({
  name: "get_customer",
  title: "Get one customer",
  description:
    "Looks up one customer by id. Gives the customer with address (street, postal_code, city, country) " +
    "and totals (orders, revenue_cents without cancelled and refunded orders, last_order_at).",
  annotations: READS,
  inputSchema: objectSchema({ customer_id: { type: "string", description: "The customer's id, such as cus_0007." } }),
  run({ customer_id }, { shop }) {
    const customer = findCustomer(shop, customer_id);
    const orders = shop.orders.filter((order) => order.customer_id === customer_id);
    const totals = {
      orders: orders.length,
      revenue_cents: orders.filter(countsAsRevenue).reduce((sum, order) => sum + order.total_cents, 0),
      last_order_at: orders.at(-1)?.created_at ?? null,
    };
    return jsonResult({ ...customer, totals });
  },
});

const searchCustomers = defineTool({
  name: "search_customers",
  title: "Search customers by name or e-mail",
  description:
    "Finds customers by a part of their name or e-mail address, whatever the case and accents; with several words, each has to occur. " +
    "Gives { customers }.",
  annotations: READS,
  inputSchema: objectSchema({
    query: { type: "string", minLength: 1, description: "Part of a name or e-mail address, such as anna or müller." },
  }),
  run({ query }, { shop }) {
    const words = plainText(query).split(/\s+/).filter(Boolean);
    if (words.length === 0) throw new Refusal("query is blank. Must be a part of a name or e-mail address.");
    const found = shop.customers.filter((customer) => {
      const text = `${plainText(customer.name)} ${customer.email}`;
      return words.every((word) => text.includes(word));
    });
    return jsonResult({ customers: found.map(listedCustomer) });
  },
});

export const CUSTOMER_TOOLS = [listCustomers, getCustomer, searchCustomers];
