/** The lists and forms for lines of the config. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { PageRules } from "../../contract.ts";
import { AskedButton } from "../asked-button.tsx";
import { ChoiceField, Field, SubmitForm } from "../field.tsx";
import { useAction } from "../notice.tsx";

/** Sends a change, and shows the lists that it answers with. */
export type Change = (path: string, body: object, said: string) => Promise<void>;

export interface PartProps {
  rules: PageRules;
  change: Change;
}

export function Lines({ isEmpty, empty, children }: { isEmpty: boolean; empty: string; children: ComponentChildren }) {
  return isEmpty ? <p class="empty">{empty}</p> : <ul class="lines">{children}</ul>;
}

export function Line({ remove, children }: { remove: (() => Promise<void>) | undefined; children: ComponentChildren }) {
  return (
    <li>
      <span>{children}</span>
      {remove && (
        <AskedButton question="Really remove it?" action={remove}>
          Remove
        </AskedButton>
      )}
    </li>
  );
}

interface FormProps {
  summary: string;
  submit: string;
  /** Whether a field that is needed is empty. */
  isIncomplete?: boolean;
  onSubmit(): Promise<void>;
  children: ComponentChildren;
}

export function Form({ summary, submit, isIncomplete = false, onSubmit, children }: FormProps) {
  const { isRunning, run } = useAction();
  return (
    <div class="part">
      <details>
        <summary>{summary}</summary>
        <SubmitForm onSubmit={() => run(onSubmit)}>
          {children}
          <div class="actions">
            <button type="submit" class="primary" disabled={isRunning || isIncomplete}>
              {submit}
            </button>
          </div>
        </SubmitForm>
      </details>
    </div>
  );
}

interface ToolFormProps extends Omit<FormProps, "onSubmit"> {
  servers: readonly string[];
  onSubmit(tool: { server: string; tool: string }): Promise<void>;
}

/** A form about a tool of a server. */
export function ToolForm({ servers, onSubmit, children, ...props }: ToolFormProps) {
  const [wanted, setWanted] = useState<string>();
  const [tool, setTool] = useState("");
  const server = wanted ?? servers[0] ?? "";
  const submit = async () => {
    await onSubmit({ server, tool });
    setTool("");
  };
  const choices = Object.fromEntries(servers.map((name) => [name, name]));
  return (
    <Form {...props} isIncomplete={tool.trim() === ""} onSubmit={submit}>
      <ChoiceField name="Server" value={server} choices={choices} onChoose={setWanted} />
      <Field name="Tool" example="get_issue" value={tool} onInput={setTool} />
      {children}
    </Form>
  );
}
