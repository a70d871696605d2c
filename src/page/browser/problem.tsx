/** Shows why something failed, with the next step. */
import { Text } from "./text.tsx";

export interface Reason {
  message: string;
  hint?: string | undefined;
}

export function Problem({ reason: { message, hint } }: { reason: Reason }) {
  return (
    <p class="warning" role="alert">
      <Text>{message}</Text>
      {hint !== undefined && (
        <span class="hint">
          <Text>{hint}</Text>
        </span>
      )}
    </p>
  );
}
