/** A button that asks before it does something that cannot be undone: the first press asks, the second one does it. */
import { useState } from "preact/hooks";
import { post } from "./client.ts";
import { useAction, useNotices } from "./notice.tsx";

interface AskedButtonProps {
  children: string;
  /** The text after the first press. */
  question: string;
  tabIndex?: number;
  /** Whether it looks dangerous before it is pressed. */
  isDanger?: boolean;
  action(): Promise<void>;
}

export function AskedButton({ children, question, tabIndex, isDanger = false, action }: AskedButtonProps) {
  const { isRunning, run } = useAction();
  const [isAsking, setAsking] = useState(false);
  const press = () => {
    if (isAsking) void run(action).then(() => setAsking(false));
    else setAsking(true);
  };
  return (
    <button
      type="button"
      class={isAsking || isDanger ? "danger" : ""}
      disabled={isRunning}
      {...(tabIndex === undefined ? {} : { tabIndex })}
      onClick={press}
      onBlur={() => setAsking(false)}
    >
      {isAsking ? question : children}
    </button>
  );
}

interface ChangeButtonProps extends Omit<AskedButtonProps, "action"> {
  path: string;
  body: object;
  /** The message for the user afterwards. */
  said: string;
}

/** The same for a change that the server makes. */
export function ChangeButton({ path, body, said, ...props }: ChangeButtonProps) {
  const notices = useNotices();
  const action = async () => {
    await post(path, body);
    notices.changed(said);
  };
  return <AskedButton {...props} action={action} />;
}
