/** The default options that `toLocaleString`, `toLocaleDateString` and `toLocaleTimeString` add (ECMA-402, ToDateTimeOptions). */

export type DateDefaults = "all" | "date" | "time";

const dateFields = ["weekday", "year", "month", "day"];
const timeFields = ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"];

export function withDateDefaults(options: Record<string, unknown>, defaults: DateDefaults): Record<string, unknown> {
  const given = (name: string) => options[name] !== undefined;
  if (defaults === "date" && given("timeStyle"))
    throw new TypeError("timeStyle is not an option of toLocaleDateString");
  if (defaults === "time" && given("dateStyle"))
    throw new TypeError("dateStyle is not an option of toLocaleTimeString");
  const asked = [
    ...(defaults === "time" ? [] : dateFields),
    ...(defaults === "date" ? [] : timeFields),
    "dateStyle",
    "timeStyle",
  ];
  if (asked.some(given)) return options;
  const added = [
    ...(defaults === "time" ? [] : ["year", "month", "day"]),
    ...(defaults === "date" ? [] : ["hour", "minute", "second"]),
  ];
  return { ...options, ...Object.fromEntries(added.map((name) => [name, "numeric"])) };
}
