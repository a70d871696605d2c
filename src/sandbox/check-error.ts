/** The code was refused before anything ran. */
import type { OutcomeError } from "./contract.ts";

export class CheckError extends Error {
  readonly error: OutcomeError;
  constructor(error: OutcomeError) {
    super(error.message);
    this.error = error;
  }
}
