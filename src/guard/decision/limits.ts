/** The limits of the CRD (`deploy/crd/decision.yaml`); the API server refuses a Decision beyond them. */

/** 1,000 targets are 138 KB in etcd. */
export const targetsPerStepMax = 1_000;
/** Together as many pods as may be removed in a namespace within a day. */
export const removeStepsMax = 2;
/**
 * For all targets as JSON: 2,000 with names of usual length. etcd takes 1.5 MiB, and with names of full length the status
 * must name each target once more (tested in test/e2e/guard-proposals.test.ts).
 */
export const targetsBytesMax = 300_000;
export const stepsMax = 32;
export const evidenceMax = 32;
/** More edges than a person reads. */
export const chainEdgesMax = 64;
export const notesMax = 16;
export const stuckWorkloadsMax = 50;
/** Items that a person is asked about in one step. */
export const askedMax = 100;
/** Jobs that are suspended with their CronJob. */
export const jobsMax = 200;
export const checksMax = 64;
/** One text for people: a title, a note, a reason. */
export const textCharsMax = 1_024;
export const summaryCharsMax = 2_048;
/** With the pauses between changes, those of two hours. */
export const revisionsMax = 16;
/** The status repeats it beside other words. */
export const revisionCharsMax = 400;
/** The phases of a Decision that people pause and resume all day. */
export const auditMax = 64;
export const auditCharsMax = 512;
export const kubectlLinesMax = 8;
/** A line that removes pods contains its whole loop. */
export const kubectlCharsMax = 2_048;
