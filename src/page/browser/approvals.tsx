/** Calls that wait for approval, with all details of each call and the buttons that decide it. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import type { Decided, PageApproval, PageDecision, PageState, PageViewer } from "../contract.ts";
import { Age, useNow } from "./age.tsx";
import { get, post } from "./client.ts";
import { isCommand } from "./keys.tsx";
import { useAction, useNotices } from "./notice.tsx";
import { Panel } from "./panel.tsx";
import { useRoving } from "./roving.ts";
import { Key, ScrolledText, Text, ToolName, visibleLines } from "./text.tsx";

/** After a card above has gone, the others move up. Clicks within this time were meant for another card. */
const movedCardMs = 500;

const said: Record<PageDecision, string> = {
  once: "Approved once",
  session: "Approved for the session",
  deny: "Denied",
  "deny all": "Denied, with everything else that this execution asks",
};

const keys: Record<string, PageDecision> = { a: "once", s: "session", d: "deny" };

interface ApprovalsProps {
  state: PageState;
  hasKeys: boolean;
  /** Shows an execution. */
  onExecution(id: string): void;
}

export function Approvals({ state, hasKeys, onExecution }: ApprovalsProps) {
  const { approvals, decided } = state;
  const ids = approvals.map(({ id }) => id);
  const roving = useRoving(ids);
  const heading = useRef<HTMLHeadingElement>(null);
  const movedAt = useRef(Number.NEGATIVE_INFINITY);
  const before = useRef<string[]>([]);
  const focused = useRef<string | undefined>(undefined);
  if (before.current.some((id, place) => ids[place] !== id)) movedAt.current = performance.now();
  before.current = ids;

  // The keys of the next card must not be pressed by mistake, so it is not focused.
  useLayoutEffect(() => {
    if (focused.current === undefined || ids.includes(focused.current)) return;
    focused.current = undefined;
    heading.current?.focus();
  });

  const title = <>Waiting for approval {approvals.length > 0 && <span class="count">{approvals.length}</span>}</>;
  return (
    <Panel id="approvals" title={title} heading={heading}>
      {approvals.length === 0 && state.viewer && <p class="empty">Nothing waits.</p>}
      {approvals.length === 0 && !state.viewer && (
        <p class="empty">
          Nothing waits. Calls appear here when the policy asks for confirmation: <code>"confirm"</code> in the config,
          or Servers on this page.
        </p>
      )}
      <ul
        class="cards"
        {...roving.list}
        onFocusCapture={(event) => {
          focused.current = (event.target as Element).closest<HTMLElement>("[data-item]")?.dataset["item"];
        }}
        onBlurCapture={(event) => {
          if (event.relatedTarget !== null) focused.current = undefined;
        }}
      >
        {approvals.map((approval) => (
          <Card
            key={approval.id}
            approval={approval}
            ownConfig={state.config}
            viewer={state.viewer}
            hasKeys={hasKeys}
            onExecution={onExecution}
            item={roving.item(approval.id)}
            hasMoved={() => performance.now() - movedAt.current < movedCardMs}
          />
        ))}
      </ul>
      {decided.length > 0 && <DecidedList decided={decided} />}
    </Panel>
  );
}

interface CardProps {
  approval: PageApproval;
  ownConfig: string | null;
  viewer: PageViewer | undefined;
  hasKeys: boolean;
  item: ReturnType<ReturnType<typeof useRoving>["item"]>;
  onExecution(id: string): void;
  hasMoved(): boolean;
}

function Card({ approval, ownConfig, viewer, hasKeys, item, onExecution, hasMoved }: CardProps) {
  const { id, server, tool, why, changed, execution, line, code, config, door, person, askedAt, expiresAt } = approval;
  const mayDecide = viewer?.mayApprove !== false;
  const notices = useNotices();
  const { isRunning, decide } = useDecision(approval);
  const now = useNow();
  const click = (decision: PageDecision) => {
    if (hasMoved()) notices.say("The list has just moved. Press again.");
    else decide(decision);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const decision = keys[event.key];
    if (!hasKeys || !mayDecide || decision === undefined || !isCommand(event) || event.shiftKey) return;
    event.preventDefault();
    decide(decision);
  };
  const title = `t-${id}`;
  return (
    <li class="card" {...item} aria-labelledby={title} onKeyDown={onKeyDown}>
      <header class="card-head">
        <h3 id={title}>
          <ToolName server={server} tool={tool} />
        </h3>
        <p class="about">
          asked <Age at={askedAt} /> · expires in {durationText(Math.max(0, expiresAt - now))} · execution {execution}
          {door !== undefined && (
            <>
              {" "}
              · door <Text>{door}</Text>
            </>
          )}
          {person !== undefined && (
            <>
              {" "}
              · for <Text>{person.name}</Text>
            </>
          )}
        </p>
      </header>
      <p class="why">
        You are asked because <Text>{why}</Text>.
      </p>
      {changed && <Changed parts={changed} />}
      {config !== ownConfig && (
        <p class="about">
          Config: <Text>{config ?? "the demo"}</Text>
        </p>
      )}
      {code !== undefined && (
        <pre class="code">
          <span class="number">{line}</span>
          <span>{visibleLines(code)}</span>
        </pre>
      )}
      {code !== undefined && viewer === undefined && (
        <DryRun approval={approval} isHere={config === ownConfig} onExecution={onExecution} />
      )}
      <Arguments approval={approval} />
      {mayDecide ? <Actions isDisabled={isRunning} onClick={click} /> : <Approvers groups={viewer.approvers} />}
    </li>
  );
}

