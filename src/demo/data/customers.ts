/** Generates 600 customers in nine countries, numbered in the order of their sign-up. */
import type { Country, CustomerRecord } from "../model.ts";
import type { Random } from "../random.ts";
import { plainText } from "../text.ts";
import { PLACES } from "./places.ts";

const COUNT = 600;
const FIRST_SIGN_UP = Date.UTC(2021, 2, 1);
const LAST_SIGN_UP = Date.UTC(2025, 11, 20);
/** Number of customers who signed up before 2025. They can order from the first day of the year. */
const BEFORE_2025 = 420;

export function generateCustomers(random: Random): CustomerRecord[] {
  const signUps = signUpTimes(random);
  const countries = mapValues(PLACES, (place) => ({
    ...place,
    first: place.first.split(" "),
    last: place.last.split(" "),
  }));
  const weights = mapValues(PLACES, (place) => place.weight);
  const taken = new Set<string>();
  return signUps.map((createdAtMs, index) => {
    const country = random.weighted(weights);
    const { first, last, cities, street } = countries[country];
    let name: string;
    do name = `${random.pick(first)} ${random.pick(last)}`;
    while (taken.has(name));
    taken.add(name);
    const [city, postal_code] = random.pick(cities);
    return {
      id: `cus_${String(index + 1).padStart(4, "0")}`,
      name,
      email: `${plainText(name).replaceAll("'", "").replaceAll(" ", ".")}@example.com`,
      country,
      segment: random.weighted({ retail: 76, wholesale: 14, vip: 10 }),
      createdAtMs,
      address: { street: street(random.int(1, 140)), postal_code, city },
    };
  });
}

function signUpTimes(random: Random): number[] {
  const newYear = Date.UTC(2025, 0, 1);
  const times = Array.from({ length: COUNT }, (_, index) => {
    const [from, to] = index < BEFORE_2025 ? [FIRST_SIGN_UP, newYear - 1000] : [newYear, LAST_SIGN_UP];
    return random.int(from / 1000, to / 1000) * 1000;
  });
  return times.sort((a, b) => a - b);
}

function mapValues<T, U>(record: Readonly<Record<Country, T>>, map: (value: T) => U): Record<Country, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)])) as Record<Country, U>;
}
