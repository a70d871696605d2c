/** The labels of what was read: for stored executions, for files, and for the clients of `serve --http`. */

export interface StoredLabel {
  label: string;
  /** What the data came from, such as `github.get_issue`. */
  source: string;
}

/** The holder of the labels of an execution. They are removed with the execution. */
export function executionHolder(execution: string): string {
  return `execution ${execution}`;
}

/** The changes of one transaction, made in this order. */
export interface LabelChange {
  /** Holders that lose all their labels. */
  remove?: readonly string[];
  /** Removes the labels of holders whose names begin with `prefix`, if they were last written before a time in milliseconds since 1970. */
  prune?: { prefix: string; before: number };
  /** Each holder gets all labels. `at` is the time of writing, in milliseconds since 1970; a label that a holder has already gets it too. */
  add?: { holders: readonly string[]; labels: readonly StoredLabel[]; at: number };
}

export interface LabelRows {
  /** The labels of these holders, and of those whose names begin with `prefix`. A label may be there more than once. */
  of(wanted: { holders: readonly string[]; prefix?: string }): Promise<StoredLabel[]>;
  /** Whether any holder whose name begins like this has a label. */
  hasBelow(prefix: string): Promise<boolean>;
  change(change: LabelChange): Promise<void>;
}
