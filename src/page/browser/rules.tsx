/** Doors, rules, labels and edits of tools, which are lines of the config. They are listed, added and removed here. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { visible } from "../../policy/visible.ts";
import type { PageDoor, PageRule, PageRules } from "../contract.ts";
import { AskedButton } from "./asked-button.tsx";
import { post } from "./client.ts";
import { Field } from "./field.tsx";
import { useAction, useLoaded, useNotices } from "./notice.tsx";
import { Panel } from "./panel.tsx";
import { Text, ToolName } from "./text.tsx";

/** Sends a change, and shows the lists that it answers with. */
type Change = (path: string, body: object, said: string) => Promise<void>;

interface PartProps {
  rules: PageRules;
  change: Change;
}

/** `mark` changes when the config has changed, perhaps on another page. */
export function RulesView({ mark }: { mark: string | undefined }) {
  const notices = useNotices();
  const [rules, setRules] = useLoaded<PageRules>("rules", mark);
  if (!rules) return <p class="about">Loading the rules …</p>;
  const change: Change = async (path, body, said) => {
    setRules(await post<PageRules>(path, body));
    notices.say(said);
  };
  const props = { rules, change };
  return (
    <fieldset class="view" disabled={!rules.canChange}>
      {!rules.canChange && <p class="about">The demo has no config file, so nothing can be changed here.</p>}
      <div class="columns">
        <div class="stack">
          <Doors {...props} />
          <ToolRules {...props} />
        </div>
        <div class="stack">
          <ToolLabels {...props} />
          <Edits {...props} />
        </div>
      </div>
    </fieldset>
  );
}

const wordsIn = (text: string) => text.split(/[\s,]+/).filter(Boolean);

function Doors({ rules: { doors, servers }, change }: PartProps) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { name = "", allow = "", deny = "", ask = "" } = texts;
  const set = (field: string) => (text: string) => setTexts({ ...texts, [field]: text });
  const add = async () => {
    const parts = { servers: chosen, allow: wordsIn(allow), deny: wordsIn(deny), ask: wordsIn(ask) };
    await change("rules/doors", { name, ...parts }, `Made the door ${name}`);
    setTexts({});
    setChosen([]);
  };
  return (
    <Panel id="doors" title="Doors">
      <p class="about">A door shows an agent some of your servers and tools. The others do not exist for it.</p>
      <Lines isEmpty={doors.length === 0} empty="There are no doors.">
        {doors.map((door) => (
          <Line
            key={door.name}
            remove={() => change("rules/doors/remove", { name: door.name }, `Removed the door ${door.name}`)}
          >
            <strong>
              <Text>{door.name}</Text>
            </strong>{" "}
            <Text>{door.servers.join(", ")}</Text>
            <p class="about">
              <Text>{aboutDoor(door)}</Text>
            </p>
          </Line>
        ))}
      </Lines>
      <Form summary="Add a door" submit="Add the door" onSubmit={add}>
        <Field name="Name of the door" example="qa" value={name} onInput={set("name")} />
        <fieldset class="choices">
          <legend>Servers behind it. Without a choice: all, or those of the tools below</legend>
          {servers.map((server) => (
            <label key={server}>
              <input
                type="checkbox"
                checked={chosen.includes(server)}
                onChange={(event) =>
                  setChosen(
                    event.currentTarget.checked ? [...chosen, server] : chosen.filter((each) => each !== server),
                  )
                }
              />{" "}
              <Text>{server}</Text>{" "}
            </label>
          ))}
        </fieldset>
        <Field name="Only these tools" about="optional" example="github.get_*" value={allow} onInput={set("allow")} />
        <Field name="Without these tools" about="optional" value={deny} onInput={set("deny")} />
        <Field name="Ask before each call of" about="optional" value={ask} onInput={set("ask")} />
      </Form>
    </Panel>
  );
}

