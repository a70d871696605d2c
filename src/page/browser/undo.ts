/** Says that the page has changed the config, with a way back. */
import { post } from "./client.ts";
import { useAction, useNotices } from "./notice.tsx";

interface ConfigChange {
  said: string;
  hint?: string | undefined;
  /** Identifies the change for the server. Undefined if nothing had to be changed. */
  undo: string | undefined;
  /** Names the change that an Undo takes back. */
  what: string;
  /** The hint after the change was taken back. */
  undoneHint?: string | undefined;
  /** Called after the change was taken back. */
  undone?: (() => void) | undefined;
}

export function useConfigChanged(): (change: ConfigChange) => void {
  const notices = useNotices();
  const { run } = useAction();
  return ({ said, hint, undo, what, undoneHint, undone }) => {
    if (undo === undefined) {
      notices.say(said, hint);
      return;
    }
    const takeBack = () =>
      run(async () => {
        await post("policy/undo", { undo });
        notices.say(`Undone: "${what}"`, undoneHint);
        undone?.();
      });
    notices.changed(said, hint, { what, run: () => void takeBack() });
  };
}
