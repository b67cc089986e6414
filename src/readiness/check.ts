/** One question about this node, and its answer. */
export interface Check {
  /** Short and stable: `/readyz` prints it, and alerts name it. */
  readonly name: string;
  /** `warning`: worth a look, but no reason to stop a rollout. */
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

/** A node whose checks all hold, or only warn, may take pods and lets a rollout go on. */
export function isReady(checks: readonly Check[]): boolean {
  return checks.every(({ state }) => state !== "failed");
}
