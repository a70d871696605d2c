/** The tool for exchange rates. It imitates a service that fails now and then. */
import { objectSchema } from "../json-schema.ts";
import { Refusal } from "../shop.ts";
import { defineTool, jsonResult, READS } from "../tool.ts";

/** The value of one euro in each currency. */
const PER_EURO = {
  CHF: 0.94,
  CZK: 24.6,
  DKK: 7.46,
  EUR: 1,
  GBP: 0.86,
  JPY: 171.5,
  NOK: 11.7,
  PLN: 4.25,
  SEK: 11.05,
  USD: 1.16,
};
type Currency = keyof typeof PER_EURO;
const CURRENCIES = Object.keys(PER_EURO) as Currency[];

const CURRENCY = { type: "string", enum: CURRENCIES } as const;
const FAILS_EVERY = 3;

export const getExchangeRate = defineTool({
  name: "get_exchange_rate",
  title: "Get an exchange rate",
  description:
    "Tells how much of one currency a unit of another buys, such as EUR to USD. Gives { rate }. " +
    "The service behind it is unreliable and fails now and then with a temporary error: simply call again.",
  annotations: READS,
  inputSchema: objectSchema({
    from: { ...CURRENCY, description: "The currency to convert from, as an ISO 4217 code." },
    to: { ...CURRENCY, description: "The currency to convert to, as an ISO 4217 code." },
  }),
  run({ from, to }, { shop }) {
    shop.rateRequests += 1;
    if (shop.rateRequests % FAILS_EVERY === 0) {
      throw new Refusal("Temporary error: the exchange rate service did not answer. Please try again.");
    }
    return jsonResult({ rate: Number((PER_EURO[to] / PER_EURO[from]).toFixed(6)) });
  },
});
