/** Rows of a list of facts: how code calls a program, and which tools the program may call. */
import { Text } from "../text.tsx";

export function CallFacts({ call, calls }: { call: string; calls: readonly string[] }) {
  return (
    <>
      <div>
        <dt>Call</dt>
        <dd>
          <code>
            <Text>{call}</Text>
          </code>
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
