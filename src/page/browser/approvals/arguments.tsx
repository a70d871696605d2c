/** All arguments of a call, even long ones: short ones as they are, others as a tree that is searched, or as text. */
import { useState } from "preact/hooks";
import { grouped } from "../../../base/counted.ts";
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
    <section aria-label="Arguments">
      {text === undefined ? <ScrolledText class="arguments">{visibleLines(args)}</ScrolledText> : <Whole json={text} />}
      {!isShort && (
        <p class={problem === undefined ? "about" : "warning"}>
          {problem !== undefined
            ? `Only the beginning of ${grouped(argsChars)} characters is shown: ${problem}`
            : text === undefined
              ? `Loading all ${grouped(argsChars)} characters …`
              : `All ${grouped(argsChars)} characters are shown.`}
        </p>
      )}
    </section>
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
      {asText ? (
        <ScrolledText class="arguments">{visibleLines(json)}</ScrolledText>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the arrow keys.
        <div class="arguments tree" tabIndex={0}>
          <JsonTree json={json} />
        </div>
      )}
    </>
  );
}
