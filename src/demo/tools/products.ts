/** The tools for products and their stock. */
import { objectSchema } from "../json-schema.ts";
import { CATEGORIES, listedProduct, WAREHOUSES } from "../model.ts";
import { findProduct, Refusal } from "../shop.ts";
import { DESTROYS, defineTool, jsonResult, READS, structuredResult } from "../tool.ts";

const SKU = { type: "string", description: "The product's SKU, such as LAMP-0003." } as const;

const listProducts = defineTool({
  name: "list_products",
  title: "List products",
  description:
    "Lists the shop's products, of one category or all, on request only those to be reordered. Gives { products }; " +
    "a product has sku, name, category, price_cents, stock (over all warehouses), reorder_at.",
  annotations: READS,
  inputSchema: objectSchema(
    {
      category: { type: "string", enum: CATEGORIES, description: "Only products of this category." },
      low_stock: {
        type: "boolean",
        description: "true: only products whose stock is at or below reorder_at. Default: all.",
      },
    },
    ["category", "low_stock"],
  ),
  outputSchema: objectSchema({
    products: {
      type: "array",
      items: objectSchema({
        sku: { type: "string" },
        name: { type: "string" },
        category: { type: "string", enum: CATEGORIES },
        price_cents: { type: "integer", description: "Price of one piece, in cents of EUR." },
        stock: { type: "integer", description: "Pieces on hand in all warehouses." },
        reorder_at: { type: "integer", description: "At this stock or below it is to be reordered." },
      }),
    },
  }),
  run({ category, low_stock }, { shop }) {
    const products = shop.products.filter(
      (product) =>
        (category === undefined || product.category === category) &&
        (low_stock !== true || product.stock <= product.reorder_at),
    );
    return structuredResult({ products: products.map(listedProduct) });
  },
});

const getStock = defineTool({
  name: "get_stock",
  title: "Get the stock of a product",
  description:
    "Tells how much of a product there is in each warehouse, or in one. Gives { sku, levels } with warehouse, on_hand and reserved; " +
    "on_hand includes what is reserved.",
  annotations: READS,
  inputSchema: objectSchema(
    { sku: SKU, warehouse: { type: "string", enum: WAREHOUSES, description: "Only this warehouse." } },
    ["warehouse"],
  ),
  outputSchema: objectSchema({
    sku: { type: "string" },
    levels: {
      type: "array",
      items: objectSchema({
        warehouse: { type: "string", enum: WAREHOUSES },
        on_hand: { type: "integer", description: "Pieces in the warehouse." },
        reserved: { type: "integer", description: "How many of them are promised to orders." },
      }),
    },
  }),
  run({ sku, warehouse }, { shop }) {
    const levels = findProduct(shop, sku).levels.filter(
      (level) => warehouse === undefined || level.warehouse === warehouse,
    );
    return structuredResult({ sku, levels: levels.map((level) => ({ ...level })) });
  },
});

const adjustStock = defineTool({
  name: "adjust_stock",
  title: "Adjust the stock of a product",
  description:
    "Corrects how much of a product a warehouse has on hand, by adding or, with a negative delta, removing pieces. " +
    "Gives the new level: { sku, warehouse, on_hand, reserved }.",
  annotations: DESTROYS,
  inputSchema: objectSchema({
    sku: SKU,
    warehouse: { type: "string", enum: WAREHOUSES, description: "The warehouse to correct." },
    delta: { type: "integer", description: "Pieces to add; negative to remove. Not 0." },
    reason: { type: "string", minLength: 1, description: "Why, such as: counted, broken, returned." },
  }),
  run({ sku, warehouse, delta }, { shop }) {
    const product = findProduct(shop, sku);
    const level = product.levels.find((each) => each.warehouse === warehouse)!;
    if (delta === 0)
      throw new Refusal("delta is 0. Must be a positive number of pieces to add, or a negative number to remove.");
    if (level.on_hand + delta < 0) {
      throw new Refusal(
        `delta is ${delta}. At most ${level.on_hand} can be removed: ${warehouse} has no more of ${sku}.`,
      );
    }
    level.on_hand += delta;
    product.stock += delta;
    level.reserved = Math.min(level.reserved, level.on_hand);
    return jsonResult({ sku, ...level });
  },
});

export const PRODUCT_TOOLS = [listProducts, getStock, adjustStock];
