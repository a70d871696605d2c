/** The saved programs that would break, with the reasons. */
import type { PageDrift } from "../programs-contract.ts";
import { Text } from "./text.tsx";

export function BrokenPrograms({ drift: { text, broken } }: { drift: PageDrift }) {
  if (broken.length === 0) return null;
  return (
    <div class="warning">
      <p>{text} with these changes:</p>
      {broken.map(({ name, door, reasons }) => (
        <div key={JSON.stringify([door, name])}>
          <Text in="strong">{name}</Text>
          {door !== undefined && (
            <>
              {" "}
              (door <Text>{door}</Text>)
            </>
          )}
          <Reasons reasons={reasons} />
        </div>
      ))}
    </div>
  );
}

export function Reasons({ reasons }: { reasons: readonly string[] }) {
  return (
    <ul>
      {reasons.map((reason) => (
        <Text key={reason} in="li">
          {reason}
        </Text>
      ))}
    </ul>
  );
}
