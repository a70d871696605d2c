/** Rows of a list of facts: how code calls a program, and which tools the program may call. */
import { CodeText, Text } from "../text.tsx";

export function CallFacts({ call, calls }: { call: string; calls: readonly string[] }) {
  return (
    <>
      <div>
        <dt>Call</dt>
        <dd>
          <CodeText>{call}</CodeText>
        </dd>
      </div>
      <div>
        <dt>May call</dt>
        <dd>
          <Text>{calls.join(", ") || "nothing"}</Text>
        </dd>
      </div>
    </>
  );
}
