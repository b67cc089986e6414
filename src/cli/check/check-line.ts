/** One line: what was looked at, how it is, and what to do about it. */
export interface CheckLine {
  readonly state: "ok" | "warning" | "failed";
  readonly name: string;
  readonly detail: string;
  /** Empty when there is nothing to do. */
  readonly hint: string;
}
