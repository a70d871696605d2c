/** Prints what code sees of the machine: time zone, locale and environment. */
import { Harness } from "./harness.ts";

using harness = new Harness();
const value = await harness.value(`return [
  new Date(0).toLocaleString(), new Date(0).toString().slice(0, 33), new Date(2024, 6, 1, 10).toISOString(),
  new Date(2024, 6, 1).getTimezoneOffset(), (1234.5).toLocaleString(), Intl.DateTimeFormat().resolvedOptions().timeZone,
  new Intl.NumberFormat("xx").resolvedOptions().locale, process.env]`);
console.log(JSON.stringify(value));
