/** Draws the terminal at the beginning of the README from a real run: `bun run session`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../../test/support/claudikins.ts";
import { privateFacts, svgOf } from "./picture.ts";
import { runSession } from "./session.ts";

const svg = svgOf(await runSession(executable()));
const found = privateFacts(svg);
if (found.length > 0) throw new Error(`the session shows ${found.join(" and ")}`);
writeFileSync(join(import.meta.dir, "session.svg"), svg);
