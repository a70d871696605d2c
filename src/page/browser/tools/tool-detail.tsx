/** One tool: what an agent gets, its state with what another one would have meant, its labels, rules and last calls. */

import { useEffect, useState } from "preact/hooks";
import { durationText } from "../../../base/duration.ts";
import type { PageCalls } from "../../activity-contract.ts";
import type { PageToolAbout, PageToolRow, PageToolState } from "../../servers-contract.ts";
import { Age } from "../age.tsx";
import { useLeads } from "../leads.ts";
import { useLoaded } from "../notice.tsx";
import { ScrolledText, Text, ToolName, visibleLines } from "../text.tsx";
import { previewOf, type States, stateWords } from "./change-states.ts";

/** Calls that are shown. Activity has all of them. */
const maxLastCalls = 8;

interface ToolDetailProps {
  row: PageToolRow;
  /** The door through which the tool is seen. */
  door: string | undefined;
  canChange: boolean;
  states: States;
  mark: string;
  onClose(): void;
}

export function ToolDetail({ row, door, canChange, states, mark, onClose }: ToolDetailProps) {
  const { toExecution } = useLeads();
  const { server, name, shownAs, isEdited, rules, line } = row;
  const place = new URLSearchParams({ server, tool: name });
  const [about] = useLoaded<PageToolAbout>(`policy/tool?${place}`, mark);
  const behind = door === undefined ? {} : { door };
  const [log] = useLoaded<PageCalls>(`calls?${new URLSearchParams({ tool: `${server}.${name}`, ...behind })}`, mark);
  const calls = log?.calls.slice(0, maxLastCalls) ?? [];
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) onClose();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
  return (
    <section class="panel detail tool-detail" aria-labelledby="tool">
      <div class="detail-head">
        <h2 id="tool">
          <ToolName server={server} tool={name} />
        </h2>
        <button type="button" class="plain" aria-label="Close the tool" onClick={onClose}>
          ✕
        </button>
      </div>
      {about && about.description !== "" && <Text in="p">{about.description}</Text>}
      {about && (
        <>
          <h3>An agent gets</h3>
          <ScrolledText class="arguments">{visibleLines(about.signature)}</ScrolledText>
        </>
      )}
      <h3>State</h3>
      <Text in="p" class="about">
        {line ?? "The config says nothing about it."}
      </Text>
      {!canChange && (
        <Text in="p" class="about">
          {fixedBecause(door)}
        </Text>
      )}
      <StateEffects row={row} canChange={canChange} states={states} mark={mark} />
      {(shownAs !== undefined || isEdited) && (
        <p>
          {shownAs === undefined ? "The config edits it for agents." : "Agents know it as "}
          {shownAs !== undefined && <Text>{shownAs}</Text>}
        </p>
      )}
      {about && about.labels.length > 0 && (
        <>
          <h3>Labels</h3>
          <ul class="plain-list">
            {about.labels.map(({ label, why }) => (
              <li key={label}>
                {label}{" "}
                <span class="about">
                  · <Text>{why}</Text>
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {rules.length > 0 && (
        <>
          <h3>Rules that can apply</h3>
          <ul class="plain-list">
            {rules.map((rule) => (
              <li key={rule.line}>
                <Text in="code">{rule.text}</Text>{" "}
                <Text in="span" class="about">
                  {rule.line}
                </Text>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Last calls</h3>
      {calls.length === 0 && <p class="empty">{log ? "It was not called yet." : "Reading the call log …"}</p>}
      <ul class="plain-list">
        {calls.map(({ id, at, outcome, by, program, execution, durationMs }) => (
          <li key={id} class="last-call">
            <span class={`outcome ${outcome === "ok" ? "good" : outcome === "cancelled" ? "waiting" : "bad"}`}>
              {outcome}
            </span>
            {execution === undefined ? (
              <Text>{program ?? by}</Text>
            ) : (
              <button type="button" class="value" title="Show its execution" onClick={() => toExecution(execution)}>
                <Text>{program ?? by}</Text>
              </button>
            )}
            <span class="about">
              {durationText(durationMs)} · <Age at={at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Why the state cannot be changed here, and what to change instead. */
function fixedBecause(door: string | undefined): string {
  if (door === undefined) return "The demo has no config file, so the state cannot be changed.";
  return `This is what the door ${door} shows, and the state cannot be changed here. Choose "Without a door" above to change it for everybody, or change "tools" of the door in the config.`;
}

/** The three states, each with what it would have meant for the calls of the last days. */
function StateEffects({
  row,
  canChange,
  states,
  mark,
}: Pick<ToolDetailProps, "row" | "canChange" | "states" | "mark">) {
  const [texts, setTexts] = useState<Partial<Record<PageToolState, string>>>({});
  useEffect(() => {
    let isWanted = true;
    setTexts({});
    if (!canChange) return;
    for (const state of Object.keys(stateWords) as PageToolState[]) {
      if (state === row.state) continue;
      previewOf([row], state).then(
        ({ text }) => isWanted && setTexts((known) => ({ ...known, [state]: text })),
        () => {},
      );
    }
    return () => {
      isWanted = false;
    };
  }, [row.state, row.name, mark]);
  return (
    <div class="state-effects" role="radiogroup" aria-label="State">
      {Object.entries(stateWords).map(([each, words]) => {
        const state = each as PageToolState;
        return (
          <label key={each} class={state === row.state ? "is-chosen" : ""}>
            <input
              type="radio"
              name="tool-state"
              checked={state === row.state}
              disabled={!canChange || states.isRunning}
              onChange={() => void states.set([row], state)}
            />
            <span>
              {words}
              {texts[state] !== undefined && (
                <Text in="span" class="about">
                  {texts[state]}
                </Text>
              )}
            </span>
          </label>
        );
      })}
    </div>
  );
}
