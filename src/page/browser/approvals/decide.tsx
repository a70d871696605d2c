/** The buttons that decide about a call: once, for the program, for the session, always, and no with a reason. */
import { useState } from "preact/hooks";
import type { Decided, PageApproval, PageDecision, PageLastingRule } from "../../contract.ts";
import { post } from "../client.ts";
import { CheckField, Field, SubmitForm } from "../field.tsx";
import { useAction, useLoaded, useNotices } from "../notice.tsx";
import { Key, Text } from "../text.tsx";

const said: Record<PageDecision, string> = {
  once: "Approved once",
  program: "Approved for the program",
  session: "Approved for the session",
  always: "Approved, and the rule is written",
  deny: "Denied",
  "deny all": "Denied, with everything else that this execution asks",
};

export const decisionKeys: Record<string, PageDecision> = { a: "once", p: "program", s: "session", d: "deny" };

/** The form that is open below the buttons. */
export type DecisionForm = "always" | "deny";

export type Decide = (decision: PageDecision, more?: { reason?: string; mark?: string }) => void;

/** Decides an approval, and reports the effect on its execution. */
export function useDecision({ id, server, tool, execution }: PageApproval) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const send = async (body: object & { decision: PageDecision }) => {
    const { isRunning: goesOn } = await post<Decided>(`approvals/${id}`, body);
    const hint = goesOn
      ? undefined
      : `No process runs its execution. To continue it: claudikins executions wait ${execution}`;
    notices.changed(`${said[body.decision]}: ${server}.${tool}`, hint);
  };
  const decide: Decide = (decision, more) => {
    if (!isRunning) void run(() => send({ decision, ...more }));
  };
  return { isRunning, decide };
}

interface ActionsProps {
  approval: PageApproval;
  /** Whether the page may write a rule for the call. */
  mayWrite: boolean;
  isDisabled: boolean;
  form: DecisionForm | undefined;
  onForm(form: DecisionForm | undefined): void;
  decide: Decide;
}

export function Actions({ approval, mayWrite, isDisabled, form, onForm, decide }: ActionsProps) {
  const toggle = (which: DecisionForm) => onForm(form === which ? undefined : which);
  const isProgram = approval.line !== undefined;
  return (
    <>
      <div class="actions">
        <button type="button" class="primary" disabled={isDisabled} onClick={() => decide("once")}>
          Approve once <Key>A</Key>
        </button>
        <span class="apart" />
        <button type="button" class="danger" disabled={isDisabled} onClick={() => decide("deny")}>
          Deny <Key>D</Key>
        </button>
        <button
          type="button"
          class="danger"
          disabled={isDisabled}
          aria-expanded={form === "deny"}
          onClick={() => toggle("deny")}
        >
          Deny because …
        </button>
      </div>
      <div class="actions">
        {isProgram && (
          <button type="button" disabled={isDisabled} onClick={() => decide("program")}>
            Allow for this program <Key>P</Key>
          </button>
        )}
        <button type="button" disabled={isDisabled} onClick={() => decide("session")}>
          Allow for the session <Key>S</Key>
        </button>
        {mayWrite && (
          <button
            type="button"
            disabled={isDisabled}
            aria-expanded={form === "always"}
            onClick={() => toggle("always")}
          >
            Always allow …
          </button>
        )}
      </div>
      {form === "always" && <AlwaysForm approval={approval} isDisabled={isDisabled} decide={decide} />}
      {form === "deny" && <DenyForm isDisabled={isDisabled} decide={decide} />}
    </>
  );
}

/** Shows the rule before it is written. */
function AlwaysForm({ approval, isDisabled, decide }: Pick<ActionsProps, "approval" | "isDisabled" | "decide">) {
  const [rule] = useLoaded<PageLastingRule>(`approvals/${approval.id}/rule`, approval.id);
  if (!rule) return <p class="about">Looking for the rule …</p>;
  return (
    <section class="decision-form" aria-label="The rule">
      <p>
        This is written to <Text>{rule.file}</Text>. Rules with conditions, and labels, still ask.
      </p>
      <pre class="diff">
        {rule.changes.map(({ at, before, after }) => (
          <span key={at}>
            <Text>{at}</Text>
            {"\n"}
            {before !== undefined && (
              <span class="removed">
                - <Text>{before}</Text>
                {"\n"}
              </span>
            )}
            {after !== undefined && (
              <span class="added">
                + <Text>{after}</Text>
                {"\n"}
              </span>
            )}
          </span>
        ))}
      </pre>
      <button type="button" class="primary" disabled={isDisabled} onClick={() => decide("always", { mark: rule.mark })}>
        Approve, and write the rule
      </button>
    </section>
  );
}

function DenyForm({ isDisabled, decide }: { isDisabled: boolean; decide: Decide }) {
  const [reason, setReason] = useState("");
  const [isAll, setAll] = useState(false);
  const send = () => {
    const text = reason.trim();
    decide(isAll ? "deny all" : "deny", text === "" ? {} : { reason: text });
  };
  return (
    <SubmitForm class="decision-form" onSubmit={send}>
      <Field name="Reason" about="the program gets it with its error" value={reason} isFocused onInput={setReason} />
      <CheckField class="choice" isChecked={isAll} onChange={setAll}>
        And deny everything else that this execution asks
      </CheckField>
      <button type="submit" class="danger" disabled={isDisabled}>
        {isAll ? "Deny all" : "Deny the call"}
      </button>
    </SubmitForm>
  );
}
