/** Notifications of the system about calls that wait, if the user wants them. They name the tool, and no arguments. */
import { useEffect, useRef, useState } from "preact/hooks";
import { visible } from "../../../policy/visible.ts";
import type { PageApproval } from "../../contract.ts";
import { useNotices } from "../notice.tsx";

const notifyItem = "claudikins-notify";

/** Shows a notification for each new approval while nobody looks at the page. A press on it leads to the approval. */
export function NotifySwitch({ approvals, onWanted }: { approvals: PageApproval[]; onWanted(id: string): void }) {
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
