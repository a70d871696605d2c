/** Two executions side by side: their facts, their calls in order, and the difference of code, values and logs. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { counted, grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import { visible } from "../../../policy/hidden-characters.ts";
import type {
  PageCall,
  PageComparable,
  PageCompared,
  PageComparedCall,
  PageComparison,
  PageDifference,
} from "../../activity-contract.ts";
import { get } from "../client.ts";
import { Difference } from "../difference.tsx";
import { Problem, type Reason } from "../notice.tsx";
import { ScrolledText, Text, ToolName, visibleLines } from "../text.tsx";
import { placeText, StateWords } from "./row.tsx";

/** Characters of the title of an execution in the list of choices. */
const maxChoiceChars = 60;

interface CompareProps {
  id: string;
  /** The execution that it is compared with. Empty: the one that is most likely meant. */
  other: string;
  onOther(id: string): void;
  /** Shows one of the two executions. */
  onChoose(id: string): void;
  onClose(): void;
}

export function Compare({ id, other, onOther, onChoose, onClose }: CompareProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [choices, setChoices] = useState<PageComparable[]>();
  const [shown, setShown] = useState<PageComparison>();
  const [problem, setProblem] = useState<Reason>();
  const compared = other || choices?.find(({ isUsual }) => isUsual)?.id;
  useEffect(() => heading.current?.focus(), [id]);
  useEffect(() => {
    get<PageComparable[]>(`executions/${id}/comparable`).then(setChoices, setProblem);
  }, [id]);
  useEffect(() => {
    if (compared === undefined) return undefined;
    let isWanted = true;
    get<PageComparison>(`executions/${id}/compare?with=${compared}`).then(
      (found) => {
        if (!isWanted) return;
        setShown(found);
        setProblem(undefined);
      },
      (reason: Reason) => isWanted && setProblem(reason),
    );
    return () => {
      isWanted = false;
    };
  }, [id, compared]);
  return (
    <section
      class="panel compare"
      aria-labelledby="compare"
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <div class="detail-head">
        <h2 id="compare" ref={heading} tabIndex={-1}>
          Two executions side by side
        </h2>
        <button type="button" class="plain" aria-label="Close the comparison" onClick={onClose}>
          ✕
        </button>
      </div>
      {choices && <Chosen choices={choices} other={compared} onOther={onOther} />}
      {problem && <Problem reason={problem} />}
      {shown && (
        <>
          <Sides comparison={shown} onChoose={onChoose} />
          <Calls comparison={shown} />
          <Contents name="Code" difference={shown.code} />
          <Contents name="Value" difference={shown.value} />
          <Contents name="Logs" difference={shown.logs} />
        </>
      )}
    </section>
  );
}

const relationTexts = {
  "run again from": "It was run again from",
  "run again as": "Run again as",
  "same program": "The same program",
  "same code": "The same code",
  other: "Others",
} as const;

interface ChosenProps {
  choices: readonly PageComparable[];
  other: string | undefined;
  onOther(id: string): void;
}

