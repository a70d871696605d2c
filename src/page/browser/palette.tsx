/** The command palette: leads to views, servers and programs by a part of their names. It opens with Ctrl+K or ⌘K. */
import { useEffect, useRef, useState } from "preact/hooks";
import { placeAfter } from "./list-keys.ts";
import { Text } from "./text.tsx";

/** Entries that are shown. The others need more letters. */
const maxShownEntries = 12;

export interface PaletteEntry {
  /** What it is: a view, a server, a program. */
  kind: string;
  name: string;
  go(): void;
}

export function Palette({ entries }: { entries: readonly PaletteEntry[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [place, setPlace] = useState(0);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      // On a Mac, Ctrl+K in the editor deletes to the end of the line.
      if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setText("");
      setPlace(0);
      setOpen(true);
      dialog.current?.showModal();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ kind, name }: PaletteEntry) => {
    const whole = `${kind} ${name}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  };
  const shown = isOpen ? entries.filter(fits).slice(0, maxShownEntries) : [];
  const chosen = Math.min(place, shown.length - 1);
  const go = (entry: PaletteEntry | undefined) => {
    if (!entry) return;
    dialog.current?.close();
    entry.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      go(shown[chosen]);
      return;
    }
    // Home and End move in the text.
    const to = event.key.startsWith("Arrow") ? placeAfter(event, chosen, shown.length) : undefined;
    if (to === undefined) return;
    event.preventDefault();
    setPlace(to);
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to" onClose={() => setOpen(false)}>
      <input
        type="text"
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls="palette-entries"
        aria-activedescendant={shown[chosen] ? `palette-${chosen}` : undefined}
        aria-label="Go to a view, a server or a program"
        placeholder="Go to a view, a server or a program"
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setPlace(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-entries" role="listbox" aria-label="Places">
        {shown.map((entry, at) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the chosen entry.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field.
          <div
            key={`${entry.kind} ${entry.name}`}
            id={`palette-${at}`}
            role="option"
            aria-selected={at === chosen}
            onClick={() => go(entry)}
          >
            <Text>{entry.name}</Text> <span class="about">{entry.kind}</span>
          </div>
        ))}
      </div>
      {isOpen && shown.length === 0 && <p class="about">Nothing has this name.</p>}
    </dialog>
  );
}
