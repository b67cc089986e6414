import { LeveeError } from "../../../base/errors.ts";
import { kubeStatusOf, type KubeApi } from "../../../kube/client/api.ts";
import { isPassing } from "../running-decision.ts";
import type { StepContext } from "../step-runner.ts";

const requestMs = 10_000;
/** The patch tests what was read, so a second one after a lost answer changes nothing. */
const tries = 5;
const betweenTriesMs = 1_000;

/** One operation of a JSON patch (RFC 6902). */
export interface PatchOperation {
  readonly op: "test" | "replace" | "add";
  readonly path: string;
  readonly value: string | number | boolean | Readonly<Record<string, string>>;
}

interface Patch {
  readonly patch: readonly PatchOperation[];
}

interface PatchTarget {
  readonly path: string;
  readonly uid: string;
  /** Title, object and result of the audit line. */
  readonly title: string;
  readonly object: string;
  readonly result: string;
  /** Of a step that changes several objects; the first unless told. */
  readonly batch?: number;
}

/**
 * Reads and patches until one patch is accepted or `look` finds nothing to patch, and returns what it found. What another
 * client changes back afterwards stays so: the step's check tells it.
 */
export async function patchUntil<T extends object>(
  context: StepContext,
  target: PatchTarget,
  look: () => Promise<Patch | T>,
): Promise<T | { readonly isDone: true }> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await look();
    if (!("patch" in found)) return found;
    if (await tryPatch(context, target, found.patch, attempt === tries)) return { isDone: true };
    await context.clock.sleep(betweenTriesMs, context.signal);
  }
}

/** False to try again: the patch may not have arrived, or the object has changed since the read. */
async function tryPatch(
  context: StepContext,
  { path, uid, title, object, result, batch = 1 }: PatchTarget,
  patch: readonly PatchOperation[],
  isLast: boolean,
): Promise<boolean> {
  await context.intend(batch, [uid]);
  try {
    await sendPatch(context.api, path, patch);
    context.audit(title, [object], result);
    return true;
  } catch (thrown) {
    if (isLast || !(isPassing(thrown) || isChangedSince(thrown))) throw thrown;
    return false;
  }
}

/** The same patch as a dry run. */
export async function rehearsePatch(api: KubeApi, path: string, patch: readonly PatchOperation[]): Promise<void> {
  await sendPatch(api, `${path}?dryRun=All`, patch);
}

/** A test of the patch failed: another writer was faster. */
export function isChangedSince(thrown: unknown): boolean {
  return kubeStatusOf(thrown) === 422;
}

async function sendPatch(api: KubeApi, path: string, patch: readonly PatchOperation[]): Promise<void> {
  await api.call({
    method: "PATCH",
    path,
    body: JSON.stringify(patch),
    contentType: "application/json-patch+json",
    deadlineMs: requestMs,
  });
}

/** When the Decision began: what a step writes with this time is the same however often the step begins. */
export function beganAt({ status }: StepContext["decision"]): string {
  if (status?.startedAt !== undefined) return status.startedAt;
  throw new LeveeError("internal", "Cannot change a workload: the Decision does not say when it began");
}
