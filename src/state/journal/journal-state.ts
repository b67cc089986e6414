import type { ContainerId, Namespace, PodName } from "../../base/brand.ts";
import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { AttachmentKey, AttachmentRecord } from "./attachment-record.ts";
import type { Genesis, JournalEntry } from "./journal-entry.ts";
import { LeakLedger } from "./leak-ledger.ts";
import { changed } from "./record-change.ts";

/** Repeated DELs come within minutes, and a node removes fewer containers in that time. */
const settledMax = 1_024;

/**
 * The journal in memory, which serves all reads. It changes only by `apply`, with the same entries at run time and at
 * replay, so both end in the same state.
 */
export class JournalState {
  readonly #byToken = new Map<string, Held>();
  readonly #tokensByContainer = new Map<ContainerId, Tokens>();
  /** By inode, because every ADD looks for other records in its namespace. */
  readonly #tokensByNetns = new Map<bigint, Tokens>();
  /** Recently removed containers, newest last. */
  readonly #settled = new Set<ContainerId>();
  readonly #leakBytes = new Map<string, number>();
  readonly #leaks = new LeakLedger();
  #genesis: Genesis | undefined;
  #liveBytes = 0;
  #orphans = 0;

  get genesis(): Genesis | undefined {
    return this.#genesis === undefined ? undefined : { ...this.#genesis, leaksDropped: this.#leaks.dropped };
  }

  get leaks(): LeakLedger {
    return this.#leaks;
  }

  /** Bytes of the log that describe the current state. The rest is dead. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Entries without a record, because its intent was damaged. */
  get orphans(): number {
    return this.#orphans;
  }

  get size(): number {
    return this.#byToken.size;
  }