/** Decides an approval, and reports the effect on its execution. */
function useDecision({ id, server, tool, execution }: PageApproval) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const send = async (decision: PageDecision) => {
    const { isRunning: goesOn } = await post<Decided>(`approvals/${id}`, { decision });
    const hint = goesOn
      ? undefined
      : `No process runs its execution. To continue it: claudikins executions wait ${execution}`;
    notices.say(`${said[decision]}: ${server}.${tool}`, hint);
  };
  const decide = (decision: PageDecision) => {
    if (!isRunning) void run(() => send(decision));
  };
  return { isRunning, decide };
}

interface DryRunProps {
  approval: PageApproval;
  /** Whether it is of the config of the page. */
  isHere: boolean;
  onExecution(id: string): void;
}

/** Runs the whole program as a dry run, and shows what it would change. */
function DryRun({ approval: { execution, door }, isHere, onExecution }: DryRunProps) {
  const { isRunning, run } = useAction();
  // The name of a program within another one has a dash.
  const [id = ""] = execution.split("-", 1);
  const start = () =>
    run(async () => {
      const { execution: started } = await post<{ execution: string }>(`executions/${id}/again`, {
        door,
        dryRun: true,
      });
      onExecution(started);
    });
  if (!isHere) {
    return (
      <p class="about">
        To see what the whole program would do: <code>claudikins executions dry-run {id}</code>
      </p>
    );
  }
  return (
    <button type="button" class="plain dry-run" disabled={isRunning} onClick={() => void start()}>
      See what the whole program would do
    </button>
  );
}

function Changed({ parts }: { parts: string[] }) {
  return (
    <p class="warning">
      The tool has changed since you allowed it{parts.length > 0 && ": "}
      <Text>{parts.join(", ")}</Text>. Your earlier approval no longer applies.
    </p>
  );
}

function Actions({ isDisabled, onClick }: { isDisabled: boolean; onClick(decision: PageDecision): void }) {
  return (
    <div class="actions">
      <button type="button" class="primary" disabled={isDisabled} onClick={() => onClick("once")}>
        Approve once <Key>A</Key>
      </button>
      <button type="button" disabled={isDisabled} onClick={() => onClick("session")}>
        For the session <Key>S</Key>
      </button>
      <button type="button" class="danger" disabled={isDisabled} onClick={() => onClick("deny")}>
        Deny <Key>D</Key>
      </button>
      <button type="button" class="plain" disabled={isDisabled} onClick={() => onClick("deny all")}>
        Deny all of this execution
      </button>
    </div>
  );
}

/** Names the approvers, for people who may not decide. */
function Approvers({ groups }: { groups: string[] }) {
  if (groups.length === 0) return <p class="about">Whoever runs claudikins decides about it.</p>;
  return (
    <p class="about">
      People of these groups may approve it: <Text>{groups.join(", ")}</Text>
    </p>
  );
}

/** All arguments, even long ones. Arguments that are cut in lists are fetched immediately. */
function Arguments({ approval: { id, args, argsChars } }: { approval: PageApproval }) {
  const isShort = args.length === argsChars;
  const [whole, setWhole] = useState<string>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (isShort) return;
    get<PageApproval>(`approvals/${id}`).then(
      (found) => {
        if (found.args.length === found.argsChars) setWhole(found.args);
        else setProblem("the call no longer waits, and the rest is not kept");
      },
      (error: Error) => setProblem(error.message),
    );
  }, [id, isShort]);
  if (args === "{}") return <p class="about">It has no arguments.</p>;
  const text = isShort ? args : whole;
  return (
    <>
      <ScrolledText class="arguments">{visibleLines(text ?? args)}</ScrolledText>
      {!isShort && (
        <p class={problem === undefined ? "about" : "warning"}>
          {problem !== undefined
            ? `Only the beginning of ${grouped(argsChars)} characters is shown: ${problem}`
            : whole === undefined
              ? `Loading all ${grouped(argsChars)} characters …`
              : `All ${grouped(argsChars)} characters are shown: scroll to see the end.`}
        </p>
      )}
    </>
  );
}

const places = { agent: "in the agent", terminal: "at the terminal", page: "on this page", command: "by command" };

function DecidedList({ decided }: { decided: PageApproval[] }) {
  return (
    <details class="decided">
      <summary>{counted(decided.length, "decision")} in the last hour</summary>
      <ul>
        {decided.map(({ id, server, tool, state, decidedBy, decidedAt }) => (
          <li key={id}>
            <span class={`badge ${state}`}>{state}</span> <ToolName server={server} tool={tool} />
            <span class="about">
              {decidedBy && ` ${places[decidedBy]}`} {decidedAt !== undefined && <Age at={decidedAt} />}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