function Chosen({ choices, other, onOther }: ChosenProps) {
  if (choices.length === 0) return <p class="empty">There is no other recorded execution.</p>;
  const isListed = choices.some(({ id }) => id === other);
  return (
    <label class="compare-choice">
      <span>Compared with</span>
      <select value={isListed ? other : ""} onChange={(event) => onOther(event.currentTarget.value)}>
        {!isListed && <option value="">{other === undefined ? "Choose an execution" : "Another execution"}</option>}
        {[...Map.groupBy(choices, ({ relation }) => relation)].map(([relation, all]) => (
          <optgroup key={relation} label={relationTexts[relation]}>
            {all.map((each) => (
              <option key={each.id} value={each.id}>
                {choiceText(each)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** Two executions of the same minute differ by their seconds. */
function exactTime(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

function choiceText({ title, stateText, isDryRun, startedAt }: PageComparable): string {
  const state = isDryRun ? `dry run, ${stateText}` : stateText;
  return `${exactTime(startedAt)} · ${state} · ${visible(title).slice(0, maxChoiceChars)}`;
}

interface SidesProps {
  comparison: PageComparison;
  onChoose(id: string): void;
}

interface SideFact {
  name: string;
  isOther: boolean;
  shown(side: PageCompared): ComponentChildren;
}

function Sides({ comparison, onChoose }: SidesProps) {
  const { earlier, later } = comparison;
  return (
    <table class="compare-sides">
      <thead>
        <tr>
          <th scope="col">
            <span class="hidden">Fact</span>
          </th>
          {[earlier, later].map((side) => (
            <th scope="col" key={side.id}>
              {side === earlier ? "Earlier: " : "Later: "}
              <button type="button" class="link" onClick={() => onChoose(side.id)}>
                <Text>{side.title}</Text>
              </button>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sideFacts(comparison).map(({ name, isOther, shown }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {[earlier, later].map((side) => (
              <td key={side.id}>
                <Marked when={isOther}>{shown(side)}</Marked>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function sideFacts({ earlier, later, differs }: PageComparison): SideFact[] {
  const fact = (name: string, part: PageComparison["differs"][number], shown: SideFact["shown"]): SideFact => ({
    name,
    isOther: differs.includes(part),
    shown,
  });
  const hasFailure = earlier.failure !== undefined || later.failure !== undefined;
  return [
    fact("State", "state", (side) => <StateWords execution={side} />),
    ...(hasFailure ? [fact("Failure", "failure", ({ failure = "none" }) => <Text>{failure}</Text>)] : []),
    { name: "Began", isOther: false, shown: ({ startedAt }) => exactTime(startedAt) },
    {
      name: "By",
      isOther: placeText(earlier) !== placeText(later),
      shown: (side) => <Text>{placeText(side)}</Text>,
    },
    fact("Took", "duration", ({ durationMs = 0 }) => durationText(durationMs)),
    fact("Calls", "calls", ({ calls = 0 }) => grouped(calls)),
    fact("Failed calls", "failures", ({ failures = 0 }) => grouped(failures)),
    fact("Read", "charsIn", ({ charsIn }) => counted(charsIn, "character")),
    fact("Returned", "charsOut", ({ charsOut }) => counted(charsOut, "character")),
  ];
}

/** A fact that differs. */
function Marked({ when, children }: { when: boolean; children: ComponentChildren }) {
  return when ? <mark class="differs">{children}</mark> : <span>{children}</span>;
}

function Calls({ comparison: { calls, moreCalls, earlier, later } }: { comparison: PageComparison }) {
  const [isShort, setShort] = useState(false);
  const others = calls.filter(({ change }) => change !== "same");
  const shown = isShort ? others : calls;
  return (
    <section class="part" aria-labelledby="compared-calls">
      <div class="compare-head">
        <h3 id="compared-calls">Calls</h3>
        <span class="about">
          {calls.length === 0 ? "None was made." : `${grouped(others.length)} of ${grouped(calls.length)} differ`}
        </span>
        {others.length > 0 && others.length < calls.length && (
          <button type="button" aria-pressed={isShort} onClick={() => setShort(!isShort)}>
            Only differences
          </button>
        )}
      </div>
      {!(earlier.hasContents && later.hasContents) && calls.length > 0 && (
        <p class="about">
          Not both were recorded with contents, so only sizes are compared. To record contents:{" "}
          <code>exec --record</code>
        </p>
      )}
      <ol class="compared-calls">
        {shown.map((pair, place) => (
          <Pair key={`${isShort} ${place}`} pair={pair} />
        ))}
      </ol>
      {moreCalls > 0 && (
        <p class="about">
          {counted(moreCalls, "more call")}:{" "}
          <code>
            claudikins executions compare {later.id} {earlier.id}
          </code>
        </p>
      )}
    </section>
  );
}

const changeTexts = { same: "the same", changed: "changed", added: "only later", removed: "only earlier" } as const;

function Pair({ pair: { change, differs, earlier, later } }: { pair: PageComparedCall }) {
  const hasTexts = [earlier, later].some((call) => call?.arguments !== undefined || call?.answer !== undefined);
  return (
    <li class={change}>
      <span class="change">
        <span class="badge">{changeTexts[change]}</span>
        {differs.length > 0 && <span class="about">{differs.join(", ")}</span>}
      </span>
      <CallCell name="Earlier" call={earlier} differs={differs} />
      <CallCell name="Later" call={later} differs={differs} />
      {hasTexts && (
        <details class="compared-texts">
          <summary class="about">Arguments and answers</summary>
          <div>
            <Texts name="Earlier" call={earlier} />
            <Texts name="Later" call={later} />
          </div>
        </details>
      )}
    </li>
  );
}

interface CallCellProps {
  name: "Earlier" | "Later";
  call: PageCall | undefined;
  differs: PageComparedCall["differs"];
}

function CallCell({ name, call, differs }: CallCellProps) {
  if (!call) return <span class="compared-call none">not called</span>;
  const { server, tool, line, outcome, code, argumentChars = 0, resultChars = 0, tookMs = 0, isPlanned } = call;
  const end = isPlanned ? "would be called" : [outcome, code && visible(code)].filter(Boolean).join(" ");
  return (
    <span class="compared-call">
      <span class="side about">{name}</span>
      <ToolName server={server} tool={tool} />
      <span class="about">
        <Marked when={differs.includes("outcome")}>{end}</Marked>
        {" · "}
        <Marked when={differs.includes("arguments")}>asked {grouped(argumentChars)}</Marked>
        {", "}
        <Marked when={differs.includes("result")}>answered {counted(resultChars, "character")}</Marked>
        {" · "}
        <Marked when={differs.includes("duration")}>{durationText(tookMs)}</Marked>
        {line !== undefined && ` · line ${line}`}
      </span>
    </span>
  );
}

function Texts({ name, call }: Pick<CallCellProps, "name" | "call">) {
  return (
    <div>
      <h4 class="about">{name}</h4>
      {call?.arguments !== undefined && <ScrolledText class="arguments">{visibleLines(call.arguments)}</ScrolledText>}
      {call?.answer !== undefined && <ScrolledText class="arguments">{visibleLines(call.answer)}</ScrolledText>}
    </div>
  );
}

interface ContentsProps {
  name: "Code" | "Value" | "Logs";
  difference: PageDifference;
}

function Contents({ name, difference: { isSame, missing, isCut, lines, moreLines } }: ContentsProps) {
  const id = `compared-${name}`;
  return (
    <section class="part" aria-labelledby={id}>
      <h3 id={id}>{name}</h3>
      {isSame === null && <p class="about">Not stored of the {missing.join(" and the ")} one.</p>}
      {isSame === true && <p class="about">The same.</p>}
      {isSame === false && <Difference lines={lines} />}
      {moreLines > 0 && <p class="about">{counted(moreLines, "more line")}</p>}
      {isCut && <p class="about">Only the beginnings were stored and compared.</p>}
    </section>
  );
}