  *records(): Generator<AttachmentRecord> {
    for (const held of this.#byToken.values()) yield held.record;
  }

  byToken(token: string): AttachmentRecord | undefined {
    return this.#byToken.get(token)?.record;
  }

  byKey(key: AttachmentKey): AttachmentRecord | undefined {
    return listOf(this.#tokensByContainer.get(key.containerId))
      .map((token) => this.byToken(token))
      .find((record) => record?.ifname === key.ifname);
  }

  forPod(namespace: Namespace, name: PodName): readonly AttachmentRecord[] {
    const found: AttachmentRecord[] = [];
    // Every new pod asks, so do not build a list of all records each time.
    for (const { record } of this.#byToken.values())
      if (record.pod.name === name && record.pod.namespace === namespace) found.push(record);
    return found;
  }

  /** As they began; a rewrite keeps the order. The kernel reuses the numbers of dead namespaces. */
  inNetns(identity: NetnsIdentity): readonly AttachmentRecord[] {
    return listOf(this.#tokensByNetns.get(identity.inode))
      .flatMap((token) => this.byToken(token) ?? [])
      .filter(({ netns }) => sameNetns(netns.identity, identity));
  }

  has(containerId: ContainerId): boolean {
    return this.#tokensByContainer.has(containerId);
  }

  containers(): IterableIterator<ContainerId> {
    return this.#tokensByContainer.keys();
  }

  isSettled(containerId: ContainerId): boolean {
    return this.#settled.has(containerId);
  }

  /** Remembers that nothing is left to do for a container, so that its next DEL is quick. */
  settle(containerId: ContainerId): void {
    this.#settled.delete(containerId);
    this.#settled.add(containerId);
    if (this.#settled.size <= settledMax) return;
    for (const oldest of this.#settled) {
      this.#settled.delete(oldest);
      return;
    }
  }

  /** The entries that rebuild this state in an empty journal, without the genesis. */
  *snapshot(): Generator<JournalEntry> {
    for (const record of this.records()) yield { kind: "begin", record };
    for (const leak of this.#leaks.all()) yield { kind: "leak", leak };
  }

  /** Corrects the live bytes after a rewrite from the snapshot. */
  recount(entry: JournalEntry, bytes: number): void {
    if (entry.kind === "leak") this.#countLeak(entry.leak.id, bytes);
    const held = entry.kind === "begin" ? this.#byToken.get(entry.record.token) : undefined;
    if (held === undefined) return;
    this.#liveBytes += bytes - held.bytes;
    this.#byToken.set(held.record.token, { record: held.record, bytes });
  }

  /** Applies one entry whose line is `bytes` long. Never throws; an entry without a record counts as an orphan. */
  apply(entry: JournalEntry, bytes: number): void {
    switch (entry.kind) {
      case "genesis":
        this.#isBorn(entry.genesis);
        return;
      case "imported":
        this.#imported();
        return;
      case "begin":
        this.#begin(entry.record, bytes);
        return;
      case "removed":
        this.#removed(entry);
        return;
      case "leak":
      case "leak-retried":
      case "leak-resolved":
        this.#applyLeak(entry, bytes);
        return;
      default:
        this.#change(entry.token, bytes, (record) => changed(record, entry));
    }
  }

  #isBorn(genesis: Genesis): void {
    if (this.#genesis !== undefined) return;
    this.#genesis = genesis;
    this.#leaks.countDropped(genesis.leaksDropped);
  }

  #imported(): void {
    if (this.#genesis !== undefined) this.#genesis = { ...this.#genesis, importDone: true };
  }

  #removed({ token, containerId }: { readonly token: string; readonly containerId: ContainerId }): void {
    this.#remove(token);
    if (!this.has(containerId)) this.settle(containerId);
  }

  #begin(record: AttachmentRecord, bytes: number): void {
    // A second record under one key means that the removal of the first was lost.
    const older = this.byKey(record);
    if (older !== undefined) this.#remove(older.token);
    this.#remove(record.token);
    this.#byToken.set(record.token, { record, bytes });
    addTo(this.#tokensByContainer, record.containerId, record.token);
    if (record.netns.identity !== undefined) addTo(this.#tokensByNetns, record.netns.identity.inode, record.token);
    this.#settled.delete(record.containerId);
    this.#liveBytes += bytes;
  }

  #change(token: string, bytes: number, change: (record: AttachmentRecord) => AttachmentRecord): void {
    const held = this.#byToken.get(token);
    if (held === undefined) {
      this.#orphans += 1;
      return;
    }
    this.#byToken.set(token, { record: change(held.record), bytes: held.bytes + bytes });
    this.#liveBytes += bytes;
  }

  #remove(token: string): void {
    const held = this.#byToken.get(token);
    if (held === undefined) return;
    const { record } = held;
    this.#byToken.delete(token);
    removeFrom(this.#tokensByContainer, record.containerId, token);
    if (record.netns.identity !== undefined) removeFrom(this.#tokensByNetns, record.netns.identity.inode, token);
    this.#liveBytes -= held.bytes;
  }

  #applyLeak(entry: LeakChange, bytes: number): void {
    switch (entry.kind) {
      case "leak": {
        const dropped = this.#leaks.add(entry.leak);
        if (dropped !== undefined) this.#countLeak(dropped.id, undefined);
        this.#countLeak(entry.leak.id, bytes);
        return;
      }
      case "leak-retried":
        // The bytes of retries count as dead.
        this.#leaks.retried(entry.id, entry.retry);
        return;
      case "leak-resolved":
        this.#leaks.resolve(entry.id);
        this.#countLeak(entry.id, undefined);
    }
  }

  #countLeak(id: string, bytes: number | undefined): void {
    this.#liveBytes += (bytes ?? 0) - (this.#leakBytes.get(id) ?? 0);
    if (bytes === undefined) this.#leakBytes.delete(id);
    else this.#leakBytes.set(id, bytes);
  }
}

/** Nearly always one token, for which a list would double the memory. */
type Tokens = string | readonly string[];

function listOf(tokens: Tokens | undefined): readonly string[] {
  if (tokens === undefined) return [];
  return typeof tokens === "string" ? [tokens] : tokens;
}

function addTo<Key>(lists: Map<Key, Tokens>, key: Key, token: string): void {
  const known = lists.get(key);
  lists.set(key, known === undefined ? token : [...listOf(known), token]);
}

function removeFrom<Key>(lists: Map<Key, Tokens>, key: Key, token: string): void {
  const left = listOf(lists.get(key)).filter((one) => one !== token);
  if (left.length === 0) lists.delete(key);
  else lists.set(key, left);
}

interface Held {
  readonly record: AttachmentRecord;
  readonly bytes: number;
}

type LeakChange = Extract<JournalEntry, { kind: "leak" | "leak-retried" | "leak-resolved" }>;
