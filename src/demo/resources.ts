/** The resources of the demo: the returns policy, and the schema of an order. */
import { type ReadResourceResult, type Resource, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { objectSchema } from "./json-schema.ts";
import { COUNTRIES, ORDER_STATUSES } from "./model.ts";

const RETURNS_POLICY = `# Returns policy

## How long
Customers can return an item within 30 days of delivery. VIP customers have 60 days.
Wholesale orders can be returned within 14 days, and only in unopened boxes.

## What can be returned
- Anything unused, in its original packaging.
- Damaged or wrong items, whatever their state. They have to be reported within 7 days of delivery.
- Rugs, cushions and throws only if the seal has not been broken.

## What it costs
Returns of damaged or wrong items are free. For all others the customer pays the postage.

## Refunds
The money is refunded within 5 days of the parcel's arrival at our warehouse.
Refunds above 50,000 cents (500 EUR) need the approval of a second person.
`;

const ORDER_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "demo://schema/orders",
  title: "Order",
  description: "An order as list_orders returns it. Times are ISO 8601 in UTC.",
  ...objectSchema({
    id: { type: "string", description: "Such as ord_00042." },
    customer_id: { type: "string", description: "Such as cus_0007." },
    status: { type: "string", enum: ORDER_STATUSES, description: "The stage that the order has reached." },
    created_at: { type: "string", description: "When it was placed, such as 2025-03-04T10:11:12Z." },
    country: { type: "string", enum: COUNTRIES, description: "Where it goes, as an ISO 3166 code." },
    total_cents: { type: "integer", minimum: 0, description: "The sum of its lines, in cents." },
    currency: { type: "string", enum: ["EUR"], description: "The currency of all amounts." },
    items: { type: "integer", minimum: 1, description: "How many pieces: the quantities of its lines added up." },
  }),
};

interface DemoResource extends Resource {
  mimeType: string;
  text: string;
}

const RESOURCES: readonly DemoResource[] = [
  {
    uri: "demo://policy/returns",
    name: "returns-policy",
    title: "Returns policy",
    description: "What customers may return, how long they have, and when they get their money back.",
    mimeType: "text/markdown",
    text: RETURNS_POLICY,
  },
  {
    uri: "demo://schema/orders",
    name: "order-schema",
    title: "Schema of an order",
    description: "JSON Schema of the orders that list_orders returns.",
    mimeType: "application/json",
    text: JSON.stringify(ORDER_SCHEMA, null, 2),
  },
];

export function listResources(): Resource[] {
  return RESOURCES.map(({ text: _, ...resource }) => resource);
}

export function readResource(uri: string): ReadResourceResult {
  const resource = RESOURCES.find((each) => each.uri === uri);
  if (resource === undefined) {
    const known = RESOURCES.map((each) => each.uri).join(", ");
    throw new ResourceNotFoundError(uri, `Unknown resource "${uri}". Available: ${known}.`);
  }
  return { contents: [{ uri, mimeType: resource.mimeType, text: resource.text }] };
}