function aboutDoor({ agents, allow, deny, ask, problem }: PageDoor): string {
  const parts = [
    ["only", allow],
    ["without", deny],
    ["asks before", ask],
  ] as const;
  const tools = parts.flatMap(([word, all]) => (all.length === 0 ? [] : [`${word} ${all.join(", ")}`]));
  return [problem ?? "", ...tools, `agents: ${agents.join(", ") || "none"}`].filter(Boolean).join(" · ");
}

const effects: Record<PageRule["effect"], string> = {
  allow: "only these are allowed",
  deny: "denied",
  condition: "asks on a condition",
  never: "never asks",
  destructive: "asks if destructive",
  always: "always asks",
};

const kinds = { deny: "is denied", always: "always asks", destructive: "asks if destructive", never: "never asks" };

function ToolRules({ rules: { rules, servers }, change }: PartProps) {
  const [kind, setKind] = useState<string>("deny");
  const remove = ({ server, pattern, effect }: PageRule) => {
    const what = effect === "deny" ? { access: "allowed" } : { confirm: "default" };
    return change("rules", { server, tool: pattern, isNew: false, ...what }, `Removed the rule about ${pattern}`);
  };
  return (
    <Panel id="rules" title="Rules">
      <p class="about">
        The view Servers has the switches of each tool. Other rules are changed in the config:{" "}
        <code>claudikins config edit</code>
      </p>
      <Lines isEmpty={rules.length === 0} empty="There are no rules: all tools may be called.">
        {rules.map((rule) => {
          const canRemove = rule.server !== undefined && rule.effect !== "allow";
          return (
            <Line
              key={`${rule.line} ${rule.effect} ${rule.pattern}`}
              remove={canRemove ? () => remove(rule) : undefined}
            >
              <Pattern server={rule.server} pattern={rule.pattern} /> {effects[rule.effect]}
              <p class="about">
                <Text>{rule.line}</Text>
              </p>
            </Line>
          );
        })}
      </Lines>
      <ToolForm
        servers={servers}
        summary="Add a rule"
        submit="Add the rule"
        onSubmit={(tool) => {
          const what = kind === "deny" ? { access: "denied" } : { confirm: kind };
          return change("rules", { ...tool, isNew: true, ...what }, `Added a rule about ${tool.server}.${tool.tool}`);
        }}
      >
        <Choice name="Rule" value={kind} choices={kinds} onChoose={setKind} />
      </ToolForm>
    </Panel>
  );
}

const labelChoices = {
  untrusted: "untrusted: strangers write it",
  private: "private: others should not get it",
  public: "public: it sends to others",
  "private,public": "private and public",
  "untrusted,private": "untrusted and private",
  none: "none",
};

function ToolLabels({ rules: { labels, servers }, change }: PartProps) {
  const [chosen, setChosen] = useState<string>("untrusted");
  return (
    <Panel id="labels" title="Labels">
      <p class="about">What the data of tools is, where you say so instead of the catalog and its rules.</p>
      <Lines isEmpty={labels.length === 0} empty="The config sets no labels.">
        {labels.map(({ server, pattern, labels: said }) => (
          <Line
            key={`${server} ${pattern}`}
            remove={
              server === undefined
                ? undefined
                : () => change("rules/labels", { server, tool: pattern, labels: null }, `Removed what ${pattern} is`)
            }
          >
            <Pattern server={server} pattern={pattern} /> {said.join(", ") || "none"}
          </Line>
        ))}
      </Lines>
      <ToolForm
        servers={servers}
        summary="Label a tool"
        submit="Label the tool"
        onSubmit={(tool) => {
          const wanted = chosen === "none" ? [] : chosen.split(",");
          return change("rules/labels", { ...tool, labels: wanted }, `Labelled ${tool.server}.${tool.tool}`);
        }}
      >
        <Choice name="Labels" value={chosen} choices={labelChoices} onChoose={setChosen} />
      </ToolForm>
    </Panel>
  );
}

