/** The prompts of the demo. There is one: a review of one week of the shop. */
import { type GetPromptResult, type Prompt, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { DAY_MS, isoTime, YEAR_START_MS } from "./data/calendar.ts";

const WEEKLY_REVIEW: Prompt = {
  name: "weekly_review",
  title: "Review a week",
  description: "Reviews one week of the shop: sales, orders that are stuck, stock to reorder, open tickets.",
  arguments: [{ name: "week", description: "ISO week of 2025, such as 2025-W48 or 48.", required: true }],
};

export function listPrompts(): Prompt[] {
  return [WEEKLY_REVIEW];
}

export function getPrompt(name: string, args: Readonly<Record<string, string>>): GetPromptResult {
  if (name !== WEEKLY_REVIEW.name) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown prompt "${name}". Available: ${WEEKLY_REVIEW.name}.`,
    );
  }
  const { label, from, to } = parseWeek(args["week"]);
  const text = `Review the shop's week ${label}, from ${from} to ${to} (UTC).

1. Sales: sales_report by day for the week and for the week before. What changed, and in which countries and categories?
2. Orders: list_orders of the week. Which are still pending, and which were cancelled or refunded?
3. Stock: list_products with low_stock. Which of them sold in this week?
4. Tickets: list_tickets that are open or waiting. Which have waited longest, and which are urgent?

Answer in at most ten sentences, the most important first, and end with up to three things to do.`;
  return { description: `Review of ${label}`, messages: [{ role: "user", content: { type: "text", text } }] };
}

const FIRST_THURSDAY_MS = YEAR_START_MS + DAY_MS;
const WEEKS = 52;

/** Parses an ISO week. It has the year and number of its Thursday, and begins on the Monday before (ISO 8601, 2.2.10). */
function parseWeek(text: string | undefined): { label: string; from: string; to: string } {
  const number = Number(/^(?:2025-)?W?(\d{1,2})$/i.exec(text ?? "")?.[1]);
  if (!(number >= 1 && number <= WEEKS)) {
    const given = text === undefined ? "is missing" : `is "${text}"`;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `week ${given}. Must be an ISO week of 2025, 2025-W01 to 2025-W${WEEKS}.`,
    );
  }
  const thursdayMs = FIRST_THURSDAY_MS + (number - 1) * 7 * DAY_MS;
  return {
    label: `2025-W${String(number).padStart(2, "0")}`,
    from: isoTime(thursdayMs - 3 * DAY_MS).slice(0, 10),
    to: isoTime(thursdayMs + 3 * DAY_MS).slice(0, 10),
  };
}
