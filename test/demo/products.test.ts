/** Products and their stock. */
import { expect, test } from "bun:test";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js";
import type { JsonSchemaType } from "@modelcontextprotocol/sdk/validation/types.js";
import { startDemoClient } from "./demo-client.ts";
import type { Product, Stock } from "./shapes.ts";

test("the stock of a product is the sum of its warehouses", async () => {
  await using demo = await startDemoClient();
  const { products } = await demo.value<{ products: Product[] }>("list_products");
  expect(products.length).toBe(140);
  const low = await demo.value<{ products: Product[] }>("list_products", { low_stock: true });
  expect(low.products).toEqual(products.filter(({ stock, reorder_at }) => stock <= reorder_at));
  const lamps = await demo.value<{ products: Product[] }>("list_products", { category: "lighting" });
  expect(lamps.products.every(({ sku }) => sku.startsWith("LAMP-"))).toBe(true);

  for (const { sku, stock } of low.products) {
    const { levels } = await demo.value<Stock>("get_stock", { sku });
    expect(levels.map(({ warehouse }) => warehouse)).toEqual(["berlin", "lyon", "rotterdam"]);
    expect(levels.reduce((sum, { on_hand }) => sum + on_hand, 0)).toBe(stock);
    expect(levels.every(({ on_hand, reserved }) => reserved <= on_hand)).toBe(true);
  }
  expect(await demo.failure("list_products", { category: "lamps" })).toStartWith(
    'category is "lamps". It must match {"type":"string","enum":["decor","lighting","seating","storage","tables","textiles"],',
  );
  expect(await demo.failure("get_stock", { sku: "LAMP-9999" })).toBe(
    'No product "LAMP-9999". SKUs look like LAMP-0003.',
  );
});

test("adjust_stock changes the level, the stock and whether it is low", async () => {
  await using demo = await startDemoClient();
  const find = async (args: object = {}) =>
    (await demo.value<{ products: Product[] }>("list_products", { ...args })).products.find(
      (p) => p.sku === "LAMP-0003",
    );
  const before = (await find())!;
  const { levels } = await demo.value<Stock>("get_stock", { sku: "LAMP-0003", warehouse: "lyon" });
  const [level] = levels;
  expect(levels.length).toBe(1);

  const change = { sku: "LAMP-0003", warehouse: "lyon", reason: "counted" };
  const more = await demo.value<object>("adjust_stock", { ...change, delta: 7 });
  expect(more).toEqual({ sku: "LAMP-0003", ...level!, on_hand: level!.on_hand + 7 });
  expect((await find())!.stock).toBe(before.stock + 7);

  expect(await find({ low_stock: true })).toBeUndefined();
  for (const { warehouse, on_hand } of (await demo.value<Stock>("get_stock", { sku: "LAMP-0003" })).levels) {
    await demo.value("adjust_stock", { sku: "LAMP-0003", warehouse, delta: -on_hand, reason: "fire" });
  }
  expect(await find({ low_stock: true })).toMatchObject({ stock: 0 });
  expect(await demo.failure("adjust_stock", { ...change, delta: -1 })).toBe(
    "delta is -1. At most 0 can be removed: lyon has no more of LAMP-0003.",
  );
  expect(await demo.failure("adjust_stock", { ...change, delta: 0 })).toStartWith("delta is 0.");
});

test("structured results match their schemas and their text", async () => {
  await using demo = await startDemoClient();
  const { tools } = await demo.client.listTools();
  for (const [name, args] of [
    ["list_products", {}],
    ["get_stock", { sku: "LAMP-0003" }],
    ["sales_report", { from: "2025-01-01", to: "2025-12-31", group_by: "category" }],
  ] as const) {
    const schema = tools.find((tool) => tool.name === name)!.outputSchema as JsonSchemaType;
    const { structuredContent, content } = await demo.call(name, args);
    expect(new AjvJsonSchemaValidator().getValidator(schema)(structuredContent).errorMessage).toBeUndefined();
    expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }]);
  }
});
