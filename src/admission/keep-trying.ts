import { deadline, type Clock } from "../base/clock.ts";
import { toLeveeError, type LeveeError } from "../base/errors.ts";
import type { Admission } from "./admission.ts";
import type { Permit } from "./permit.ts";
import type { AdmissionRequest } from "./request.ts";

/** Of the usual time: a plugin that takes longer is about to be taken for one that hangs. */
const attemptMedians = 5;
/** A plugin that has always failed at once teaches nothing of its time; two plugins on a busy node are done in this. */
const attemptMsMin = 3_000;
/** As much as all plugins of an ADD are given, unless somebody sets it otherwise. */
const attemptMsMax = 25_000;

/** One call, and how it makes its attempt. An object rather than functions: every ADD in line holds one. */
export interface Attempts<T> {
  readonly admission: Admission;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What is left of the call's time for attempts: without what their undo and the answer need. */
  leftMs(): number;
  /** Has undone everything when it throws. */
  attempt(permit: Permit): Promise<T>;
}

/**
 * Makes an attempt under a permit, which it gives back. A critical ADD whose network fails for everybody does not go back to kubelet, which
 * would bring it again 10 to 15 s later only: it waits for the network's next probe, or is that probe, and tries again as
 * long as there is time for a whole attempt.
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

/** Ordinary pods go back to kubelet: a call that stays holds a shim, and a lock of the runtime, for most of a minute. */
function stays(permit: Permit, attempts: Attempts<unknown>): boolean {
  const { admission, signal } = attempts;
  const { failedNetwork, request, admissionClass } = permit;
  if (admissionClass !== "critical" || failedNetwork === undefined || signal.aborted) return false;
  return admission.isFailing(failedNetwork) && attempts.leftMs() > attemptMs(request, admission);
}

/** Whatever keeps it from another try, the reason why there is no attachment is what the last one failed with. */
async function admitAgain(
  request: AdmissionRequest,
  attempts: Attempts<unknown>,
  failure: LeveeError,
): Promise<Permit> {
  const { admission, clock, signal } = attempts;
  using limit = deadline(clock, attempts.leftMs() - attemptMs(request, admission), () => failure, signal);
  try {
    return await admission.admit({ ...request, isRetry: true }, limit.signal);
  } catch (thrown) {
    throw signal.aborted ? thrown : failure;
  }
}

/** What an attempt takes that is not hopeless, by what its networks usually take. */
function attemptMs({ networks }: AdmissionRequest, admission: Admission): number {
  const usualMs = networks.reduce((sum, network) => sum + admission.usualMs(network), 0);
  return Math.min(attemptMsMax, Math.max(attemptMsMin, usualMs * attemptMedians));
}
