import { isObject, textOf } from "../../kube/client/json-fields.ts";
import { objectsOf, timeMs } from "../json-values.ts";

/** kured's lock on its DaemonSet: who reboots now. */
export interface KuredLock {
  /** `namespace/name`. */
  readonly daemonSet: string;
  /** The node that holds it, or what a person wrote there to stop kured. Empty when the annotation cannot be read. */
  readonly holder: string;
  /** 0 when unknown. */
  readonly createdMs: number;
}

/**
 * The holders in kured's annotation: one, or several with --concurrency above 1. A lock whose time to live is over counts
 * for nothing, as for kured. An annotation that cannot be read is a lock of nobody, because kured stops there too.
 */
export function parseKuredLock(daemonSet: string, text: string, nowMs: number): readonly KuredLock[] {
  const value = parsed(text);
  if (!isObject(value)) return [{ daemonSet, holder: "", createdMs: 0 }];
  const locks = "locks" in value ? objectsOf(value["locks"]) : [value];
  return locks
    .filter(({ TTL, created }) => !(typeof TTL === "number" && TTL > 0 && timeMs(created) + TTL / 1e6 < nowMs))
    .map(({ nodeID, created }) => ({ daemonSet, holder: textOf(nodeID), createdMs: timeMs(created) }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: nobody's lock.
    return undefined;
  }
}
