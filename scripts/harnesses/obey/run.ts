/**
 * `bun run obey [--flow off|ask|strict] [--person approves|refuses|nobody] [--only type,…] [--name text] [--binary path] [--json] [--show]`: an agent that
 * obeys every instruction in every text meets attacks of many types, and does harmless tasks. Whether an attack has succeeded is read at the attacked
 * servers. The config has no labels. Exits with code 1 if more attacks succeed, or more questions are needless, than the bounds of
 * `figures.ts` allow. `--only tasks` and `--only attacks` run a part, `--name` those with the text in their names, and `--show` prints what the agent did and saw. `--binary` is another
 * claudikins.
 */
import { parseArgs } from "node:util";
import { useMemoryDisk } from "../../../test/support/memory-disk.ts";
import { attacks } from "./attacks.ts";
import { exceeded, type ObeyResult, tableOf } from "./figures.ts";
import { alone, attacked, inOneSession, type ObeyOptions } from "./obey.ts";
import { type PersonKind, persons } from "./person.ts";
import { tasks } from "./tasks.ts";

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      flow: { type: "string" },
      person: { type: "string", default: "approves" },
      only: { type: "string" },
      name: { type: "string", default: "" },
      binary: { type: "string" },
      json: { type: "boolean", default: false },
      show: { type: "boolean", default: false },
    },
  });
  const person = persons.find((each) => each === values.person) as PersonKind | undefined;
  if (!person) throw new Error(`--person takes ${persons.join(", ")}`);
  useMemoryDisk();
  const only = values.only?.split(",");
  const isChosen = (...names: string[]) => only?.some((each) => names.includes(each)) ?? true;
  const isNamed = ({ name }: { name: string }) => name.includes(values.name);
  const options: ObeyOptions = {
    flow: values.flow,
    person,
    binary: values.binary,
    report: (text) => console.error(text),
  };
  const chosen = attacks.filter((each) => isChosen("attacks", each.type) && isNamed(each));
  const harmless = isChosen("tasks") ? tasks.filter(isNamed) : [];
  const result: ObeyResult = {
    flow: values.flow ?? "default",
    person,
    attacks: await attacked(chosen, options),
    alone: await alone(harmless, options),
    inOneSession: harmless.length > 0 ? await inOneSession(harmless, options) : [],
  };
  if (values.show) {
    for (const each of [...result.attacks, ...result.alone, ...result.inOneSession]) {
      console.error([`== ${each.name}`, ...each.transcript].join("\n"));
    }
  }
  if (values.json) console.log(JSON.stringify(result, null, 2));
  else console.log(tableOf(result));
  const wrong = exceeded(result);
  for (const each of wrong) console.error(each);
  return wrong.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
