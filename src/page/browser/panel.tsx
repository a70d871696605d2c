/** A part of the page with a heading. */

/** @jsxImportSource preact */
import type { ComponentChildren, RefObject } from "preact";

interface PanelProps {
  /** The id of the heading. */
  id: string;
  title: ComponentChildren;
  /** Given if the heading can be focused. */
  heading?: RefObject<HTMLHeadingElement | null>;
  /** Shown at the end of the line of the title. */
  action?: ComponentChildren;
  children: ComponentChildren;
}

export function Panel({ id, title, heading, action, children }: PanelProps) {
  const head = (
    <h2 id={id} {...(heading && { ref: heading, tabIndex: -1 })}>
      {title}
    </h2>
  );
  return (
    <section class="panel" aria-labelledby={id}>
      {action === undefined ? (
        head
      ) : (
        <div class="panel-head">
          {head}
          {action}
        </div>
      )}
      {children}
    </section>
  );
}
