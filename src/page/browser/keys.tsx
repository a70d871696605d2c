/** Single keys as commands: the keys that work everywhere, whether they are on, and the dialog that explains them. */
import { Fragment, type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** The only thing that the browser stores. */
const keysItem = "claudikins-keys";

const keysAreOn = () => localStorage.getItem(keysItem) !== "off";

/** Whether a key is meant as a command: it is not part of a text, and no other key is down. */
export function isCommand(event: KeyboardEvent): boolean {
  if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return false;
  // The editor is in a shadow root, which is the target for everybody outside of it.
  const { tagName = "", isContentEditable } = (event.composedPath()[0] ?? event.target) as Partial<HTMLElement>;
  return !isContentEditable && !["INPUT", "TEXTAREA", "SELECT"].includes(tagName);
}

interface Keys {
  areOn: boolean;
  turn(areOn: boolean): void;
  dialog: RefObject<HTMLDialogElement | null>;
  /** Opens the dialog. */
  explain(): void;
}

/** `onNumber` gets the number of the key, counted from 0. `onUndo` takes the last change back. */
export function useKeys(onNumber: (place: number) => void, onUndo: () => void): Keys {
  const [areOn, setOn] = useState(keysAreOn());
  const dialog = useRef<HTMLDialogElement>(null);
  const latest = useRef({ onNumber, onUndo });
  latest.current = { onNumber, onUndo };
  const explain = () => dialog.current?.showModal();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // The state counts only after the next effect, and a key may come before it.
      if (!keysAreOn() || !isCommand(event) || document.querySelector("dialog[open]")) return;
      const filter = document.getElementById("filter");
      if (/^[1-9]$/.test(event.key)) latest.current.onNumber(Number(event.key) - 1);
      else if (event.key === "u") latest.current.onUndo();
      else if (event.key === "?") explain();
      else if (event.key === "/" && filter) {
        event.preventDefault();
        filter.focus();
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  const turn = (wanted: boolean) => {
    localStorage.setItem(keysItem, wanted ? "on" : "off");
    setOn(wanted);
  };
  return { areOn, turn, dialog, explain };
}

/** The groups of keys with their effects. */
const explained: [keys: string[], does: string][] = [
  [["↑", "↓", "Home", "End"], "Move in a list"],
  [["A", "P", "S", "D"], "Approve the focused call once, for its program, or for the session; deny it"],
  [["/"], "Go to the filter"],
  [["U"], "Undo the last change of the config, also when its message has gone"],
  [["Ctrl K", "⌘ K"], "Go to a view, a server or a program by its name"],
  [["Ctrl Enter", "⌘ Enter"], "Run the code of the editor; with Shift, make a dry run"],
  [["Escape", "Tab"], "Leave the editor, in which Tab indents"],
  [["?"], "Show these keys"],
];

/** `views` are the titles of the views, which the numbers show. */
export function KeysDialog({ keys: { areOn, turn, dialog }, views }: { keys: Keys; views: readonly string[] }) {
  const numbers: (typeof explained)[number] = [views.map((_, place) => String(place + 1)), views.join(", ")];
  return (
    <dialog ref={dialog} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl>
        {[numbers, ...explained].map(([keys, does]) => (
          <Fragment key={does}>
            <dt>
              {keys.map((key) => (
                <Fragment key={key}>
                  <kbd>{key}</kbd>{" "}
                </Fragment>
              ))}
            </dt>
            <dd>{does}</dd>
          </Fragment>
        ))}
      </dl>
      <label>
        <input type="checkbox" checked={areOn} onChange={(event) => turn(event.currentTarget.checked)} /> Single keys
        are commands
      </label>
      <form class="dialog-end" method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
