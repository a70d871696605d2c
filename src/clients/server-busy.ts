/** The failure of a start that the server refuses for a while, and says for how long. */
import { ClaudikinsError, type ErrorDetails } from "../errors.ts";

export class ServerBusy extends ClaudikinsError {
  readonly retryAfterMs: number;

  constructor(message: string, details: ErrorDetails & { retryAfterMs: number }) {
    super("SERVER_UNAVAILABLE", message, details);
    this.retryAfterMs = details.retryAfterMs;
  }

  override reworded(change: (text: string) => string): ServerBusy {
    const { retryAfterMs } = this;
    return new ServerBusy(change(this.message), { ...this.rewordedDetails(change), retryAfterMs });
  }
}
