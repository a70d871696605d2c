/** The doors of the config: what each shows, its agents and its tokens. */
import { useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import { ageText, waitText } from "../../../base/duration.ts";
import type { PageDoor, PageToken } from "../../contract.ts";
import { Checks, Field } from "../field.tsx";
import { Panel } from "../panel.tsx";
import { Text } from "../text.tsx";
import { Form, Line, Lines, type PartProps } from "./rule-forms.tsx";

interface DoorsProps extends PartProps {
  /** Shows the tools as a door sees them. */
  onDoor(door: string): void;
}

const wordsIn = (text: string) => text.split(/[\s,]+/).filter(Boolean);

export function Doors({ rules: { doors, servers }, change, onDoor }: DoorsProps) {
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
            <DoorLine door={door} onDoor={onDoor} />
          </Line>
        ))}
      </Lines>
      <Form summary="Add a door" submit="Add the door" onSubmit={add}>
        <Field name="Name of the door" example="qa" value={name} onInput={set("name")} />
        <Checks
          class="choices"
          legend="Servers behind it. Without a choice: all, or those of the tools below"
          values={servers}
          chosen={chosen}
          onChange={setChosen}
        >
          {(server) => <Text>{server}</Text>}
        </Checks>
        <Field name="Only these tools" about="optional" example="github.get_*" value={allow} onInput={set("allow")} />
        <Field name="Without these tools" about="optional" value={deny} onInput={set("deny")} />
        <Field name="Ask before each call of" about="optional" value={ask} onInput={set("ask")} />
      </Form>
    </Panel>
  );
}

function DoorLine({ door, onDoor }: { door: PageDoor; onDoor(door: string): void }) {
  const { name, servers, tools, agents, tokens, problem } = door;
  return (
    <>
      <Text in="strong">{name}</Text>{" "}
      {problem === undefined ? (
        <button type="button" class="link" title="Show the tools as the door sees them" onClick={() => onDoor(name)}>
          {counted(tools, "tool")}
        </button>
      ) : (
        <Text in="span" class="failed-calls">
          {problem}
        </Text>
      )}
      <dl class="facts">
        <Fact name="Servers" texts={servers} none="none" />
        <Fact name="Only" texts={door.allow} />
        <Fact name="Without" texts={door.deny} />
        <Fact name="Asks before" texts={askedTexts(door)} />
        <Fact name="Agents" texts={agents} none="none on this machine" />
        <Fact name="Tokens" texts={tokens.map(tokenText)} none="none" />
      </dl>
    </>
  );
}

/** The tools that it asks about, and its own patterns for other tools, which may not be listed yet. */
function askedTexts({ asked, askedMore, ask }: PageDoor): string[] {
  const own = ask.filter((pattern) => pattern.includes("*") || !asked.includes(pattern));
  return [...asked, ...(askedMore > 0 ? [`${askedMore} more`] : []), ...own];
}

function Fact({ name, texts, none }: { name: string; texts: readonly string[]; none?: string }) {
  if (texts.length === 0 && none === undefined) return null;
  return (
    <div>
      <dt>{name}</dt>
      <Text in="dd">{texts.join(", ") || (none ?? "")}</Text>
    </div>
  );
}

function tokenText({ id, name, expiresAt, lastUsedAt }: PageToken): string {
  const now = Date.now();
  const ends = expiresAt === undefined ? [] : [expiresAt <= now ? "expired" : `ends in ${waitText(expiresAt - now)}`];
  const used = lastUsedAt === undefined ? "never used" : `used ${ageText(now - lastUsedAt)}`;
  return `${name ?? id} (${[...ends, used].join(", ")})`;
}
