/** The limits that the definition of the Decision (`deploy/crd/decision.yaml`) repeats: the API server refuses what breaks them. */

/** 1,000 targets are 138 KB in etcd. */
export const targetsPerStepMax = 1_000;
/** 4,000 targets are about 550 KB; etcd takes 1.5 MiB, and the file for git and the status need room too. */
export const removeStepsMax = 4;
export const stepsMax = 16;
export const evidenceMax = 128;
export const symptomsMax = 128;
export const chainEdgesMax = 256;
export const stuckWorkloadsMax = 60;
export const endpointsMax = 128;
export const applicationsMax = 512;
export const questionCharsMax = 1_024;
export const summaryCharsMax = 1_024;
export const symptomCharsMax = 1_024;
/** What a step, a precondition or a check is, in one sentence. */
export const whatCharsMax = 512;
export const kubectlLinesMax = 64;
export const kubectlCharsMax = 2_048;
/** Of a file that is locked in git. */
export const contentBytesMax = 262_144;
