/** What is said of a recording beside what is seen in it. */
import { transcriptOf } from "./layers.ts";
import { longestWaitMs, type Recording } from "./recording.ts";
import type { Words } from "./svg.ts";

export function wordsFor(recording: Recording): Words {
  const { shortened } = recording;
  const waits =
    shortened === 0
      ? "waits are as they were"
      : `${shortened === 1 ? "a wait is" : `${shortened} waits are`} cut to ${longestWaitMs / 1_000} s`;
  return {
    title: "claudikins at a terminal",
    description: `A terminal in which four commands are typed and answer, one after the other. This is its text:\n${transcriptOf(recording)}`,
    caption: `Recorded by “bun run session”. Typing and pauses are played, ${waits}; ~ is the home folder, “shop” the built-in demo.`,
  };
}
