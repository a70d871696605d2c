/** The saved programs that would break, for the page. */
import type { App } from "../app/app.ts";
import type { Environment } from "../config/environment.ts";
import { driftOf, driftText } from "../programs/drift/drift.ts";
import { reasonText } from "../programs/drift/reasons.ts";
import type { PageDrift } from "./programs-contract.ts";

/** Programs that are shown with their reasons. */
const maxShownPrograms = 50;

/** Reasons that are shown for a program. `claudikins programs check` shows all. */
const maxShownReasons = 5;

/** Characters of a reason. */
const maxReasonChars = 1_000;

/** With `servers`, only what these servers do to programs. */
export async function driftOnPage(
  { config, catalog, cwd }: App,
  env: Environment,
  servers?: readonly string[],
): Promise<PageDrift> {
  const drift = await driftOf({ config, catalog, env, cwd }, { servers });
  const broken = drift.broken.slice(0, maxShownPrograms).map(({ name, door, reasons }) => ({
    name,
    door,
    reasons: reasons.slice(0, maxShownReasons).map((each) => reasonText(each).slice(0, maxReasonChars)),
  }));
  return { text: broken.length === 0 ? "" : driftText(drift), broken };
}
