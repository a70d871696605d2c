/** Correct programs that resemble wrong ones: none is refused or warned about. */
export const right: [string, string][] = [
  [
    "a property that not every item has",
    "const { tickets } = await demo.list_tickets({});\nreturn tickets.filter((t) => t.order_id).map((t) => ({ id: t.id, order: t.order_id ?? null })).length > 0",
  ],
  [
    "a property that may be absent, asked for",
    "const { orders } = await demo.list_orders({ limit: 2 });\nreturn orders.map((o) => o.discount ?? o.total_cents)",
  ],
  [
    "a property behind ?.",
    "const { orders } = await demo.list_orders({ limit: 2 });\nreturn orders.map((o) => o.shipping?.city ?? o.country)",
  ],
  [
    "either of two envelopes",
    "const r = await demo.list_orders({ limit: 2 });\nconst list = r.data?.orders ?? r.items ?? r.orders;\nreturn list.length",
  ],
  [
    "a property that the program sets",
    "const { orders } = await demo.list_orders({ limit: 2 });\nfor (const o of orders) o.total = o.total_cents / 100;\nreturn orders.map((o) => o.total)",
  ],
  [
    "a property through Object.assign",
    "const { orders } = await demo.list_orders({ limit: 2 });\nconst more = orders.map((o) => Object.assign(o, { total: o.total_cents / 100 }));\nreturn more.map((o) => o.total)",
  ],
  [
    "a property of another object of that name",
    "const { orders } = await demo.list_orders({ limit: 2 });\nconst rows = orders.map((o) => ({ total: o.total_cents }));\nreturn rows.map((o) => o.total)",
  ],
  [
    "a property in a condition",
    "const o = await demo.get_order({ order_id: 'ord_00001' });\nif (o.refund) return o.refund.amount;\nreturn 'none'",
  ],
  [
    "a comparison with undefined",
    "const o = await demo.get_order({ order_id: 'ord_00001' });\nreturn o.note === undefined ? 'no note' : o.note",
  ],
  [
    "a status that no order has now",
    "const { orders } = await demo.list_orders({ status: 'paid' });\nreturn orders.filter((o) => o.status === 'refunded').length",
  ],
  [
    "several spellings of a status",
    "const { orders } = await demo.list_orders({});\nconst a = orders.filter((o) => o.status === 'canceled' || o.status === 'cancelled').length;\nconst b = orders.filter((o) => ['done', 'delivered'].includes(o.status)).length;\nreturn a > 0 && b > 0 && orders.filter((o) => o.total_cents < 0).length",
  ],
  [
    "a text that is nearly another one",
    "const { lines } = await demo.get_order({ order_id: 'ord_00001' });\nconst hit = lines.some((l) => l.sku === 'SHELF-0004');\nreturn { hit, lines: lines.length, none: null }",
  ],
  ["an empty result", "const { customers } = await demo.search_customers({ query: 'zzzz' });\nreturn customers"],
  [
    "a count of nothing",
    "const { orders } = await demo.list_orders({ limit: 100 });\nreturn { negative: orders.filter((o) => o.total_cents < 0).length }",
  ],
  [
    "sort() of texts",
    "const { orders } = await demo.list_orders({ limit: 20 });\nreturn orders.map((o) => o.country).sort()[0].length",
  ],
  ["sort() of numbers of as many digits", "return [3, 1, 2].sort()"],
  ["sort() in a chain", "const maybe: number[] | undefined = undefined;\nreturn maybe?.sort().length ?? 'none'"],
  [
    "for…in over an object",
    "const { orders } = await demo.list_orders({ limit: 20 });\nconst by = Object.groupBy(orders, (o) => o.country);\nconst counts = {};\nfor (const country in by) counts[country] = by[country].length;\nreturn Object.keys(counts).length > 0",
  ],
  [
    "for…in over an array, by its indexes",
    "const { orders } = await demo.list_orders({ limit: 3 });\nconst ids = [];\nfor (const i in orders) ids.push(orders[i].id + i.length);\nreturn ids",
  ],
  [
    "a failure that is tried again",
    "let tries = 0;\nfor (;;) { try { tries++; return typeof (await demo.get_exchange_rate({ from: 'EUR', to: 'USD' })).rate } catch (e) { if (tries > 5) throw e } }",
  ],
  [
    "a failure that is returned",
    "try { await demo.get_order({ order_id: 'nope' }); return 'there' } catch (error) { return error.message }",
  ],
  [
    "some of several calls fail",
    "const all = await Promise.allSettled(['ord_00001', 'nope'].map((order_id) => demo.get_order({ order_id })));\nreturn all.map((each) => each.status)",
  ],
  [
    "forEach with an async callback and nothing read",
    "const { orders } = await demo.list_orders({ limit: 2 });\nconst seen = [];\norders.forEach(async (o) => { seen.push((await demo.get_order({ order_id: o.id })).id); });\nreturn seen",
  ],
  [
    "forEach with an async callback that only logs",
    "[1, 2].forEach(async (n) => { await demo.list_products({}); console.log(n) });",
  ],
  [
    "promises within the value",
    "const { orders } = await demo.list_orders({ limit: 2 });\nreturn orders.map(async (o) => (await demo.get_order({ order_id: o.id })).lines.length > 0)",
  ],
  [
    "a promise kept and awaited later",
    "const report = demo.list_products({});\nconst tickets = demo.list_tickets({});\nreturn (await report).products.length > 0 && (await tickets).tickets.length > 0",
  ],
  [
    "a promise that is chained",
    "return demo.list_products({}).then(({ products }) => products.length > 0).catch(() => false).finally(() => {})",
  ],
  [
    "promises in a loop that awaits each",
    "const all = ['ord_00001', 'ord_00002'].map((order_id) => demo.get_order({ order_id }));\nconst ids = [];\nfor await (const o of all) ids.push(o.id);\nfor (const each of all) ids.push((await each).id);\nreturn ids",
  ],
  [
    "promises of a list, replaced by what they give",
    "const all: any[] = ['ord_00001'].map(async (order_id) => demo.get_order({ order_id }));\nfor (let i = 0; i < all.length; i++) all[i] = await all[i];\nreturn all[0].id",
  ],
  [
    "promises of a list, each awaited",
    "const all = ['ord_00001'].map((order_id) => demo.get_order({ order_id }));\nall.push(demo.get_order({ order_id: 'ord_00002' }));\nconst first = await all[0];\nreturn [first.id, all.length, (await Promise.all(all)).length]",
  ],
  [
    "a class with a filter that waits",
    "class List { constructor(private items: number[]) {} async filter(f) { const out = []; for (const i of this.items) if (await f(i)) out.push(i); return out } }\nreturn new List([1, 2]).filter(async (n) => n > 1)",
  ],
  [
    "objects whose map and filter wait",
    "const pool = { async map(f) { return [await f(1)] }, async filter(f) { return (await f(1)) ? [1] : [] } };\nconst all = await pool.map(async (n) => ({ n }));\nreturn [all[0].n, await pool.filter(async () => true)]",
  ],
  [
    "a reduce of promises",
    "return ['ord_00001', 'ord_00002'].reduce(async (sum, order_id) => (await sum) + (await demo.get_order({ order_id })).lines.length * 0, Promise.resolve(1))",
  ],
  [
    "a map for its effects",
    "const names: string[] = [];\n(await demo.list_products({})).products.map((p) => { names.push(p.name); });\nreturn names.length > 0",
  ],
  ["undefined in the value", "return { a: undefined, b: [1].find((n) => n > 1) ?? null, c: 1 }"],
  ["texts that speak of NaN", "return 'NaN is not a number, undefined is not a function, [object Object] is a text'"],
  [
    "a text with undefined from a tool",
    "await fs.writeFile('./workspace/t.txt', 'undefined and NaN');\nreturn await fs.readFile('./workspace/t.txt', 'utf8')",
  ],
  ["the same object twice", "const a = { n: 1 };\nreturn { first: a, second: a }"],
  [
    "a function in a class of the value",
    "class Point { constructor(public x: number) {} toJSON() { return { x: this.x } } }\nreturn [new Point(1)]",
  ],
  [
    "a name that is asked for",
    "return [demo.nope ?? 'none', 'nope' in demo, typeof demo.nope, demo.nope?.({}) ?? 'none']",
  ],
  ["code that only writes a file", "await fs.writeFile('./workspace/a.txt', 'text');"],
  [
    "a helper that is not used",
    "function unused() { return 1 }\nconst { orders } = await demo.list_orders({ limit: 1 });\nconsole.log(orders.length);",
  ],
  [
    "length of a text",
    "const text = await demo.export_orders({ format: 'csv' });\nreturn text.split('\\n')[0].length > 10",
  ],
  ["a thrown text that is caught", "try { throw 'stop' } catch (error) { return error }"],
  ["an environment variable with a default", "return process.env.LIMIT ?? 10"],
  [
    "pages to the end",
    "let cursor: string | undefined;\nlet n = 0;\ndo { const page = await demo.list_customers({ limit: 200, cursor }); n += page.customers.length; cursor = page.next_cursor ?? undefined; } while (cursor);\nreturn n",
  ],
  [
    "includes with words of the program",
    "const { tickets } = await demo.list_tickets({});\nreturn tickets.filter((t) => ['high', 'urgent'].includes(t.priority)).length > 0",
  ],
  [
    "a name that hides a server",
    "const files = ['a.txt'];\nconst demo2 = { listOrders: () => 1 };\nreturn files.map((f) => f.length + demo2.listOrders())",
  ],
];
