/** A call that the shop cannot do, in words for whoever called: it becomes a result with `isError`, never a crash. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}
