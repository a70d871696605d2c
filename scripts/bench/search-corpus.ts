/** Ten thousand tools of a thousand imaginary servers, and requests for them, the same in every run. */
import type { RegistryIndex, RegistryTool } from "../../src/tools/model.ts";

const verbs =
  "create list get update delete search send upload download convert validate export import merge archive restore schedule cancel approve assign";
const things =
  "invoice customer order ticket message channel document folder report chart contact campaign meeting payment refund shipment product branch commit deployment container database query table record image video transcript playlist recipe booking flight hotel itinerary sensor device alert incident dashboard metric token permission role team project milestone comment review survey";
const qualities =
  "recurring archived pending shared public private overdue recent nested weekly global default remote local draft signed external internal scheduled verified";
const domains =
  "billing support travel retail finance media storage network cloud design research health education logistics security marketing hiring legal weather energy";

const words = (text: string) => text.split(" ");

/** Numbers from 0 up to a limit, determined by the seed. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

export function syntheticIndex(servers = 1_000, toolsOfEach = 10): RegistryIndex {
  const next = numbers(7);
  const pick = (text: string) => {
    const all = words(text);
    return all[next(all.length)]!;
  };
  return {
    version: 1,
    servers: Array.from({ length: servers }, (_, index) => {
      const domain = pick(domains);
      return {
        name: `${domain}-${syllables(next)}-${index}`,
        category: domain,
        description: `Everything about ${domain} at ${syllables(next)}`,
        folder: `${domain}/${index}`,
        fingerprint: String(index),
        tools: Array.from({ length: toolsOfEach }, (_, each): RegistryTool => {
          const [verb, thing, other, quality] = [pick(verbs), pick(things), pick(things), pick(qualities)];
          const parameter = (name: string) => ({
            type: "string",
            description: `The ${pick(qualities)} ${name} to ${verb}`,
          });
          return {
            name: `${verb}_${quality}_${thing}_${each}`,
            description:
              `${verb[0]!.toUpperCase()}${verb.slice(1)} one ${quality} ${thing} in the ${syllables(next)} workspace. ` +
              `Returns the ${thing} with its ${other}, or an error when the ${other} is ${pick(qualities)}. ` +
              `Use it after the ${pick(things)} was ${pick(qualities)}; at most ${next(500)} are handled at once.`,
            inputSchema: {
              type: "object",
              properties: Object.fromEntries(
                [`${thing}_id`, `${other}_name`, "limit", syllables(next)].map((name) => [name, parameter(name)]),
              ),
            },
          };
        }),
      };
    }),
  };
}

/** Requests as people write them: short and long, with words of tools and others. */
export function syntheticQueries(count: number): string[] {
  const next = numbers(11);
  const pick = (text: string) => {
    const all = words(text);
    return all[next(all.length)]!;
  };
  return Array.from({ length: count }, (_, index) => {
    const [verb, thing, other] = [pick(verbs), pick(things), pick(things)];
    if (index % 3 === 0) return `${verb} ${thing}`;
    if (index % 3 === 1) return `I need to ${verb} the ${pick(qualities)} ${thing} for ${pick(domains)}`;
    return `Please look at every ${thing} from last week, ${verb} the ${pick(qualities)} ones and then tell the team which ${other} has to be changed`;
  });
}

function syllables(next: (limit: number) => number): string {
  const each = () => "bdfgklmnprstvz"[next(14)]! + "aeiou"[next(5)]!;
  return each() + each() + each();
}
