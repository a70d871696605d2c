/** The first three steps of a home without servers: see a program run, bring servers, connect an agent. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../../base/counted.ts";
import type { PageAbout } from "../activity-contract.ts";
import type { PageOutcome } from "../programs-contract.ts";
import type { PageImport, PageImported } from "../servers-contract.ts";
import { OutcomeText, readOutcome } from "./activity/outcome.tsx";
import { get, post } from "./client.ts";
import { Difference, type ShownLine } from "./difference.tsx";
import { CheckField } from "./field.tsx";
import { useLeads } from "./leads.ts";
import { Problem, type Reason, useAction, useLoaded } from "./notice.tsx";
import { Panel } from "./panel.tsx";
import { AddServer } from "./servers/add-server.tsx";
import { Text } from "./text.tsx";

/** Time between two looks whether the first program has ended. */
const outcomeLookMs = 300;

/** Looks for the end of the first program: a minute in all. */
const maxOutcomeLooks = 200;

interface FirstVisitProps {
  /** Whether the demo is there, because no config is. */
  isDemo: boolean;
  onAdded(name: string): void;
}

export function FirstVisit({ isDemo, onAdded }: FirstVisitProps) {
  const [way, setWay] = useState<"import" | "add">();
  const [imported, setImported] = useState<PageImported>();
  return (
    <Panel id="first" title="First steps">
      <ol class="steps">
        {isDemo && (
          <Step number={1} title="See a program run">
            <DemoRun />
          </Step>
        )}
        <Step number={isDemo ? 2 : 1} title="Bring your servers">
          <p class="about">
            Import the servers of Claude Code, Cursor, VS Code, Codex and other agents of this machine, or add one.
            Nothing is written before you have seen it.
          </p>
          <div class="actions">
            <button type="button" aria-expanded={way === "import"} onClick={() => setWay("import")}>
              Import from my agents
            </button>
            <button type="button" aria-expanded={way === "add"} onClick={() => setWay("add")}>
              Add a server
            </button>
          </div>
          {way === "import" && <Import onImported={setImported} imported={imported} />}
          {way === "add" && <AddServer onAdded={onAdded} />}
        </Step>
        <Step number={isDemo ? 3 : 2} title="Connect your agent">
          {imported && imported.changed.length > 0 ? (
            <p>
              Restart <Text>{imported.changed.join(", ")}</Text>: claudikins is in the place of the servers.
            </p>
          ) : (
            <p class="about">
              The import can put claudikins in the place of the servers. In a terminal, this command does the same, and{" "}
              <code>claudikins restore</code> undoes both: <code>claudikins init</code>
            </p>
          )}
        </Step>
      </ol>
    </Panel>
  );
}

function Step({ number, title, children }: { number: number; title: string; children: ComponentChildren }) {
  return (
    <li>
      <h3>
        <span class="step-number" aria-hidden="true">
          {number}
        </span>
        {title}
      </h3>
      {children}
    </li>
  );
}

function DemoRun() {
  const { toExecution } = useLeads();
  const { isRunning, run } = useAction();
  const [program] = useLoaded<{ code: string }>("first/demo", undefined);
  const [ran, setRan] = useState<{ id: string; outcome: PageOutcome }>();
  const start = () =>
    run(async () => {
      const { execution: id } = await post<{ execution: string }>("first/demo", {});
      setRan({ id, outcome: await endOf(id) });
    });
  return (
    <>
      <p class="about">An agent writes such a program. It reads 2,400 orders, and only the result comes back.</p>
      {program && <pre class="code">{program.code}</pre>}
      <button type="button" class="primary" disabled={isRunning} onClick={() => void start()}>
        {isRunning ? "It runs …" : ran ? "Run it again" : "Run it"}
      </button>
      {ran && (
        <div role="status">
          <OutcomeText id={ran.id} door={undefined} outcome={ran.outcome} />
          <button type="button" class="plain" onClick={() => toExecution(ran.id)}>
            Show its calls
          </button>
        </div>
      )}
    </>
  );
}

/** The outcome of the program, when it has ended. Throws if it has none. */
async function endOf(id: string): Promise<PageOutcome> {
  for (let look = 0; look < maxOutcomeLooks; look += 1) {
    if ((await get<PageAbout>(`executions/${id}/about`)).execution.isOver) break;
    await new Promise((resolve) => setTimeout(resolve, outcomeLookMs));
  }
  return readOutcome(id, undefined);
}

interface ImportProps {
  imported: PageImported | undefined;
  onImported(imported: PageImported): void;
}

function Import({ imported, onImported }: ImportProps) {
  const { isRunning, run } = useAction();
  const [planned, setPlanned] = useState<PageImport>();
  const [problem, setProblem] = useState<Reason>();
  const [withAgents, setWithAgents] = useState(true);
  const look = () => {
    setProblem(undefined);
    get<PageImport>("first/import").then(setPlanned, setProblem);
  };
  // Asked for once, when the part is opened.
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) {
    setAsked(true);
    look();
  }
  if (imported) return <Imported imported={imported} />;
  if (problem) return <Problem reason={problem} />;
  if (!planned) return <p class="about">Looking at the settings of your agents …</p>;
  const { servers, left, diffs, file, mark } = planned;
  if (servers.length === 0) return <p class="empty">No agent on this machine has a server that could be imported.</p>;
  const write = () => run(async () => onImported(await post<PageImported>("first/import", { mark, withAgents })));
  return (
    <div class="import">
      <p>
        {counted(servers.length, "server")} would be written to <Text>{file}</Text>:
      </p>
      <ul class="imported">
        {servers.map(({ name, from }) => (
          <li key={name}>
            <Text in="strong">{name}</Text>{" "}
            <span class="about">
              from <Text>{from.join(", ")}</Text>
            </span>
          </li>
        ))}
        {left.map(({ name, why }) => (
          <li key={`left ${name}`} class="about">
            <Text>{name}</Text> stays where it is: <Text>{why}</Text>
          </li>
        ))}
      </ul>
      <details>
        <summary>The change of each file</summary>
        {[diffs.config, ...(withAgents ? diffs.agents : [])].map((text) => (
          <Difference key={text} lines={linesOf(text)} />
        ))}
      </details>
      {diffs.agents.length > 0 && (
        <CheckField class="choice" isChecked={withAgents} onChange={setWithAgents}>
          And put claudikins in the place of these servers in {counted(diffs.agents.length, "settings file")}
        </CheckField>
      )}
      <button type="button" class="primary" disabled={isRunning} onClick={() => void write()}>
        Import {counted(servers.length, "server")}
      </button>
    </div>
  );
}

function Imported({ imported: { movedTo, problems } }: { imported: PageImported }) {
  return (
    <div role="status">
      {problems.map((each) => (
        <p class="warning" key={each}>
          <Text>{each}</Text>
        </p>
      ))}
      <p>The servers are imported.</p>
      <a class="button primary" href={movedTo}>
        Open the page of your config
      </a>
    </div>
  );
}

const kinds: Record<string, ShownLine["kind"]> = { "+": "added", "-": "removed" };

/** The lines of a difference as `diff -u` writes it. */
function linesOf(diff: string): ShownLine[] {
  return diff.split("\n").map((line) => {
    const isHead = /^(?:---|\+\+\+) /.test(line);
    const kind = isHead ? undefined : kinds[line[0] ?? ""];
    return { kind: kind ?? "same", text: kind === undefined ? line.replace(/^ /, "") : line.slice(1) };
  });
}
