/** The failure of a request whose server went away, which says whether the server can have seen the request. */
import { ClaudikinsError, type ErrorDetails } from "../errors.ts";

export class ConnectionLost extends ClaudikinsError {
  /** False where nothing of the request was written, or it was refused unread: it can be sent again. */
  readonly sent: boolean;

  constructor(message: string, details: ErrorDetails & { sent: boolean }) {
    super("SERVER_UNAVAILABLE", message, details);
    this.sent = details.sent;
  }

  override reworded(change: (text: string) => string): ConnectionLost {
    return new ConnectionLost(change(this.message), { ...this.rewordedDetails(change), sent: this.sent });
  }
}
