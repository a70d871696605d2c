/** The error for a call that the shop cannot do. It becomes a tool result with `isError`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}
