/** The saved programs, each with its description, the tools that it may call, its runs and its schedules. */

import { useState } from "preact/hooks";
import { durationText } from "../../../base/duration.ts";
import type { PageState } from "../../contract.ts";
import type { PageDrift, PageProgram, PageRun } from "../../programs-contract.ts";
import { Age } from "../age.tsx";
import { ChangeButton } from "../asked-button.tsx";
import { get } from "../client.ts";
import { Reasons } from "../drift.tsx";
import { useLeads } from "../leads.ts";
import { useLoaded, useNotices } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { programKey } from "../place.ts";
import { useRoving } from "../roving.ts";
import { Fact, ScrolledText, Text, visibleLines } from "../text.tsx";
import { Around } from "./around.tsx";
import { ProgramForm } from "./program-form.tsx";
import { CallFacts } from "./save-dialog.tsx";
import { ProgramSchedules } from "./schedules.tsx";

interface ProgramsProps {
  state: PageState;
  /** The key of the program whose details are shown. */
  wanted: string | undefined;
  onChoose(key: string): void;
}

export function Programs({ state, wanted, onChoose }: ProgramsProps) {
  const { programs, schedules, programProblems } = state;
  const roving = useRoving(programs.map(programKey));
  // What would break depends on the programs and on the tools of the servers.
  const mark = JSON.stringify([
    programs.map(({ savedAt }) => savedAt),
    state.servers.map(({ tools, held }) => [tools, held]),
  ]);
  const [drift] = useLoaded<PageDrift>("programs/drift", mark);
  const reasonsOf = ({ name, door }: PageProgram) =>
    drift?.broken.find((each) => each.name === name && each.door === door)?.reasons ?? [];
  const chosen = programs.find((each) => programKey(each) === wanted) ?? programs[0];
  return (
    <div class={chosen ? "with-list" : ""}>
      <Panel id="programs" title="Programs">
        {programProblems.map((problem) => (
          <p class="warning" key={problem}>
            <Text>{problem}</Text>
          </p>
        ))}
        {programs.length === 0 && <NoPrograms />}
        <ul class="rows" {...roving.list}>
          {programs.map((program) => {
            const key = programKey(program);
            const [last] = program.runs;
            const own = schedules.filter((each) => each.program === program.name && each.door === program.door);
            const hasFailed = own.some(({ lastRun }) => lastRun?.ok === false);
            return (
              <li key={key}>
                <button
                  type="button"
                  class="row"
                  aria-current={program === chosen ? "true" : undefined}
                  onClick={() => {
                    onChoose(key);
                    // In one column, the details are below the list.
                    if (matchMedia("(max-width: 900px)").matches)
                      setTimeout(() => document.getElementById("program")?.scrollIntoView());
                  }}
                  {...roving.item(key)}
                >
                  <span class={`dot ${hasFailed ? "bad" : (last?.kind ?? "idle")}`} aria-hidden="true" />
                  <span class="row-text">
                    <Text in="strong">{program.name}</Text>
                    <span class="about">
                      {program.door !== undefined && (
                        <>
                          door <Text>{program.door}</Text> ·{" "}
                        </>
                      )}
                      {last?.stateText ?? (hasFailed ? "failed" : "not run yet")}
                      {own.length > 0 && " · scheduled"}
                      {reasonsOf(program).length > 0 && (
                        <>
                          {" · "}
                          <span class="outcome waiting">would break</span>
                        </>
                      )}
                    </span>
                  </span>
                  <span class="times about">{last && <Age at={last.startedAt} />}</span>
                </button>
              </li>
            );
          })}
        </ul>
      </Panel>
      {chosen && <Details key={programKey(chosen)} program={chosen} state={state} reasons={reasonsOf(chosen)} />}
    </div>
  );
}

