import type { Cancel, Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import type { AllocatedDevice, ClaimAnswer, ClaimView, PublishedDevice } from "../../view/claim-view.ts";
import { KubeError, type FollowableApi } from "../client/api.ts";
import { parseListed } from "../watch/list-pages.ts";
import { Reflector } from "../watch/reflector.ts";
import { readClaim } from "./resource-claim.ts";
import { deviceIn, projectSlice, sameSlice, slicesPath, type SliceFacts } from "./slice-facts.ts";

/** How often it looks whether a pod of this node still has claims. */
const lookMs = 300_000;
/** One attempt must leave time for another within the look-up's budget. */
const listMsMax = 2_000;

interface ClaimReaderOptions {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  /** Whether a pod of this node has claims. */
  readonly isUsed: () => boolean;
}

/**
 * Claims, read one by one, and this node's ResourceSlices as a local copy. The copy is made when the first ADD needs it,
 * and dropped when no pod of the node has claims any more: most nodes never have one.
 */
export class ClaimReader implements ClaimView {
  readonly #options: ClaimReaderOptions;
  #slices: Reflector<SliceFacts> | undefined;
  #cancel: Cancel | undefined;

  constructor(options: ClaimReaderOptions) {
    this.#options = options;
  }

  claim(namespace: string, name: string, signal: AbortSignal): Promise<ClaimAnswer> {
    return readClaim(this.#options.api, namespace, name, signal);
  }

  async published(wanted: AllocatedDevice, signal: AbortSignal): Promise<PublishedDevice | undefined> {
    signal.throwIfAborted();
    const slices = (this.#slices ??= this.#follow());
    await this.#synced(slices, signal);
    // The watch may be behind the scheduler, which has just given the device away.
    return deviceIn(slices.store.values(), wanted) ?? (await this.#list(wanted, signal));
  }

  async close(): Promise<void> {
    this.#cancel?.();
    const slices = this.#slices;
    this.#slices = undefined;
    await slices?.close();
  }

  /** Multus' own question. */
  async #list(wanted: AllocatedDevice, signal: AbortSignal): Promise<PublishedDevice | undefined> {
    const { api, nodeName } = this.#options;
    const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${nodeName},spec.driver=${wanted.driver}` });
    const found: SliceFacts[] = [];
    const texts = new SharedTexts();
    await api.items(`${slicesPath}?${query.toString()}`, { signal, idleMs: listMsMax }, (text) => {
      const slice = projectSlice(parseListed(slicesPath, text), texts);
      if (slice !== undefined) found.push(slice);
    });
    return deviceIn(found, wanted);
  }

  async #synced(slices: Reflector<SliceFacts>, signal: AbortSignal): Promise<void> {
    const isDue = Promise.withResolvers<void>();
    const onAbort = (): void => isDue.resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    await Promise.race([slices.synced, isDue.promise]);
    signal.removeEventListener("abort", onAbort);
    const { isSynced, lastError = "the list is not complete" } = slices.health();
    if (isSynced) return;
    const message = `Cannot list the ResourceSlices of this node: ${lastError}`;
    throw new KubeError("api-unreachable", message, { cause: signal.reason });
  }

  #follow(): Reflector<SliceFacts> {
    const { api, clock, logger, nodeName, isUsed } = this.#options;
    const texts = new SharedTexts();
    const slices = new Reflector({
      api,
      clock,
      logger,
      resource: "resourceslices",
      path: slicesPath,
      query: { fieldSelector: `spec.nodeName=${nodeName}` },
      project: (object) => projectSlice(object, texts),
      isSame: sameSlice,
    });
    slices.start();
    this.#cancel?.();
    this.#cancel = clock.every(lookMs, () => {
      if (!isUsed()) void this.close();
    });
    return slices;
  }
}
