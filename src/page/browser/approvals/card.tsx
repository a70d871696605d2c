/** One call that waits, with everything that a person needs to decide about it. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { durationText } from "../../../base/duration.ts";
import type { PageApproval, PageViewer } from "../../contract.ts";
import { Age, useNow } from "../age.tsx";
import { get, post } from "../client.ts";
import { isCommand } from "../keys.tsx";
import { useAction, useNotices } from "../notice.tsx";
import type { useRoving } from "../roving.ts";
import { Quoted, Text, ToolName, visibleLines } from "../text.tsx";
import { Arguments } from "./arguments.tsx";
import { Actions, type Decide, type DecisionForm, decisionKeys, useDecision } from "./decide.tsx";
import { Asker, Differences, executionOf, ReadBefore } from "./facts.tsx";

interface CardProps {
  approval: PageApproval;
  /** The title of its execution. Undefined if the page does not list the execution. */
  title: string | undefined;
  ownConfig: string | null;
  viewer: PageViewer | undefined;
  hasKeys: boolean;
  /** Whether the address leads to it. */
  isWanted: boolean;
  item: ReturnType<ReturnType<typeof useRoving>["item"]>;
  /** Undefined beside the execution itself. */
  onExecution: ((id: string) => void) | undefined;
  /** Called when its facts have come: it is larger now, and the cards below have moved. */
  onLoaded(): void;
  hasMoved(): boolean;
}

export function Card(props: CardProps) {
  const { approval, title, ownConfig, viewer, hasKeys, isWanted, item, onExecution, ...place } = props;
  const { id, server, tool, why, changed, line, code, config, askedAt, expiresAt } = approval;
  const mayDecide = viewer?.mayApprove !== false;
  const isHere = config === ownConfig;
  const element = useRef<HTMLLIElement>(null);
  const { whole, problem } = useWhole(id, element);
  const notices = useNotices();
  const { isRunning, decide } = useDecision(approval);
  const [form, setForm] = useState<DecisionForm>();
  const now = useNow();
  useEffect(() => {
    if (!isWanted) return;
    element.current?.scrollIntoView({ block: "start" });
    element.current?.focus();
  }, [isWanted]);
  // Nobody decides before the facts are there, and the buttons stay where they are then.
  const isLoaded = whole !== undefined || problem !== undefined;
  useLayoutEffect(() => {
    if (isLoaded) place.onLoaded();
  }, [isLoaded]);
  const click: Decide = (...decision) => {
    if (place.hasMoved()) notices.say("The list has just moved. Press again.");
    else decide(...decision);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const decision = decisionKeys[event.key];
    if (!hasKeys || !mayDecide || decision === undefined || !isCommand(event) || event.shiftKey) return;
    // Letters that miss the field of an open form are part of its text.
    if (form !== undefined) return;
    if (decision === "program" && line === undefined) return;
    event.preventDefault();
    if (isLoaded) decide(decision);
    else notices.say("The call is still being loaded. Press again.");
  };
  const heading = `t-${id}`;
  const { facts } = whole ?? {};
  return (
    <li class="card approval" {...item} ref={element} aria-labelledby={heading} onKeyDown={onKeyDown}>
      <header class="card-head">
        <h3 id={heading}>
          <ToolName server={server} tool={tool} />
        </h3>
        <p class="about">
          asked <Age at={askedAt} /> · expires in {durationText(Math.max(0, expiresAt - now))}
        </p>
      </header>
      {title !== undefined && onExecution && (
        <Text in="p" class="card-title">
          {title}
        </Text>
      )}
      <Asker approval={approval} title={title} facts={facts} onExecution={viewer ? undefined : onExecution} />
      <Quoted caption="You are asked because:">
        <Text>{why}</Text>
      </Quoted>
      {changed && <Changed parts={changed} />}
      {!isHere && (
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
      {code !== undefined && viewer === undefined && onExecution && (
        <DryRun approval={approval} isHere={isHere} onExecution={onExecution} />
      )}
      {!isLoaded && <p class="about loading">Loading …</p>}
      {facts && (
        <ReadBefore
          reads={facts.reads}
          onCalls={viewer || !isHere ? undefined : onExecution && (() => onExecution(executionOf(approval)))}
        />
      )}
      {facts?.lastApproved && <Differences last={facts.lastApproved} />}
      <Arguments approval={approval} whole={whole} problem={problem} />
      {mayDecide ? (
        <Actions
          approval={approval}
          mayWrite={viewer === undefined && isHere && config !== null}
          isDisabled={isRunning || !isLoaded}
          form={form}
          onForm={setForm}
          decide={click}
        />
      ) : (
        <Approvers groups={viewer.approvers} />
      )}
    </li>
  );
}

/** Asks for the approval alone when its card is near the window, because hundreds may wait. */
function useWhole(id: string, element: { current: HTMLElement | null }) {
  const [whole, setWhole] = useState<PageApproval>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const seen = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        seen.disconnect();
        get<PageApproval>(`approvals/${id}`).then(setWhole, (error: Error) => setProblem(error.message));
      },
      { rootMargin: "400px" },
    );
    if (element.current) seen.observe(element.current);
    return () => seen.disconnect();
  }, [id]);
  return { whole, problem };
}

interface DryRunProps {
  approval: PageApproval;
  /** Whether it is of the config of the page. */
  isHere: boolean;
  onExecution(id: string): void;
}

/** Runs the whole program as a dry run, and shows what it would change. */
function DryRun({ approval, isHere, onExecution }: DryRunProps) {
  const { door } = approval;
  const { isRunning, run } = useAction();
  const id = executionOf(approval);
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
    <div class="warning">
      <p>The tool has changed since you allowed it. Your earlier approval no longer applies.</p>
      {parts.length > 0 && (
        <Quoted caption="Changed:">
          <Text>{parts.join(", ")}</Text>
        </Quoted>
      )}
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