function Edits({ rules: { edits, servers }, change }: PartProps) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  return (
    <Panel id="edits" title="Edits of tools">
      <p class="about">
        How agents see tools. For arguments: <code>claudikins edit</code>
      </p>
      <Lines isEmpty={edits.length === 0} empty="No tool is edited.">
        {edits.map(({ server, tool, name: shown, description: about, arguments: names }) => (
          <Line
            key={`${server} ${tool}`}
            remove={() => change("rules/edits", { server, tool, reset: true }, `Removed the edit of ${server}.${tool}`)}
          >
            <ToolName server={server} tool={tool} />
            {shown !== undefined && (
              <>
                {" "}
                is <Text>{shown}</Text>
              </>
            )}
            <p class="about">
              <Text>{[about, names.length > 0 && `arguments: ${names.join(", ")}`].filter(Boolean).join(" · ")}</Text>
            </p>
          </Line>
        ))}
      </Lines>
      <ToolForm
        servers={servers}
        summary="Edit a tool"
        submit="Save the edit"
        onSubmit={async (tool) => {
          const body = { ...tool, ...(name === "" ? {} : { name }), ...(description === "" ? {} : { description }) };
          await change("rules/edits", body, `Edited ${tool.server}.${tool.tool}`);
          setName("");
          setDescription("");
        }}
      >
        <Field name="Name for agents" about="optional" value={name} onInput={setName} />
        <Field name="Description for agents" about="optional" value={description} onInput={setDescription} />
      </ToolForm>
    </Panel>
  );
}

function Pattern({ server, pattern }: { server?: string | undefined; pattern: string }) {
  return server === undefined ? <Text>{pattern}</Text> : <ToolName server={server} tool={pattern} />;
}

function Lines({ isEmpty, empty, children }: { isEmpty: boolean; empty: string; children: ComponentChildren }) {
  return isEmpty ? <p class="empty">{empty}</p> : <ul class="lines">{children}</ul>;
}

function Line({ remove, children }: { remove: (() => Promise<void>) | undefined; children: ComponentChildren }) {
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
  onSubmit(): Promise<void>;
  children: ComponentChildren;
}

function Form({ summary, submit, onSubmit, children }: FormProps) {
  const { isRunning, run } = useAction();
  return (
    <div class="part">
      <details>
        <summary>{summary}</summary>
        <form
          class="fields"
          onSubmit={(event) => {
            event.preventDefault();
            void run(onSubmit);
          }}
        >
          {children}
          <div class="actions">
            <button type="submit" class="primary" disabled={isRunning}>
              {submit}
            </button>
          </div>
        </form>
      </details>
    </div>
  );
}

interface ToolFormProps extends Omit<FormProps, "onSubmit"> {
  servers: readonly string[];
  onSubmit(tool: { server: string; tool: string }): Promise<void>;
}

/** A form about a tool of a server. */
function ToolForm({ servers, onSubmit, children, ...props }: ToolFormProps) {
  const [wanted, setWanted] = useState<string>();
  const [tool, setTool] = useState("");
  const server = wanted ?? servers[0] ?? "";
  const submit = async () => {
    await onSubmit({ server, tool });
    setTool("");
  };
  const choices = Object.fromEntries(servers.map((name) => [name, name]));
  return (
    <Form {...props} onSubmit={submit}>
      <Choice name="Server" value={server} choices={choices} onChoose={setWanted} />
      <Field name="Tool" example="get_issue" value={tool} onInput={setTool} />
      {children}
    </Form>
  );
}

interface ChoiceProps {
  name: string;
  value: string;
  /** The words for each value. */
  choices: Readonly<Record<string, string>>;
  onChoose(value: string): void;
}

function Choice({ name, value, choices, onChoose }: ChoiceProps) {
  return (
    <label class="field">
      <span>{name}</span>
      <select aria-label={name} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {Object.entries(choices).map(([each, words]) => (
          <option key={each} value={each}>
            {visible(words)}
          </option>
        ))}
      </select>
    </label>
  );
}
