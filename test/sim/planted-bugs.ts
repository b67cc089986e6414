/** A bug as a small patch: one text of one file is replaced. The simulator must find it. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The rule that it breaks. */
  readonly rule: string;
  /** A seed whose story finds it, at most 500. */
  readonly seed: number;
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: "an intent is not synced before its plugins run",
    file: "src/state/journal/durability.ts",
    from: '"begin": { sync: true,',
    to: '"begin": { sync: false,',
    rule: "intent-synced",
    seed: 1,
  },
  {
    name: "a daemon goes on with an intent that its killed predecessor had not synced",
    file: "src/state/journal/journal-open.ts",
    from: "    await secure(parts.log, options.logger);\n    return true;",
    to: "    return true;",
    rule: "intent-synced",
    seed: 170,
  },
  {
    name: "the plugins run before the intent is written",
    file: "src/daemon/attach/add.ts",
    from: "    await attachRecord.begin(this.#request, record);\n",
    to: "    void attachRecord.begin(this.#request, record).catch(() => undefined);\n",
    rule: "intent-synced",
    seed: 9,
  },
  {
    name: "the end of a turn wakes nobody, as nobody gets the turn back",
    file: "src/daemon/serve/turns.ts",
    from: "    else this.#active.delete(containerId);\n    this.#grant();",
    to: "    this.#grant();",
    rule: "nothing-left",
    seed: 1,
  },
  {
    name: "a refused watch is asked for again without a pause",
    file: "src/kube/watch/reflector.ts",
    from: "backOffMs(this.#options.clock, this.#failures, pause)",
    to: "0 * backOffMs(this.#options.clock, this.#failures, pause)",
    rule: "api-load",
    seed: 18,
  },
  {
    name: "recovery leaves the unfinished ADDs of the last daemon",
    file: "src/daemon/undo/recovery.ts",
    from: "      if (!isWanted)\n",
    to: "      if (!isWanted && record.delAttempts > 0)\n",
    rule: "journal-agrees",
    seed: 45,
  },
  {
    name: "what a failed undo leaves is not written down",
    file: "src/daemon/undo/undo.ts",
    from: '    const failures = await this.chains(record, { ...place, verb: "UNDO" });\n    await this.#needs.leaks.settle(record, place.now, failures);\n',
    to: '    const failures = await this.chains(record, { ...place, verb: "UNDO" });\n',
    rule: "nothing-left",
    seed: 26,
  },
  {
    name: "a DEL that fails succeeds, and the rest is forgotten",
    file: "src/daemon/undo/undo.ts",
    from: "    if (failures.length > 0 && record.delAttempts + 1 < this.#needs.config.delAttemptsMax) {",
    to: "    if (failures.length > 0) return await this.#forget(record);\n    if (failures.length > 0 && record.delAttempts + 1 < this.#needs.config.delAttemptsMax) {",
    rule: "nothing-left",
    seed: 6,
  },
  {
    name: "a record is forgotten before its plugins have undone it",
    file: "src/daemon/undo/undo.ts",
    from: '    const failures = await this.chains(record, { ...place, verb: "DEL" });\n',
    to: '    await this.#forget(record);\n    const failures = await this.chains(record, { ...place, verb: "DEL" });\n',
    rule: "nothing-left",
    seed: 6,
  },
  {
    name: "the name of a new journal is not synced",
    file: "src/base/atomic-file.ts",
    from: "  await syncFolder(dirname(path));\n",
    to: "",
    rule: "intent-synced",
    seed: 1,
  },
  {
    name: "DEL undoes only one network of a pod",
    file: "src/daemon/undo/undo-chains.ts",
    from: "  const due = chainsDue(record, order.last ?? [], bootId);",
    to: "  const due = chainsDue(record, order.last ?? [], bootId).slice(0, 1);",
    rule: "nothing-left",
    seed: 1,
  },
  {
    name: "the end of an attachment is not written to the journal",
    file: "src/daemon/undo/undo.ts",
    from: "    await journal.removed(record.token);\n",
    to: "",
    rule: "journal-agrees",
    seed: 1,
  },
  {
    name: "the acknowledgement of a result is not written to the journal",
    file: "src/daemon/attach/attach-record.ts",
    from: "      await journal.acknowledge(record.token);\n",
    to: "",
    rule: "journal-agrees",
    seed: 1,
  },
  {
    name: "recovery keeps what a lost shim left in a namespace that lives",
    file: "src/daemon/undo/recover-item.ts",
    from: '    if (!isUnfinished || isUnwanted || netns === "") return false;',
    to: '    if (!isUnfinished || isUnwanted || netns !== "") return false;',
    rule: "journal-agrees",
    seed: 45,
  },
];
