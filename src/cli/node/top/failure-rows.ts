import type { RecentFailure } from "../../../wire/top-view.ts";
import { messageKind } from "../../terminal/message-kind.ts";
import { ageText } from "../../terminal/span.ts";

/** In a storm many pods fail in the same way, so each kind of failure gets one row: the newest one and a count. */
export function failureRows(failures: readonly RecentFailure[], nowMs: number): readonly string[] {
  const groups = new Map<string, { readonly newest: RecentFailure; count: number }>();
  for (const failure of failures.toSorted((left, right) => right.wallMs - left.wallMs)) {
    const kind = [failure.verb, failure.namespace, messageKind(failure.reason)].join("\n");
    const known = groups.get(kind);
    if (known === undefined) groups.set(kind, { newest: failure, count: 1 });
    else known.count += 1;
  }
  return [...groups.values()].map(({ newest, count }) => rowText(newest, count, nowMs));
}

function rowText({ wallMs, namespace, pod, verb, reason }: RecentFailure, count: number, nowMs: number): string {
  const name = namespace === "" ? pod.slice(0, 13) : `${namespace}/${pod}`;
  const more = count === 1 ? "" : ` and ${count - 1} more`;
  return `${ageText(nowMs - wallMs)} ago  ${verb} ${name}${more}  ${reason}`;
}
