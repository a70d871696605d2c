/** All arguments of a call, even long ones: short ones as they are, others as a tree that is searched, or as text. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { counted, grouped } from "../../../base/counted.ts";
import type { PageApproval } from "../../contract.ts";
import { ScrolledText, visibleLines } from "../text.tsx";
import { JsonTree } from "./json-tree.tsx";

/** Characters of arguments that need no tree. */
const maxPlainChars = 500;

/** Lines of arguments that need no tree. */
const maxPlainLines = 14;

interface ArgumentsProps {
  approval: PageApproval;
  /** The same approval as the server answers when it is asked for it alone. Undefined while it is loaded. */
  whole: PageApproval | undefined;
  problem: string | undefined;
}

export function Arguments({ approval: { args, argsChars }, whole, problem: failure }: ArgumentsProps) {
  const isShort = args.length === argsChars;
  const text = isShort ? args : whole?.args.length === whole?.argsChars ? whole?.args : undefined;
  const problem =
    failure ?? (whole && text === undefined ? "the call no longer waits, and the rest is not kept" : undefined);
  if (args === "{}") return <p class="about">It has no arguments.</p>;
  return (
    <div>
      {text === undefined ? (
        <Clipped>
          <ScrolledText class="arguments">{visibleLines(args)}</ScrolledText>
        </Clipped>
      ) : (
        <Whole json={text} />
      )}
      {!isShort && (
        <p class={problem === undefined ? "about" : "warning"}>
          {problem !== undefined
            ? `Only the beginning of ${grouped(argsChars)} characters is shown: ${problem}`
            : text === undefined
              ? `Loading all ${grouped(argsChars)} characters …`
              : `${grouped(argsChars)} characters, all of them in the box.`}
        </p>
      )}
    </div>
  );
}

/** A box that is scrolled. While something is below its end, the end fades, and a line says how much. */
function Clipped({ children }: { children: ComponentChildren }) {
  const around = useRef<HTMLDivElement>(null);
  const [below, setBelow] = useState(0);
  useEffect(() => {
    const box = around.current?.firstElementChild;
    if (!box) return undefined;
    const linePixels = Number.parseFloat(getComputedStyle(box).lineHeight);
    const look = () => setBelow(Math.floor((box.scrollHeight - box.clientHeight - box.scrollTop) / linePixels));
    // A person can open and close the values in the box.
    const sizes = new ResizeObserver(look);
    for (const each of [box, ...box.children]) sizes.observe(each);
    box.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      sizes.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, []);
  return (
    <>
      <div class={below > 0 ? "clipped is-cut" : "clipped"} ref={around}>
        {children}
      </div>
      {below > 0 && <p class="about">About {counted(below, "more line")} below: scroll the box.</p>}
    </>
  );
}

function Whole({ json }: { json: string }) {
  const isPlain = json.length <= maxPlainChars && json.split("\n").length <= maxPlainLines;
  const [asText, setAsText] = useState(isPlain);
  return (
    <>
      {!isPlain && (
        <fieldset class="shown-as" aria-label="Show the arguments as">
          <button type="button" class="plain" aria-pressed={!asText} onClick={() => setAsText(false)}>
            Tree
          </button>
          <button type="button" class="plain" aria-pressed={asText} onClick={() => setAsText(true)}>
            Text
          </button>
        </fieldset>
      )}
      <Clipped key={String(asText)}>
        {asText ? (
          <ScrolledText class="arguments">{visibleLines(json)}</ScrolledText>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys.
          <div class="arguments tree" tabIndex={0}>
            <JsonTree json={json} />
          </div>
        )}
      </Clipped>
    </>
  );
}
