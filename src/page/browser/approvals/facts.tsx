/** Shows the asker of a call, the labelled data that was read before, and the differences from the last approved call of the tool. */
import { counted } from "../../../base/counted.ts";
import type { PageApproval } from "../../contract.ts";
import { Age } from "../age.tsx";
import { Text } from "../text.tsx";

/** A program within another one has a name of its own, which begins with the id of the whole execution. */
export function executionOf({ execution }: Pick<PageApproval, "execution">): string {
  const [id = ""] = execution.split("-", 1);
  return id;
}

type Facts = NonNullable<PageApproval["facts"]>;

const started: Record<NonNullable<Facts["asker"]>["startedBy"], string> = {
  exec: "a command",
  serve: "an agent",
  schedule: "a schedule",
  event: "an event",
};

interface AskerProps {
  approval: PageApproval;
  /** The title of its execution, which may be the name of the program. */
  title: string | undefined;
  facts: Facts | undefined;
  /** Undefined if the viewer may not see the execution. */
  onExecution: ((id: string) => void) | undefined;
}

/** One line: the agent, its folder, the program, the door, the person and the execution. */
export function Asker({ approval, title, facts, onExecution }: AskerProps) {
  const { execution, door, person } = approval;
  const { agent, startedBy, folder, program } = facts?.asker ?? {};
  const by = agent ?? (startedBy && started[startedBy]);
  const id = executionOf(approval);
  return (
    <ul class="asker" aria-label="Asked by">
      {by !== undefined && (
        <Text in="li" class="by">
          {by}
        </Text>
      )}
      {folder !== undefined && (
        <li>
          in <Text>{folder}</Text>
        </li>
      )}
      {program !== undefined && program !== title && (
        <li>
          program <Text>{program}</Text>
        </li>
      )}
      {door !== undefined && (
        <li>
          door <Text>{door}</Text>
        </li>
      )}
      {person !== undefined && (
        <li>
          for <Text>{person.name}</Text>
        </li>
      )}
      <li>
        {onExecution ? (
          <button type="button" class="link" title={execution} onClick={() => onExecution(id)}>
            execution {id.slice(-6)}
          </button>
        ) : (
          <span title={execution}>execution {id.slice(-6)}</span>
        )}
      </li>
    </ul>
  );
}

/** A program that strangers may have told what to do with private data is pointed out. */
export function ReadBefore({ reads, onCalls }: { reads: Facts["reads"]; onCalls: (() => void) | undefined }) {
  if (reads.length === 0) return <p class="about">It has read no private data, and no texts of strangers.</p>;
  const labels = new Set(reads.map(({ label }) => label));
  const isRisky = labels.has("private") && labels.has("untrusted");
  return (
    <div class={isRisky ? "read-before risky" : "read-before"}>
      <h4>{isRisky ? "It has read private data, and texts of strangers" : "It has read"}</h4>
      <ul>
        {reads.map(({ label, source, calls: [first, ...others] }) => (
          <li key={`${label} ${source}`}>
            <span class={`badge label-${label}`}>{label}</span> <Text>{source}</Text>
            <span class="about">
              {first ? (
                <>
                  {" "}
                  call {first.call}, <Age at={first.at} />
                  {others.length > 0 && ` and ${counted(others.length, "more call")}`}
                </>
              ) : (
                " earlier in its session"
              )}
            </span>
          </li>
        ))}
      </ul>
      {onCalls && (
        <button type="button" class="link" onClick={onCalls}>
          Show its calls so far
        </button>
      )}
    </div>
  );
}

const words = { new: "new", gone: "gone", changed: "" };

export function Differences({ last }: { last: NonNullable<Facts["lastApproved"]> }) {
  const { decidedAt, isWhole, changes, more } = last;
  const since = (
    <>
      the last approved call (<Age at={decidedAt} />)
    </>
  );
  if (!isWhole) {
    return <p class="about">Its arguments cannot be compared with {since}: only their beginning is kept.</p>;
  }
  if (changes.length === 0) return <p class="about">The arguments are the same as in {since}.</p>;
  return (
    <div class="differences">
      <h4>Since {since}</h4>
      <dl>
        {changes.map(({ at, kind, before, now }) => (
          <div key={at}>
            <dt>
              <Text>{at}</Text> {words[kind]}
            </dt>
            <dd>
              {before !== undefined && <Text in="del">{before}</Text>}
              {now !== undefined && <Text in="ins">{now}</Text>}
            </dd>
          </div>
        ))}
      </dl>
      {more > 0 && <p class="about">and {counted(more, "more difference")}</p>}
    </div>
  );
}
