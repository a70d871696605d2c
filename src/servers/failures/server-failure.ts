/** Failures of a whole server, not only of one call. */
import { ClaudikinsError, type ErrorCode, type ErrorDetails, isUnanswered } from "../../base/errors.ts";

/** The cause of a failure, as far as it is known. */
export interface FailureFacts {
  /** Another attempt fails again until the user has changed something. */
  lasting?: boolean | undefined;
  /** The path of a file that the server needs, and that does not exist. */
  missing?: string | undefined;
  /** The most telling line of the server's output. */
  said?: string | undefined;
  /** The next step on the page, which has a form for the entry. Undefined if the hint is not about the entry. */
  onPage?: string | undefined;
}

export interface ServerFailureDetails extends ErrorDetails, FailureFacts {
  /** The reason in one line, as the end of a sentence that begins with the server's name. */
  why: string;
  /** The server asked not to be tried again for this time. */
  retryAfterMs?: number | undefined;
}

export class ServerFailure extends ClaudikinsError {
  readonly why: string;
  readonly retryAfterMs: number | undefined;
  readonly facts: FailureFacts;

  constructor(code: ErrorCode, message: string, details: ServerFailureDetails) {
    super(code, message, details);
    const { why, retryAfterMs, lasting, missing, said, onPage } = details;
    this.why = why;
    this.retryAfterMs = retryAfterMs;
    this.facts = { lasting, missing, said, onPage };
  }

  override reworded(change: (text: string) => string): ServerFailure {
    return new ServerFailure(this.code, change(this.message), this.rewordedDetails(change));
  }

  protected override rewordedDetails(change: (text: string) => string): ServerFailureDetails {
    const { lasting, missing, said, onPage } = this.facts;
    return {
      ...super.rewordedDetails(change),
      why: change(this.why),
      retryAfterMs: this.retryAfterMs,
      lasting,
      missing: missing === undefined ? undefined : change(missing),
      said: said === undefined ? undefined : change(said),
      onPage: onPage === undefined ? undefined : change(onPage),
    };
  }
}

/** The server or its connection ended while a request was running. */
export class ConnectionLost extends ServerFailure {
  /** False if the server has not read the request: it can be sent again. */
  readonly sent: boolean;

  constructor(message: string, details: ServerFailureDetails & { sent: boolean }) {
    super("SERVER_UNAVAILABLE", message, details);
    this.sent = details.sent;
  }

  override reworded(change: (text: string) => string): ConnectionLost {
    return new ConnectionLost(change(this.message), { ...this.rewordedDetails(change), sent: this.sent });
  }
}

/** Whether an error of a request may have text of the server: its answer, or what it wrote before it ended. */
export function hasServerText(error: unknown): boolean {
  if (error instanceof ServerFailure) return error.facts.said !== undefined;
  return !(error instanceof ClaudikinsError && isUnanswered(error.code));
}

interface SignedOutDetails extends ServerFailureDetails {
  stands: () => boolean;
  isSignInSame?: (() => boolean) | undefined;
}

/** A person must sign in before the server can be used. */
export class SignedOut extends ServerFailure {
  /** Whether asking the server again would fail again. */
  readonly stands: () => boolean;
  /** False once the user has signed in. */
  readonly isSignInSame: () => boolean;

  constructor(message: string, details: SignedOutDetails) {
    super("AUTH_REQUIRED", message, details);
    this.stands = details.stands;
    this.isSignInSame = details.isSignInSame ?? (() => true);
  }

  override reworded(change: (text: string) => string): SignedOut {
    const { stands, isSignInSame } = this;
    return new SignedOut(change(this.message), { ...this.rewordedDetails(change), stands, isSignInSame });
  }
}

/** The next step for somebody on the page. */
export function pageHintOf(error: ClaudikinsError): string | undefined {
  return (error instanceof ServerFailure ? error.facts.onPage : undefined) ?? error.hint;
}
