/** `claudikins hooks print`: texts that tell agents about claudikins. */
import { hookTexts } from "../../tools/registry/hook-texts.ts";
import { markedHooks } from "../../tools/registry/hooks.ts";
import { command, place } from "../command.ts";
import { oneWordOf } from "../flags.ts";

export default command({
  description:
    "Print a text that tells agents how to find and call tools: a section for CLAUDE.md, a skill file, or the README that gen writes into the registry. claudikins stats --hooks shows which of these texts led agents to claudikins.",
  args: {
    text: place("Text to print: claude-md, skill or readme", { required: true, ...oneWordOf(markedHooks) }),
  },
  examples: [
    "claudikins hooks print claude-md >> CLAUDE.md",
    "claudikins hooks print skill > .claude/skills/claudikins/SKILL.md",
  ],
  async run(args) {
    return { text: hookTexts[args.text] };
  },
});
