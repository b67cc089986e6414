/** A bug as a small patch: one text of one file is replaced. The simulator must find it. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The rule that it breaks. */
  readonly rule: string;
  /** The first seed whose story finds it. */
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
    seed: 8,
  },
  {
    name: "the plugins run before the intent is written",
    file: "src/daemon/attach/add.ts",
    from: "    await attachRecord.begin(this.#request, record);\n",
    to: "    void attachRecord.begin(this.#request, record).catch(() => undefined);\n",
    rule: "intent-synced",
    seed: 1,
  },
  {
    name: "the end of a call wakes nobody in the line",
    file: "src/admission/permit-books.ts",
    from: "    this.#keep(permit, 0);\n    this.#freed();",
    to: "    this.#keep(permit, 0);",
    rule: "prompt",
    seed: 1,
  },
  {
    name: "a turn is never given back",
    file: "src/daemon/serve/turns.ts",
    from: "    else this.#active.delete(containerId);\n    this.#grant();",
    to: "    this.#grant();",
    rule: "pods-settle",
    seed: 1,
  },
  {
    name: "a refused watch is asked for again without a pause",
    file: "src/kube/watch/reflector.ts",
    from: "backOffMs(this.#options.clock, this.#failures, { ...pause, afterMs })",
    to: "0 * backOffMs(this.#options.clock, this.#failures, { ...pause, afterMs })",
    rule: "api-load",
    seed: 1,
  },
  {
    name: "recovery leaves the unfinished ADDs of the last daemon",
    file: "src/daemon/undo/recovery.ts",
    from: "      if (!isWanted)\n",
    to: "      if (!isWanted && record.delAttempts > 0)\n",
    rule: "journal-agrees",
    seed: 1,
  },
  {
    name: "what a failed undo leaves is not written down",
    file: "src/daemon/undo/undo.ts",
    from: '    const failures = await this.chains(record, { ...place, verb: "UNDO" });\n    await this.#needs.leaks.settle(record, place.now, failures);\n',
    to: '    const failures = await this.chains(record, { ...place, verb: "UNDO" });\n',
    rule: "nothing-left",
    seed: 1,
  },
  {
    name: "a DEL that fails succeeds, and the rest is forgotten",
    file: "src/daemon/undo/undo.ts",
    from: "    if (failures.length > 0 && record.delAttempts + 1 < this.#needs.config.delAttemptsMax) {",
    to: "    if (failures.length > 0) return await this.#forget(record);\n    if (failures.length > 0 && record.delAttempts + 1 < this.#needs.config.delAttemptsMax) {",
    rule: "nothing-left",
    seed: 1,
  },
  {
    name: "a record is forgotten before its plugins have undone it",
    file: "src/daemon/undo/undo.ts",
    from: '    const failures = await this.chains(record, { ...place, verb: "DEL" });\n',
    to: '    await this.#forget(record);\n    const failures = await this.chains(record, { ...place, verb: "DEL" });\n',
    rule: "nothing-left",
    seed: 1,
  },
  {
    name: "nobody waits for the processes of a lost shim",
    file: "src/daemon/undo/suspects.ts",
    from: "      if (!isSame(suspect, hand.identity)) await prove(hand, suspect);\n",
    to: "",
    rule: "nothing-left",
    seed: 1,
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
    name: "critical pods go last",
    file: "src/admission/line/line.ts",
    from: "    return starving === undefined ? classes :",
    to: "    return starving === undefined ? classes.toReversed() :",
    rule: "not-overtaken",
    seed: 1,
  },
  {
    name: "a DEL from while the daemon was away is dropped before it is done",
    file: "src/daemon/undo/offline-folder.ts",
    from: "    this.#handed.add(record.name);\n    this.#onDelete(request);",
    to: "    await this.drop(record.name);",
    rule: "nothing-left",
    seed: 1,
  },
  {
    name: "a shim that was killed during its ADD leaves its work",
    file: "src/daemon/attach/attach-record.ts",
    from: "    recovery.lost(record.token, call.hand.identity);\n    return error;",
    to: "    return error;",
    rule: "journal-agrees",
    seed: 1,
  },
  {
    name: "the incomplete last line of the journal is not cut off",
    file: "src/state/journal/journal-open.ts",
    from: "    if (journal.tornBytes > 0) await cutTorn(parts.log, journal, options.logger);\n",
    to: "    if (journal.tornBytes > 0) await parts.log.continueBehind(journal.fileBytes, true);\n",
    rule: "nothing-left",
    seed: 1,
  },
];
