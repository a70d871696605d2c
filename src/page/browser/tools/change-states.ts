/** Sets tools to allow, ask or deny, with a way back. */
import { useMemo, useRef } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageImpact, PageToolRow, PageToolState, PageUndo } from "../../servers-contract.ts";
import { post } from "../client.ts";
import { useAction, useConfigChanged, useNotices } from "../notice.tsx";

export const stateWords: Record<PageToolState, string> = { allow: "allow", ask: "ask", deny: "deny" };

const doneWords: Record<PageToolState, string> = {
  allow: "may be called without a question",
  ask: "waits for a person at each call",
  deny: "is denied",
};

/** A tool by its own name. */
type NamedTool = Pick<PageToolRow, "server" | "name">;

export interface States {
  isRunning: boolean;
  /** With `isSeen`, the person knows which calls that wait would end. */
  set(tools: readonly NamedTool[], state: PageToolState, isSeen?: boolean): Promise<void>;
}

const bodyOf = (tools: readonly NamedTool[], state: PageToolState) => ({
  tools: tools.map(({ server, name }) => ({ server, tool: name })),
  state,
});

/** What the change would have meant for the calls of the last days. */
export function previewOf(tools: readonly NamedTool[], state: PageToolState): Promise<PageImpact> {
  return post<PageImpact>("policy/preview", bodyOf(tools, state));
}

/** `changed` is called after each change. */
export function useStates(changed: () => void): States {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const configChanged = useConfigChanged();
  const set = (tools: readonly NamedTool[], state: PageToolState, isSeen = false): Promise<void> =>
    run(async () => {
      const [first] = tools;
      const what = tools.length === 1 && first ? `${first.server}.${first.name}` : counted(tools.length, "tool");
      const { text, waiting } = await previewOf(tools, state);
      if (waiting > 0 && !isSeen) {
        notices.ask(`Not changed yet: ${what}`, text, "Deny anyway", () => void set(tools, state, true));
        return;
      }
      const { undo } = await post<PageUndo>("policy/states", bodyOf(tools, state));
      const words = tools.length === 1 ? doneWords[state] : `set to ${stateWords[state]}`;
      const done = `${what} ${words}`;
      configChanged({ said: `Saved in the config: ${done}`, hint: text, undo, what: done, undone: changed });
      changed();
    });
  const latest = useRef(set);
  latest.current = set;
  // The rows of a long list are drawn again only if it is another object.
  return useMemo(
    () => ({ isRunning, set: (tools, state, isSeen) => latest.current(tools, state, isSeen) }),
    [isRunning],
  );
}
