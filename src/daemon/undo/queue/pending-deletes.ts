import type { Clock } from "../../../base/clock.ts";
import { podArgs, type CniArgs } from "../../../cni/cni-args.ts";
import type { AttachmentKey } from "../../../state/journal/attachment-record.ts";
import type { OfflineDelete } from "../offline-folder.ts";

/** An unknown container may have had any network. */
const anyNetwork = "*";

/**
 * The deletes from while the daemon was away, by pod and by network. Thousands of ADDs may wait for them, so they wait for
 * a promise that they share, and no question walks through all deletes.
 */
export class PendingDeletes {
  readonly #byName = new Map<string, Pending>();
  readonly #byAttachment = new Map<string, OfflineDelete>();
  readonly #pods = new Map<string, Group>();
  /** Only deletes that were never tried. */
  readonly #networks = new Map<string, Group>();

  get size(): number {
    return this.#byName.size;
  }

  /** `networks` is undefined when they are not known. ADDs of other pods do not wait for it after `untilMs`. */
  add(request: OfflineDelete, networks: readonly string[] | undefined, untilMs: number): void {
    const pod = podKey(request.args);
    const pending = { request, pod, networks: networks ?? [anyNetwork] };
    this.#byName.set(request.name, pending);
    this.#byAttachment.set(attachmentKey(request), request);
    if (pod !== undefined) join(this.#pods, pod, request.name).untilMs = Number.POSITIVE_INFINITY;
    for (const network of pending.networks) join(this.#networks, network, request.name).untilMs = untilMs;
  }

  /** It was tried once, so ADDs of other pods wait for it no longer. */
  tried(name: string): void {
    for (const network of this.#byName.get(name)?.networks ?? []) leave(this.#networks, network, name);
  }

  done(name: string): void {
    const pending = this.#byName.get(name);
    if (pending === undefined) return;
    this.tried(name);
    this.#byName.delete(name);
    this.#byAttachment.delete(attachmentKey(pending.request));
    if (pending.pod !== undefined) leave(this.#pods, pending.pod, name);
  }

  find(attachment: AttachmentKey): OfflineDelete | undefined {
    return this.#byAttachment.get(attachmentKey(attachment));
  }

  /** Those of one pod. */
  ofPod(args: CniArgs): Group | undefined {
    const pod = podKey(args);
    return pod === undefined ? undefined : this.#pods.get(pod);
  }

  /** Those that were never tried and may hold something of these networks. */
  onNetworks(networks: readonly string[]): readonly Group[] {
    if (this.#networks.size === 0) return [];
    return [anyNetwork, ...networks].flatMap((network) => this.#networks.get(network) ?? []);
  }

  /** Wakes the ADDs that wait for the pod of this delete; without a name, all of them. */
  wake(name?: string): void {
    if (name === undefined) for (const group of this.#pods.values()) group.wake();
    const pod = name === undefined ? undefined : this.#byName.get(name)?.pod;
    if (pod !== undefined) this.#pods.get(pod)?.wake();
  }
}

/** Deletes that an ADD waits for together. */
export class Group {
  /** Nothing waits for it longer, so that a hung delete delays the first ADDs and not all. */
  untilMs = 0;
  readonly #names = new Set<string>();
  readonly #empty = Promise.withResolvers<void>();
  #woken = Promise.withResolvers<void>();

  add(name: string): void {
    this.#names.add(name);
  }

  /** Whether it was the last one. */
  drop(name: string): boolean {
    this.#names.delete(name);
    if (this.#names.size === 0) this.#empty.resolve();
    return this.#names.size === 0;
  }

  wake(): void {
    this.#woken.resolve();
    this.#woken = Promise.withResolvers<void>();
  }

  /** Resolves when all are done, when there is a reason to look again, or at that time; rejects with the signal's reason. */
  changed(clock: Clock, endsMs: number, signal: AbortSignal): Promise<void> {
    return firstOf([this.#empty.promise, this.#woken.promise], { clock, endsMs, signal });
  }

  /** Resolves when all are done, or at that time; rejects with the signal's reason. */
  async ended(clock: Clock, endsMs: number, signal: AbortSignal): Promise<void> {
    const lastMs = Math.min(endsMs, this.untilMs);
    if (clock.monotonicMs() < lastMs) await firstOf([this.#empty.promise], { clock, endsMs: lastMs, signal });
  }
}

async function firstOf(
  events: readonly Promise<void>[],
  { clock, endsMs, signal }: { clock: Clock; endsMs: number; signal: AbortSignal },
): Promise<void> {
  const over = new AbortController();
  const onGone = (): void => over.abort(signal.reason);
  signal.addEventListener("abort", onGone, { once: true });
  if (signal.aborted) onGone();
  const limit = clock.sleep(Math.max(0, endsMs - clock.monotonicMs()), over.signal);
  try {
    await Promise.race([...events, limit]);
  } finally {
    signal.removeEventListener("abort", onGone);
    // Stops the timer.
    limit.catch(() => undefined);
    over.abort(signal.reason);
  }
}

interface Pending {
  readonly request: OfflineDelete;
  readonly pod: string | undefined;
  readonly networks: readonly string[];
}

function join(groups: Map<string, Group>, key: string, name: string): Group {
  const group = groups.get(key) ?? new Group();
  groups.set(key, group);
  group.add(name);
  return group;
}

function leave(groups: Map<string, Group>, key: string, name: string): void {
  if (groups.get(key)?.drop(name) === true) groups.delete(key);
}

function attachmentKey({ containerId, ifname }: AttachmentKey): string {
  return `${containerId}/${ifname}`;
}

function podKey(args: CniArgs): string | undefined {
  const { namespace = "", name } = podArgs(args);
  return name === undefined ? undefined : `${namespace}/${name}`;
}
