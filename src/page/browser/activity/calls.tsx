/** The calls of one execution, each on the time of the execution. */
import { counted } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import type { PageAbout, PageCall } from "../../activity-contract.ts";
import { ScrolledText, Text, ToolName, visibleLines } from "../text.tsx";
import { callId, lineId, show } from "./code.tsx";

interface CallListProps {
  about: PageAbout;
  /** Narrows the list of executions to those that have called the tool. */
  onTool?: ((server: string, tool: string) => void) | undefined;
}

export function CallList({ about: { calls, more, noContents, execution, code }, onTool }: CallListProps) {
  if (calls.length === 0) return null;
  const ends = calls.map(({ startMs = 0, tookMs = 0, waitedMs = 0 }) => startMs + tookMs + waitedMs);
  const wholeMs = Math.max(1, execution.durationMs ?? 0, ...ends);
  return (
    <section class="part" aria-labelledby="calls">
      <h3 id="calls">Calls</h3>
      <ol class="call-list">
        {calls.map((call, place) => (
          <Call
            key={place}
            id={callId(place)}
            call={call}
            hasCode={onTool !== undefined && code !== undefined}
            wholeMs={wholeMs}
            onTool={onTool}
          />
        ))}
      </ol>
      {noContents !== undefined && (
        <Text in="p" class="about">
          {noContents}
        </Text>
      )}
      {more > 0 && (
        <p class="about">
          {counted(more, "more call")} {execution.isRecorded && "in the timeline"}
        </p>
      )}
    </section>
  );
}

interface CallProps {
  id: string;
  call: PageCall;
  /** Whether the line of the call is on the page. */
  hasCode: boolean;
  wholeMs: number;
  onTool: CallListProps["onTool"];
}

function Call({ id, call, hasCode, wholeMs, onTool }: CallProps) {
  const { server, tool, line, outcome, startMs, tookMs, waitedMs = 0, code, isPlanned } = call;
  const percent = (ms: number) => `${Math.min(100, (ms / wholeMs) * 100)}%`;
  return (
    <li class={`call ${outcome}`} id={id} tabIndex={-1}>
      <span>
        <ToolName server={server} tool={tool} />
        {onTool && (
          <button
            type="button"
            class="plain only-tool"
            title="Only executions that have called this tool"
            onClick={() => onTool(server, tool)}
          >
            all its executions
            <span class="hidden">
              {" of "}
              <ToolName server={server} tool={tool} />
            </span>
          </button>
        )}
      </span>
      <span class="about">
        {wordsOf(call)}
        {code !== undefined && ` ${code}`}
        {line !== undefined && " · "}
        {line !== undefined &&
          (hasCode ? (
            <button type="button" class="link" onClick={() => show(lineId(line))}>
              line {line}
            </button>
          ) : (
            `line ${line}`
          ))}
        {waitedMs > 0 && ` · a person was asked for ${durationText(waitedMs)}`}
      </span>
      <span class="amount">{tookMs !== undefined && !isPlanned && durationText(tookMs)}</span>
      {(call.arguments !== undefined || call.answer !== undefined) && <CallTexts call={call} />}
      {startMs !== undefined && (
        <span class="call-track" aria-hidden="true">
          {waitedMs > 0 && <span class="wait" style={{ left: percent(startMs), width: percent(waitedMs) }} />}
          <span class="bar" style={{ left: percent(startMs + waitedMs), width: percent(tookMs ?? 0) }} />
        </span>
      )}
    </li>
  );
}

function CallTexts({ call: { arguments: asked, answer, outcome } }: { call: PageCall }) {
  return (
    <details class="call-texts">
      <summary class="about">{outcome === "failed" ? "Arguments and error" : "Arguments and answer"}</summary>
      {asked !== undefined && <ScrolledText class="arguments">{visibleLines(asked)}</ScrolledText>}
      {answer !== undefined && <ScrolledText class="arguments">{visibleLines(answer)}</ScrolledText>}
    </details>
  );
}

function wordsOf({ outcome, isPlanned }: PageCall): string {
  if (isPlanned) return "would be called";
  return outcome === "open" ? "has no answer yet" : outcome;
}
