/** The cards of several calls that wait. They can be moved through with arrows, and no decision is made by mistake when they move. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PageApproval, PageState } from "../../contract.ts";
import { noticeMovedAt } from "../notice.tsx";
import { useRoving } from "../roving.ts";
import { Card } from "./card.tsx";
import { executionOf } from "./facts.tsx";

/** After a card above has gone or has grown, the others move. Clicks within this time were meant for another card. */
const movedCardMs = 500;

const isRecent = (at: number) => performance.now() - at < movedCardMs;

interface CardsProps {
  approvals: PageApproval[];
  state: PageState;
  hasKeys: boolean;
  /** The id of the approval that the address leads to. */
  wanted?: string | undefined;
  /** Gets the focus when the focused card has gone. */
  heading: RefObject<HTMLElement | null>;
  /** Shows the execution of an approval, or a dry run of it. Undefined beside the execution itself. */
  onExecution?: ((id: string, approval: PageApproval) => void) | undefined;
}

export function Cards({ approvals, state, hasKeys, wanted, heading, onExecution }: CardsProps) {
  const ids = approvals.map(({ id }) => id);
  const roving = useRoving(ids);
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

  return (
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
          title={state.executions.find(({ id }) => id === executionOf(approval))?.title}
          ownConfig={state.config}
          viewer={state.viewer}
          hasKeys={hasKeys}
          isWanted={approval.id === wanted}
          onExecution={onExecution && ((id) => onExecution(id, approval))}
          item={roving.item(approval.id)}
          onLoaded={() => {
            loaded.current = { at: performance.now(), place };
          }}
          hasMoved={() =>
            isRecent(movedAt.current) ||
            isRecent(noticeMovedAt()) ||
            (loaded.current.place < place && isRecent(loaded.current.at))
          }
        />
      ))}
    </ul>
  );
}
