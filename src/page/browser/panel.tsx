/** A part of the page with a heading. */

/** @jsxImportSource preact */
import type { ComponentChildren, RefObject } from "preact";

interface PanelProps {
  /** The id of the heading. */
  id: string;
  title: ComponentChildren;
  /** Given if the heading can be focused. */
  heading?: RefObject<HTMLHeadingElement | null>;
  children: ComponentChildren;
}

export function Panel({ id, title, heading, children }: PanelProps) {
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id} {...(heading && { ref: heading, tabIndex: -1 })}>
        {title}
      </h2>
      {children}
    </section>
  );
}
