/** Tools and policy: one table over all servers, the doors, and the rules. */
import { useMemo, useState } from "preact/hooks";
import type { PageState } from "../../contract.ts";
import { TabName } from "../text.tsx";
import { RulesView } from "./rules.tsx";
import { ToolTableView } from "./tool-table.tsx";

const tabs = { tools: "Tools", doors: "Doors", rules: "Rules" } as const;
type Tab = keyof typeof tabs;

interface ToolsProps {
  state: PageState;
}

export function Tools({ state }: ToolsProps) {
  const [tab, setTab] = useState<Tab>("tools");
  const [door, setDoor] = useState<string>();
  const { servers, rulesMark } = state;
  const mark = useMemo(
    () => JSON.stringify([rulesMark, servers.map(({ name, toolsMark }) => [name, toolsMark])]),
    [rulesMark, servers],
  );
  const choice = (
    <span class="tabs">
      {Object.entries(tabs).map(([each, title]) => (
        <button key={each} type="button" aria-pressed={each === tab} onClick={() => setTab(each as Tab)}>
          <TabName>{title}</TabName>
        </button>
      ))}
    </span>
  );
  if (tab === "tools") {
    return (
      <ToolTableView
        choice={choice}
        mark={mark}
        door={door}
        onDoor={setDoor}
        hasServers={servers.some(({ isOwn }) => isOwn)}
      />
    );
  }
  return (
    <>
      <p class="tab-line">{choice}</p>
      <RulesView
        mark={rulesMark}
        part={tab}
        onDoor={(name) => {
          setDoor(name);
          setTab("tools");
        }}
      />
    </>
  );
}
