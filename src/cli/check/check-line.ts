/** One check: its name, its result, and what to do about it. */
export interface CheckLine {
  readonly state: "ok" | "warning" | "failed";
  readonly name: string;
  readonly detail: string;
  /** Empty when there is nothing to do. */
  readonly hint: string;
}
