/** Doctor check of definitions: which tools are held, and which accepted ones seem to talk to the model. */
import { counted } from "../../base/counted.ts";
import { shellWord } from "../../base/shell-word.ts";
import { heldServers, suspiciousTools } from "../../tools/definitions/review.ts";
import { toolId } from "../../tools/model.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { warning } = findingsOf("servers");

export function definitionFindings({ config }: CheckParts, { env, serverFolder: cwd }: CheckContext): Finding[] {
  const surroundings = { config, env, cwd };
  return [
    ...heldServers(surroundings).map(({ server, tools }) =>
      warning(
        `definitions.${server}`,
        `${counted(tools.length, "tool")} of ${server} changed after you accepted them: ${tools.map(({ tool }) => tool).join(", ")}`,
        `claudikins review ${shellWord(server)}`,
      ),
    ),
    ...suspiciousTools(surroundings).map(({ server, tool, suspicions }) =>
      warning(
        `definitions.${server}.${tool}`,
        `The definition of ${toolId(server, tool)} ${suspicions.join(", ")}. This may be harmless`,
        undefined,
        { details: [`Read it: claudikins search ${shellWord(toolId(server, tool))} --detail full`] },
      ),
    ),
  ];
}
