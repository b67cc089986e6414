import type { GateReason } from "../../../wire/gate-codes.ts";
import type { NodeFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";
import { quotedText } from "../../detect/foreign-text.ts";
import type { KuredLock } from "../kured-lock.ts";

/** Another node holds kured's lock: it is being rebooted, or kured was stopped in the middle of it. */
export function kuredLockHeld({ name }: NodeFacts, { locks, nodes, nowMs }: GateFacts): readonly GateReason[] {
  return locks
    .filter(({ holder }) => holder !== name && nodes.has(holder))
    .map((lock) => ({
      code: "KuredLockHeld",
      message: `node ${lock.holder} holds kured's lock`,
      sinceMs: lock.createdMs || nowMs,
      object: `Node/${lock.holder}`,
      remedy: `wait for its reboot; if it is done and the lock stays: ${releaseLine(lock)}`,
    }));
}

/** A node that does not exist holds kured's lock, so kured reboots nothing until a person takes the lock away. */
export function kuredLockOrphaned(_node: unknown, { locks, nodes, nowMs }: GateFacts): readonly GateReason[] {
  return locks
    .filter(({ holder }) => !nodes.has(holder))
    .map((lock) => ({
      code: "KuredLockOrphaned",
      message:
        lock.holder === ""
          ? `the lock on kured's DaemonSet ${lock.daemonSet} cannot be read`
          : `kured's lock is held by ${quotedText(lock.holder)}, which is no node of this cluster`,
      sinceMs: lock.createdMs || nowMs,
      object: `DaemonSet/${lock.daemonSet}`,
      remedy: `if nobody holds it on purpose: ${releaseLine(lock)}`,
    }));
}

function releaseLine({ daemonSet }: KuredLock): string {
  const [namespace = "", name = ""] = daemonSet.split("/");
  return `kubectl -n ${namespace} annotate ds ${name} weave.works/kured-node-lock-`;
}
