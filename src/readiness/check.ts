/** One line of `levee check` about this node. */
export interface Check {
  /** Short and stable, because `/readyz` prints it and alerts use it. */
  readonly name: string;
  /** `warning` does not stop a rollout. */
  readonly state: "ok" | "warning" | "failed";
  /** What was seen. */
  readonly detail: string;
  /** What to do about it; empty when there is nothing to do. */
  readonly hint: string;
}

export function passed(name: string, detail: string): Check {
  return { name, state: "ok", detail, hint: "" };
}

export function warned(name: string, detail: string, hint: string): Check {
  return { name, state: "warning", detail, hint };
}

export function failed(name: string, detail: string, hint: string): Check {
  return { name, state: "failed", detail, hint };
}

/** A node without a failed check may take pods and lets a rollout go on. */
export function isReady(checks: readonly Check[]): boolean {
  return checks.every(({ state }) => state !== "failed");
}
