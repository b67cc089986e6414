/** If more files than this fail, a busy machine is not the reason. */
const filesMax = 3;
/**
 * A seed has one run, byte for byte, so one that breaks a rule and then does not is a defect, too, which a second run would
 * forgive.
 */
const ofOneRun: ReadonlySet<string> = new Set(["test/sim/seeds.test.ts", "test/sim/planted.test.ts"]);

/** The failed files that run once more: all or none, as the outcome of the second run counts for all of them. */
export function filesToRunAgain(failed: readonly string[]): readonly string[] {
  return failed.length > filesMax || failed.some((file) => ofOneRun.has(file)) ? [] : failed;
}
