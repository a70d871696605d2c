/** The error of `node:assert`. */

interface AssertionDetails {
  message: string;
  actual?: unknown;
  expected?: unknown;
  operator: string;
  generatedMessage?: boolean;
}

export class AssertionError extends Error {
  override name = "AssertionError";
  readonly code = "ERR_ASSERTION";
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string;
  readonly generatedMessage: boolean;
  constructor({ message, actual, expected, operator, generatedMessage = false }: AssertionDetails) {
    super(message);
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    this.generatedMessage = generatedMessage;
  }
}
