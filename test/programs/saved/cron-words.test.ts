/** Schedules are shown in words, and those without words as they are. */
import { expect, test } from "bun:test";
import { cronInWords } from "../../../src/programs/saved/cron-words.ts";

test.each([
  ["0 8 * * *", "at 08:00"],
  ["0 8 * * 1-5", "at 08:00, Monday through Friday"],
  ["*/5 * * * *", "every 5 minutes"],
  ["0 0 L * *", "at 00:00, on the last day of the month"],
  ["not a time", "not a time"],
])("%s", (cron, words) => {
  expect(cronInWords(cron)).toBe(words);
});
