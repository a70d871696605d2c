/** `claudikins completions`: prints the completion script for a shell. */

import { command } from "../command.ts";
import bash from "../completions/claudikins.bash" with { type: "text" };
import fish from "../completions/claudikins.fish" with { type: "text" };
import zsh from "../completions/claudikins.zsh" with { type: "text" };
import { oneWordOf } from "../flags.ts";

const scripts = { bash, zsh, fish };

export default command({
  description:
    "Print a script that lets your shell complete commands, flags, servers and tools with Tab. Run the example for your shell once.",
  args: {
    shell: {
      type: "positional",
      required: true,
      description: "Your shell: bash, zsh or fish",
      ...oneWordOf(["bash", "zsh", "fish"]),
    },
  },
  examples: [
    `echo 'eval "$(claudikins completions bash)"' >> ~/.bashrc`,
    `echo 'eval "$(claudikins completions zsh)"' >> ~/.zshrc`,
    "claudikins completions fish > ~/.config/fish/completions/claudikins.fish",
  ],
  async run(args, io) {
    await io.stdout.write(scripts[args.shell]);
    return 0;
  },
});
