/** Doors, rules, labels and edits of tools, which are lines of the config. They are listed, added and removed here. */
import { useState } from "preact/hooks";
import type { PageRule, PageRules } from "../../contract.ts";
import type { PageUndo } from "../../servers-contract.ts";
import { post } from "../client.ts";
import { ChoiceField, Field } from "../field.tsx";
import { useConfigChanged, useLoaded } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { Text, ToolName } from "../text.tsx";
import { Doors } from "./doors.tsx";
import { type Change, Line, Lines, type PartProps, ToolForm } from "./rule-forms.tsx";

interface RulesProps {
  /** Changes when the config has changed, perhaps on another page. */
  mark: string | undefined;
  part: "doors" | "rules";
  /** Shows the tools as a door sees them. */
  onDoor(door: string): void;
}

export function RulesView({ mark, part, onDoor }: RulesProps) {
  const configChanged = useConfigChanged();
  const [rules, setRules] = useLoaded<PageRules>("rules", mark);
  if (!rules) return <p class="about">Loading the rules …</p>;
  const change: Change = async (path, body, said) => {
    const { undo, ...after } = await post<PageRules & PageUndo>(path, body);
    setRules(after);
    configChanged({ said, undo, what: said });
  };
  const props = { rules, change };
  return (
    <fieldset class="view" disabled={!rules.canChange}>
      {!rules.canChange && <p class="about">The demo has no config file, so nothing can be changed here.</p>}
      {part === "doors" ? (
        <Doors {...props} onDoor={onDoor} />
      ) : (
        <div class="columns">
          <ToolRules {...props} />
          <div class="stack">
            <ToolLabels {...props} />
            <Edits {...props} />
          </div>
        </div>
      )}
    </fieldset>
  );
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
        The table Tools has the states of all tools. Other rules are changed in the config:{" "}
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
              <Text in="p" class="about">
                {rule.line}
              </Text>
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
        <ChoiceField name="Rule" value={kind} choices={kinds} onChoose={setKind} />
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
        <ChoiceField name="Labels" value={chosen} choices={labelChoices} onChoose={setChosen} />
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
            <Text in="p" class="about">
              {[about, names.length > 0 && `arguments: ${names.join(", ")}`].filter(Boolean).join(" · ")}
            </Text>
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
