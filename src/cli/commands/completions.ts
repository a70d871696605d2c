/** `claudikins completions` prints the completion script for a shell, which calls `claudikins complete` for candidates. */
import { isVisible } from "../../base/visible-text.ts";
import { type CommandTable, command, place } from "../command.ts";
import { readBashLine, repliesTo } from "../completions/bash-line.ts";
import bash from "../completions/claudikins.bash" with { type: "text" };
import fish from "../completions/claudikins.fish" with { type: "text" };
import zsh from "../completions/claudikins.zsh" with { type: "text" };
import type { Candidate } from "../completions/names.ts";
import { type Offer, offer } from "../completions/offer.ts";
import { oneWordOf } from "../flags/flags.ts";
import type { Io } from "../io.ts";

const scripts = { bash, zsh, fish };

export const completions = command({
  description:
    "Print a script that lets your shell complete commands, flags, servers and tools with Tab. Run the example for your shell once.",
  args: {
    shell: place("Your shell: bash, zsh or fish", { required: true, ...oneWordOf(["bash", "zsh", "fish"]) }),
  },
  examples: [
    `echo 'eval "$(claudikins completions bash)"' >> ~/.bashrc`,
    `echo 'eval "$(claudikins completions zsh)"' >> ~/.zshrc`,
    "claudikins completions fish > ~/.config/fish/completions/claudikins.fish",
  ],
  async run(args) {
    return { text: scripts[args.shell] };
  },
});

export const complete = command({
  description:
    "Print possible completions, one per line, each followed by a tab and its description. A line that starts with a tab is an instruction to the shell: files or folders (offer paths), or open (add no space).",
  args: {
    shell: place("Your shell: bash, zsh or fish", { required: true, choices: ["bash", "zsh", "fish"] }),
    words: place(
      "After --: the words without the program's name, ending with the word being typed; for bash, COMP_WORDBREAKS and the line",
      { required: false, several: true },
    ),
  },
  examples: ["claudikins complete fish -- exec --ch", "claudikins complete bash -- ':=' 'claudikins exec --ch'"],
  async run({ shell, words }, io, commands) {
    const offered = shell === "bash" ? forBash(words, io, commands) : forOthers(words, io, commands);
    // A shell shows nothing but candidates.
    const lines = await offered.catch(() => []);
    return { text: lines.map((line) => `${line}\n`).join("") };
  },
});

async function forOthers(words: string[], io: Io, commands: CommandTable): Promise<string[]> {
  const offered = await offer(words.slice(0, -1), words.at(-1) ?? "", commands, io);
  const { candidates } = offered;
  const lines = candidates.filter(isPlain).map(({ value, about = "" }) => {
    const text = about.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
    return text === "" ? value : `${value}\t${text}`;
  });
  return [...lines, ...instructions(offered, candidates)];
}

async function forBash([breaks = "", text = ""]: string[], io: Io, commands: CommandTable): Promise<string[]> {
  const line = readBashLine(text, breaks);
  if (line.isRedirection) return ["\tfiles"];
  const offered = await offer(line.words.slice(1), line.current, commands, io);
  const candidates = offered.candidates.filter(({ value }) => value.startsWith(line.current)).filter(isPlain);
  return [
    ...repliesTo(
      line,
      candidates.map(({ value }) => value),
    ),
    ...instructions(offered, candidates),
  ];
}

/** Omits names with invisible characters or escape sequences, because shells print them unchanged. */
function isPlain({ value }: Candidate): boolean {
  return isVisible(value);
}

function instructions({ paths }: Offer, candidates: Candidate[]): string[] {
  const isOpen = candidates.length > 0 && candidates.every((each) => each.isOpen);
  return [...(paths ? [`\t${paths}`] : []), ...(isOpen ? ["\topen"] : [])];
}
