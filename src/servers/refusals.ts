/** Notices servers whose calls are refused by the service behind them, because a token is missing, wrong or has expired. */

import { maxRefusalChars, minRefusedCalls } from "./limits.ts";
import { onlyText, type ToolResult } from "./result.ts";

const refused =
  /\b(?:HTTP|status(?: code)?|error|code)\W{0,3}(?:401|403)\b|\b(?:401|403)\W{1,3}(?:unauthori[sz]ed|forbidden)|\bunauthori[sz]ed\b|\bbad credentials\b|\binvalid (?:api[ -]?key|access token|token)\b/i;

export class AuthRefusals {
  readonly #inARow = new Map<string, number>();

  /** Notes the result of a call. */
  see(server: string, result: ToolResult): void {
    const text = result["isError"] === true ? onlyText(result["content"]) : undefined;
    const isRefused = text !== undefined && text.length <= maxRefusalChars && refused.test(text);
    if (isRefused) this.#inARow.set(server, (this.#inARow.get(server) ?? 0) + 1);
    else this.#inARow.delete(server);
  }

  /** The number of refused calls in a row, if there are enough to expect more; else 0. */
  of(server: string): number {
    const count = this.#inARow.get(server) ?? 0;
    return count >= minRefusedCalls ? count : 0;
  }
}
