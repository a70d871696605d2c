/** Generates 600 customers in nine countries, numbered in the order of their sign-up. */
import type { Country, Customer } from "../model.ts";
import type { Random } from "../random.ts";
import { plainText } from "../text.ts";
import { isoTime, YEAR_START_MS } from "./calendar.ts";
import { PLACES } from "./places.ts";

const COUNT = 600;
const FIRST_SIGN_UP = Date.UTC(2021, 2, 1);
const LAST_SIGN_UP = Date.UTC(2025, 11, 20);
/** Number of customers who signed up before 2025. They can order from the first day of the year. */
const BEFORE_2025 = 420;

export function generateCustomers(random: Random): Customer[] {
  const signUps = signUpTimes(random);
  const weights = Object.fromEntries(Object.entries(PLACES).map(([country, { weight }]) => [country, weight]));
  const taken = new Set<string>();
  return signUps.map((signedUpMs, index) => {
    const country = random.weighted(weights as Record<Country, number>);
    const { first, last, cities, street } = PLACES[country];
    let name: string;
    do name = `${random.pick(first.split(" "))} ${random.pick(last.split(" "))}`;
    while (taken.has(name));
    taken.add(name);
    const [, city = "", postal_code = ""] = /^(\S+) (.+)$/.exec(random.pick(cities.split(", "))) ?? [];
    return {
      id: `cus_${String(index + 1).padStart(4, "0")}`,
      name,
      email: `${plainText(name).replaceAll("'", "").replaceAll(" ", ".")}@example.com`,
      country,
      segment: random.weighted({ retail: 76, wholesale: 14, vip: 10 }),
      created_at: isoTime(signedUpMs),
      address: { street: street(random.int(1, 140)), postal_code, city, country },
    };
  });
}

function signUpTimes(random: Random): number[] {
  const times = Array.from({ length: COUNT }, (_, index) => {
    const [from, to] = index < BEFORE_2025 ? [FIRST_SIGN_UP, YEAR_START_MS - 1000] : [YEAR_START_MS, LAST_SIGN_UP];
    return random.int(from / 1000, to / 1000) * 1000;
  });
  return times.sort((a, b) => a - b);
}