function NoPrograms() {
  return (
    <p class="empty">
      No program is saved yet. Agents save their last program with <code>programs.save</code>, and you with{" "}
      <code>claudikins programs save</code>. An execution that was recorded with its contents has the button "Keep as
      program".
    </p>
  );
}

interface DetailsProps {
  program: PageProgram;
  state: PageState;
  /** Why it would break. */
  reasons: readonly string[];
}

function Details({ program, state, reasons }: DetailsProps) {
  const { name, door, description, call, calls, version, accepted, savedAt, savedBy, from, changed, runs } = program;
  const schedules = state.schedules.filter((each) => each.program === name && each.door === door);
  return (
    <Panel id="program" title={<Text>{name}</Text>}>
      <Text in="p">{description}</Text>
      <dl class="facts">
        <CallFacts call={call} calls={calls} />
        {door !== undefined && (
          <Fact name="Door">
            <Text>{door}</Text>
          </Fact>
        )}
        <Fact name="Saved">
          version {version}, by {savedBy === "agent" ? "an agent" : "you"}, <Age at={savedAt} />
          {from !== undefined && (
            <>
              , from <Text>{from}</Text>
            </>
          )}
        </Fact>
      </dl>
      {changed !== undefined && (
        <Text in="p" class="about">
          {changed}
        </Text>
      )}
      {reasons.length > 0 && (
        <div class="warning">
          <p>It would break with the tools as they are now:</p>
          <Reasons reasons={reasons} />
        </div>
      )}
      {accepted !== undefined && (
        <div class="actions">
          <p class="about">
            Its schedules and triggers run version {accepted}. <code>claudikins programs history</code> shows the
            changes.
          </p>
          <ChangeButton
            question={`Really run version ${version} there?`}
            path="programs/accept"
            body={{ name, door, version }}
            said={`Schedules and triggers run version ${version} of ${name}`}
          >
            {`Run version ${version}`}
          </ChangeButton>
        </div>
      )}
      <ProgramForm program={program} />
      <ProgramSchedules schedules={schedules} />
      <Around program={program} />
      <Runs runs={runs} />
      <Code name={name} door={door} mark={savedAt} />
      <div class="actions">
        <span class="apart" />
        <ChangeButton
          isDanger
          question={schedules.length > 0 ? "Really remove it and its schedules?" : "Really remove it?"}
          path="programs/remove"
          body={{ name, door }}
          said={`Removed the program ${name}`}
        >
          Remove
        </ChangeButton>
      </div>
    </Panel>
  );
}

function Runs({ runs }: { runs: PageRun[] }) {
  const { toExecution } = useLeads();
  return (
    <section class="part" aria-labelledby="runs">
      <h3 id="runs">Last runs</h3>
      {runs.length === 0 && <p class="empty">It has not run yet, or its runs are no longer recorded.</p>}
      <ul class="lines">
        {runs.map((run) => (
          <li key={run.id}>
            <span>
              <span class={`outcome ${run.kind}`}>{run.stateText}</span> <Age at={run.startedAt} />
              {run.durationMs !== undefined && <span class="about"> · {durationText(run.durationMs)}</span>}
            </span>
            <button type="button" onClick={() => toExecution(run.id)}>
              Show
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows the code, which is fetched on demand. `mark` changes with the code. */
function Code({ name, door, mark }: { name: string; door: string | undefined; mark: number }) {
  const notices = useNotices();
  const [found, setFound] = useState<{ code: string; mark: number }>();
  const load = async () => {
    const search = new URLSearchParams({ name, ...(door === undefined ? {} : { door }) });
    const { code } = await get<{ code: string }>(`programs/code?${search}`);
    setFound({ code, mark });
  };
  return (
    <details
      class="part"
      onToggle={(event) => {
        if (event.currentTarget.open && found?.mark !== mark) load().catch((error) => notices.fail(error));
      }}
    >
      <summary>Code</summary>
      {found && <ScrolledText class="arguments">{visibleLines(found.code)}</ScrolledText>}
    </details>
  );
}
