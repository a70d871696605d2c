/** The place of the editor on the page. Its script is loaded when it is shown first. */

import type { Ref } from "preact";
import { useEffect, useImperativeHandle, useRef, useState } from "preact/hooks";
import { Problem, type Reason } from "../notice.tsx";
import type { Editor, EditorOptions, EditorScript } from "./contract.ts";

let script: Promise<EditorScript> | undefined;

function loaded(): Promise<EditorScript> {
  const address = new URL("editor.js", document.baseURI).href;
  script ??= (import(address) as Promise<EditorScript>).catch((error: unknown) => {
    script = undefined;
    throw error;
  });
  return script;
}

interface EditorFrameProps extends Omit<EditorOptions, "parent" | "describedBy"> {
  editor: Ref<Editor | undefined>;
  /** Changes when the code is replaced by other code, and not when it is edited here. */
  replaced: number;
}

/** The editor adds style sheets to a shadow root, because the policy of the page forbids new ones in the document. */
export function EditorFrame({ editor, replaced, ...options }: EditorFrameProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(options);
  latest.current = options;
  const [opened, setOpened] = useState<Editor>();
  const [problem, setProblem] = useState<Reason>();
  useImperativeHandle(editor, () => opened, [opened]);
  useEffect(() => {
    let made: Editor | undefined;
    let isShown = true;
    loaded().then(
      ({ openEditor }) => {
        if (!isShown || !host.current) return;
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
        const parent = document.createElement("div");
        const keys = document.createElement("p");
        [keys.id, keys.hidden, keys.textContent] = [
          "keys",
          true,
          "Tab indents. To leave the editor: Escape, then Tab.",
        ];
        // The host has the height, which the editor takes over.
        parent.style.height = "100%";
        root.replaceChildren(parent, keys);
        made = openEditor({
          parent,
          describedBy: keys.id,
          code: latest.current.code,
          names: () => latest.current.names(),
          check: (code) => latest.current.check(code),
          onCode: (code) => latest.current.onCode(code),
          onMistakes: (mistakes) => latest.current.onMistakes(mistakes),
          onRun: (isDryRun) => latest.current.onRun(isDryRun),
        });
        setOpened(made);
      },
      () => setProblem({ message: "The editor could not be loaded", hint: "Open this view again." }),
    );
    return () => {
      isShown = false;
      made?.close();
    };
  }, []);
  useEffect(() => {
    opened?.setCode(latest.current.code);
  }, [opened, replaced]);
  return (
    <>
      {problem && <Problem reason={problem} />}
      <div ref={host} class="editor">
        {!opened && !problem && <p class="about">Loading the editor …</p>}
      </div>
    </>
  );
}
