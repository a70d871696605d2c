/** The title, description and caption of a recording. */
import { transcriptOf } from "./layers.ts";
import { longestWaitMs, type Recording } from "./recording.ts";
import type { Words } from "./svg.ts";

export function wordsFor(recording: Recording): Words {
  const { shortened } = recording;
  const waits =
    shortened === 0
      ? "waits are real"
      : `${shortened === 1 ? "one wait is" : `${shortened} waits are`} shortened to ${longestWaitMs / 1_000} s`;
  return {
    title: "claudikins in a terminal",
    description: `A terminal session: four commands are typed, and each prints its output. Transcript:\n${transcriptOf(recording)}`,
    caption: `Recorded with “bun run session”. Typing and pauses are simulated; ${waits}. ~ is the home folder; “shop” is the built-in demo.`,
  };
}
