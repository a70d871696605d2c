/** Somebody has to sign in before the server can be used. */
import { ClaudikinsError, type ErrorDetails } from "../errors.ts";

export interface SignedOutDetails extends ErrorDetails {
  why: string;
  stands: () => boolean;
}

export class SignedOut extends ClaudikinsError {
  /** In a few words, as the end of a sentence that begins with the server's name. */
  readonly why: string;
  /** Whether asking the server again would give the same: nobody has signed in meanwhile. */
  readonly stands: () => boolean;

  constructor(message: string, { why, stands, ...details }: SignedOutDetails) {
    super("AUTH_REQUIRED", message, details);
    this.why = why;
    this.stands = stands;
  }

  override reworded(change: (text: string) => string): SignedOut {
    const { why, stands } = this;
    return new SignedOut(change(this.message), { ...this.rewordedDetails(change), why: change(why), stands });
  }
}
