/** Generates 140 products in six categories, with their stock in three warehouses. */
import { CATEGORIES, type Category, type Product, type StockLevel, WAREHOUSES } from "../model.ts";
import type { Random } from "../random.ts";

interface Range {
  prefix: string;
  kinds: readonly string[];
  /** In euros. */
  price: readonly [min: number, max: number];
}

const COLLECTIONS = ["Linden", "Fjord", "Solis", "Hollis", "Tamsin", "Orla", "Nessa", "Bruma"];

const RANGES: Readonly<Record<Category, Range>> = {
  decor: { prefix: "VASE", kinds: ["vase", "mirror", "wall clock"], price: [19, 149] },
  lighting: { prefix: "LAMP", kinds: ["table lamp", "floor lamp", "pendant lamp"], price: [39, 289] },
  seating: { prefix: "SEAT", kinds: ["dining chair", "armchair", "bar stool"], price: [79, 649] },
  storage: { prefix: "SHELF", kinds: ["shelf", "sideboard", "chest of drawers"], price: [59, 799] },
  tables: { prefix: "TABLE", kinds: ["desk", "dining table", "side table"], price: [69, 999] },
  textiles: { prefix: "RUG", kinds: ["rug", "cushion", "wool throw"], price: [15, 249] },
};

const COUNT = 140;
const SHARE_LOW = 0.16;

export function generateProducts(random: Random): Product[] {
  const perCategory = Math.ceil(COUNT / CATEGORIES.length);
  return CATEGORIES.flatMap((category, place) => {
    const { prefix, kinds, price } = RANGES[category];
    const surplus = perCategory * CATEGORIES.length - COUNT;
    const length = place < CATEGORIES.length - surplus ? perCategory : perCategory - 1;
    return Array.from({ length }, (_, index): Product => {
      const collection = COLLECTIONS[Math.floor(index / kinds.length) % COLLECTIONS.length]!;
      const reorder_at = 5 * random.int(4, 14);
      const price_cents = random.int(...price) * 100 + random.pick([0, 50, 90, 95]);
      const stock = random.chance(SHARE_LOW) ? random.int(0, reorder_at) : reorder_at + random.int(8, 240);
      return {
        sku: `${prefix}-${String(index + 1).padStart(4, "0")}`,
        name: `${collection} ${kinds[index % kinds.length]!}`,
        category,
        price_cents,
        stock,
        reorder_at,
        levels: spread(random, stock),
      };
    });
  });
}

/** Spreads the stock over the warehouses. */
function spread(random: Random, total: number): StockLevel[] {
  let rest = total;
  return WAREHOUSES.map((warehouse, index) => {
    const on_hand = index === WAREHOUSES.length - 1 ? rest : random.int(0, Math.floor(rest * 0.7));
    rest -= on_hand;
    return { warehouse, on_hand, reserved: random.int(0, Math.min(on_hand, 12)) };
  });
}
