import { deadline, type Clock } from "../base/clock.ts";
import { toLeveeError, type LeveeError } from "../base/errors.ts";
import type { Admission } from "./admission.ts";
import type { Permit } from "./permit.ts";
import type { AdmissionRequest } from "./request.ts";

/** Multiples of the usual time. A plugin that takes longer counts as hung soon. */
const attemptMedians = 5;
/** Enough for two plugins on a busy node. A plugin that always fails at once has no usual time. */
const attemptMsMin = 3_000;
/** The default time for all plugins of an ADD. */
const attemptMsMax = 25_000;

/** One call and its attempts. An object instead of closures, because every ADD in line holds one. */
export interface Attempts<T> {
  readonly admission: Admission;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The call's time that is left for attempts, without the time for undo and reply. */
  leftMs(): number;
  /** When it throws, it has undone everything. */
  attempt(permit: Permit): Promise<T>;
}

/**
 * Makes an attempt under a permit and releases the permit. A critical ADD whose network fails for every pod stays in
 * its call, because kubelet would retry only 10 to 15 s later. It waits for the network's next probe, or is that probe,
 * and tries again while there is time for a whole attempt.
 */
export async function keepTrying<T>(first: Permit, attempts: Attempts<T>): Promise<T> {
  const { request } = first;
  let tried = await tryOnce(first, attempts);
  while ("error" in tried) {
    if (!tried.stays) throw tried.error;
    tried = await tryOnce(await admitAgain(request, attempts, tried.error), attempts);
  }
  return tried.value;
}

type Tried<T> = { readonly value: T } | { readonly error: LeveeError; readonly stays: boolean };

async function tryOnce<T>(held: Permit, attempts: Attempts<T>): Promise<Tried<T>> {
  using permit = held;
  try {
    return { value: await attempts.attempt(permit) };
  } catch (thrown) {
    return { error: toLeveeError(thrown, "Cannot attach the pod"), stays: stays(permit, attempts) };
  }
}

/** Only critical pods stay, because a call that stays holds a shim and a lock of the runtime for a minute and a half. */
function stays(permit: Permit, attempts: Attempts<unknown>): boolean {
  const { admission, signal } = attempts;
  const { failedNetwork, request, admissionClass } = permit;
  if (admissionClass !== "critical" || failedNetwork === undefined || signal.aborted) return false;
  return admission.isFailing(failedNetwork) && attempts.leftMs() > attemptMs(request, admission);
}

/** Without another permit, the error is the last attempt's failure, because that is why the pod has no attachment. */
async function admitAgain(
  request: AdmissionRequest,
  attempts: Attempts<unknown>,
  failure: LeveeError,
): Promise<Permit> {
  const { admission, clock, signal } = attempts;
  const leftMs = attempts.leftMs();
  using limit = deadline(clock, leftMs - attemptMs(request, admission), () => failure, signal);
  try {
    return await admission.admit({ ...request, isRetry: true, leftMs }, limit.signal);
  } catch (thrown) {
    throw signal.aborted ? thrown : failure;
  }
}

/** The least time for an attempt that can succeed, from the usual times of its networks. */
function attemptMs({ networks }: AdmissionRequest, admission: Admission): number {
  const usualMs = networks.reduce((sum, network) => sum + admission.usualMs(network), 0);
  return Math.min(attemptMsMax, Math.max(attemptMsMin, usualMs * attemptMedians));
}
