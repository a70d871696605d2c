/** Private data in recordings is replaced by placeholders of the same form. */
import { expect, test } from "bun:test";
import { PrivateValues } from "../../../src/programs/recordings/private-values.ts";

const code = 'const { name, plan } = await crm.find({ id: 7 }); return plan === "gold" && name;';

test("placeholders have the type and the form of the value", () => {
  const hidden = new PrivateValues(code);
  const values = {
    name: "Ann Example",
    mail: "ann@corp.example",
    born: "1980-02-03",
    seen: "2026-11-29T10:11:12Z",
    month: "2026-11",
    page: "https://corp.example/ann",
    phone: "0049123",
    amount: 12.5,
    count: 3,
    none: 0,
    isActive: true,
    left: null,
    empty: "",
  };
  expect(hidden.replaced(values)).toEqual({
    name: "private text 1",
    mail: "private-2@example.com",
    born: "2000-01-04",
    seen: "2000-01-05T00:00:00.000Z",
    month: "2000-01",
    page: "https://example.com/private-6",
    phone: "0000007",
    amount: 1.5,
    count: 2,
    none: 0,
    isActive: true,
    left: null,
    empty: "",
  });
  expect(hidden.hasReplaced).toBe(true);
});

test("equal values get equal placeholders, in JSON within texts too", () => {
  const hidden = new PrivateValues(code);
  const block = { type: "text", text: JSON.stringify({ friends: ["Ann", "Bob", "Ann"] }) };
  expect(hidden.replaced([block, "Bob"])).toEqual([
    { type: "text", text: '{"friends":["private text 1","private text 2","private text 1"]}' },
    "private text 2",
  ]);
});

test("values that the code names stay, and keys that look like data are replaced", () => {
  const hidden = new PrivateValues(code);
  expect(hidden.replaced({ plan: "gold", id: 7, "ann@corp.example": 1, "Ann Example": 2 })).toEqual({
    plan: "gold",
    id: 7,
    "private-1@example.com": 1,
    "private text 2": 2,
  });
});

test("the places of items in a page stay", () => {
  const page = { structuredContent: { rows: ["Ann"] }, _meta: { "claudikins/items": ["rows"] } };
  expect(new PrivateValues(code).replaced(page)).toMatchObject({
    structuredContent: { rows: ["private text 1"] },
    _meta: page._meta,
  });
});
