/** The calls that wait for approval, and the latest decisions. */

import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import { visible } from "../../../policy/hidden-characters.ts";
import type { PageApproval, PageState } from "../../contract.ts";
import { Age } from "../age.tsx";
import { useNotices } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { Text, ToolName } from "../text.tsx";
import { Cards } from "./cards.tsx";

interface ApprovalsProps {
  state: PageState;
  hasKeys: boolean;
  /** The id of the approval that the address leads to. */
  wanted: string | undefined;
  onWanted(id: string): void;
  /** Shows the execution of an approval, or a dry run of it. */
  onExecution(id: string, approval: PageApproval): void;
}

export function Approvals({ state, hasKeys, wanted, onWanted, onExecution }: ApprovalsProps) {
  const { approvals, decided } = state;
  const heading = useRef<HTMLHeadingElement>(null);
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
      <Cards
        approvals={approvals}
        state={state}
        hasKeys={hasKeys}
        wanted={wanted}
        heading={heading}
        onExecution={onExecution}
      />
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

const notifyItem = "claudikins-notify";

/** Shows a notification for each new approval while nobody looks at the page. A press on it leads to the approval. */
function NotifySwitch({ approvals, onWanted }: { approvals: PageApproval[]; onWanted(id: string): void }) {
  const notices = useNotices();
  const canNotify = "Notification" in window;
  const [isOn, setOn] = useState(
    canNotify && Notification.permission === "granted" && localStorage.getItem(notifyItem) === "on",
  );
  const known = useRef(new Set(approvals.map(({ id }) => id)));
  useEffect(() => {
    const fresh = approvals.filter(({ id }) => !known.current.has(id));
    known.current = new Set(approvals.map(({ id }) => id));
    if (isOn && !document.hasFocus()) for (const approval of fresh) show(approval, onWanted);
  }, [approvals, isOn]);
  if (!canNotify) return null;
  const turn = async (wanted: boolean) => {
    const isAllowed = wanted && (await Notification.requestPermission()) === "granted";
    if (wanted && !isAllowed) notices.say("Your browser does not allow notifications of this page");
    localStorage.setItem(notifyItem, isAllowed ? "on" : "off");
    setOn(isAllowed);
  };
  return (
    <label class="notify">
      <input type="checkbox" checked={isOn} onChange={(event) => void turn(event.currentTarget.checked)} /> Notify me of
      new ones
    </label>
  );
}

function show({ id, server, tool }: PageApproval, onWanted: (id: string) => void): void {
  const shown = new Notification("A call waits for your approval", { body: visible(`${server}.${tool}`), tag: id });
  shown.onclick = () => {
    window.focus();
    shown.close();
    onWanted(id);
  };
}
