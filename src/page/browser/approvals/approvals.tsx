/** The calls that wait for approval, and the latest decisions. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageApproval, PageState } from "../../contract.ts";
import { Age } from "../age.tsx";
import { Panel } from "../panel.tsx";
import { useRoving } from "../roving.ts";
import { Text, ToolName } from "../text.tsx";
import { Card } from "./card.tsx";
import { NotifySwitch } from "./notify.tsx";

/** After a card above has gone or has grown, the others move. Clicks within this time were meant for another card. */
const movedCardMs = 500;

const isRecent = (at: number) => performance.now() - at < movedCardMs;

interface ApprovalsProps {
  state: PageState;
  hasKeys: boolean;
  /** The id of the approval that the address leads to. */
  wanted: string | undefined;
  onWanted(id: string): void;
  /** Shows an execution. */
  onExecution(id: string): void;
}

export function Approvals({ state, hasKeys, wanted, onWanted, onExecution }: ApprovalsProps) {
  const { approvals, decided } = state;
  const ids = approvals.map(({ id }) => id);
  const roving = useRoving(ids);
  const heading = useRef<HTMLHeadingElement>(null);
  const movedAt = useRef(Number.NEGATIVE_INFINITY);
  /** The card whose facts have come last. */
  const loaded = useRef({ at: Number.NEGATIVE_INFINITY, place: 0 });
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
        {approvals.map((approval, place) => (
          <Card
            key={approval.id}
            approval={approval}
            ownConfig={state.config}
            viewer={state.viewer}
            hasKeys={hasKeys}
            isWanted={approval.id === wanted}
            onExecution={onExecution}
            item={roving.item(approval.id)}
            onLoaded={() => {
              loaded.current = { at: performance.now(), place };
            }}
            hasMoved={() => isRecent(movedAt.current) || (loaded.current.place < place && isRecent(loaded.current.at))}
          />
        ))}
      </ul>
      <NotifySwitch approvals={approvals} onWanted={onWanted} />
      {decided.length > 0 && <DecidedList decided={decided} />}
    </Panel>
  );
}

const places = { agent: "in the agent", terminal: "at the terminal", page: "on this page", command: "by command" };

const scopes: Record<NonNullable<PageApproval["scope"]>, string> = {
  once: "once",
  program: "for the program",
  session: "for the session",
  always: "always, by a rule",
};

function DecidedList({ decided }: { decided: PageApproval[] }) {
  return (
    <details class="decided">
      <summary>{counted(decided.length, "decision")} in the last hour</summary>
      <ul>
        {decided.map(({ id, server, tool, state, scope, decidedBy, decidedAt, reason }) => (
          <li key={id}>
            <span class={`badge ${state}`}>{scope === undefined ? state : `${state} ${scopes[scope]}`}</span>{" "}
            <ToolName server={server} tool={tool} />
            <span class="about">
              {decidedBy && ` ${places[decidedBy]}`} {decidedAt !== undefined && <Age at={decidedAt} />}
            </span>
            {reason !== undefined && (
              <p class="about">
                Reason: <Text>{reason}</Text>
              </p>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
