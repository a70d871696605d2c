/** The held tools of one server: why each is held, how its definition changed, and the button that accepts the changes. */
import { counted } from "../../../base/counted.ts";
import type { PageHeld, PageHeldTool } from "../../servers-contract.ts";
import { get, post } from "../client.ts";
import { Difference } from "../difference.tsx";
import { BrokenPrograms } from "../drift.tsx";
import { useAction, useLoaded, useNotices } from "../notice.tsx";
import { Text } from "../text.tsx";

/** `count` changes when tools are held or accepted. */
export function HeldTools({ server, count }: { server: string; count: number }) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const [found, setFound] = useLoaded<PageHeld>(`held?server=${encodeURIComponent(server)}`, count);
  if (!found || found.tools.length === 0) return null;
  const accept = async (tools: readonly PageHeldTool[]) => {
    const marks = Object.fromEntries(tools.map(({ tool, mark }) => [tool, mark]));
    const after = await post<PageHeld>("held", { server, tools: marks });
    setFound(after);
    const isOld = after.tools.some(({ tool, isReplaced }) => isReplaced && Object.hasOwn(marks, tool));
    notices.changed(
      `Accepted: ${tools.map(({ tool }) => tool).join(", ")}`,
      isOld
        ? `${server} still runs with the earlier definition: restart it.`
        : "Agents see it with the next list of tools.",
    );
  };
  const restart = async () => {
    const { tools: listed } = await post<{ tools: number }>("servers/restart", { server });
    setFound(await get<PageHeld>(`held?server=${encodeURIComponent(server)}`));
    notices.say(`Restarted ${server}: ${counted(listed, "tool")}`);
  };
  const { tools, isUpgrade, before, now, programs } = found;
  return (
    <section class="held" aria-labelledby="held">
      <h3 id="held">{counted(tools.length, "held tool")}</h3>
      <p class="about">
        Definitions changed after they were accepted. These tools are neither shown to agents nor called until you
        accept the changes.
      </p>
      {isUpgrade && (
        <p class="about">
          The server has changed too: <Text>{versionsText(before, now)}</Text>
        </p>
      )}
      {tools.some(({ isReplaced }) => isReplaced) && (
        <>
          <p class="warning">
            The server still lists a definition from before a change that you accepted. It reads its program when it
            starts, so restart it.
          </p>
          <button type="button" class="primary" disabled={isRunning} onClick={() => void run(restart)}>
            Restart <Text>{server}</Text>
          </button>
        </>
      )}
      <BrokenPrograms drift={programs} />
      {tools.map((tool) => (
        <Held key={tool.tool} tool={tool} isDisabled={isRunning} onAccept={() => void run(() => accept([tool]))} />
      ))}
      {tools.length > 1 && (
        <button type="button" disabled={isRunning} onClick={() => void run(() => accept(tools))}>
          Accept all {counted(tools.length, "change")}
        </button>
      )}
    </section>
  );
}

function versionsText(before: string | undefined, now: string | undefined): string {
  return before === now ? "it is started in another way" : `version ${before ?? "unknown"}, now ${now ?? "unknown"}`;
}

interface HeldProps {
  tool: PageHeldTool;
  isDisabled: boolean;
  onAccept(): void;
}

function Held({ tool, isDisabled, onAccept }: HeldProps) {
  const { tool: name, why, suspicions, isKnown, isReplaced, lines, left } = tool;
  return (
    <article class="held-tool">
      <Text in="h4">{name}</Text>
      <p class="about">
        Changes: <Text>{why.join("; ")}</Text>
      </p>
      {suspicions.map((each) => (
        <p class="warning" key={each}>
          It <Text>{each}</Text>
        </p>
      ))}
      {!isKnown && <p class="about">There is no earlier definition to compare with. This is the new one:</p>}
      <Difference lines={lines} />
      {left > 0 && (
        <p class="about">
          {counted(left, "more line")}: <code>claudikins review</code>
        </p>
      )}
      <button type="button" disabled={isDisabled} onClick={onAccept}>
        {isReplaced ? "Accept the earlier definition again" : "Accept the change"}
      </button>
    </article>
  );
}
