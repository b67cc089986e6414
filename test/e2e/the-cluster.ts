import { Cluster } from "./cluster.ts";
import { say } from "./say.ts";

/** The programs that scripts/e2e.ts found and built, and the folder to work in. */
export interface Surroundings {
  readonly folder: string;
  readonly kubernetes: string;
  readonly plugins: string;
  readonly busybox: string;
  /** Folder of a newer containerd than the distribution's. */
  readonly containerd: string;
  /** Folders of Multus' programs by version. */
  readonly multus: Readonly<Record<string, string>>;
}

export function surroundings(): Surroundings {
  const told = process.env["LEVEE_E2E"];
  if (told === undefined) throw new Error("Start the end-to-end tests with: npm run e2e");
  return JSON.parse(told) as Surroundings;
}

let started: Promise<Cluster> | undefined;

/** One cluster for all scenarios: it takes a while to start. */
export function theCluster(): Promise<Cluster> {
  if (started === undefined) {
    say("the cluster starts");
    started = Cluster.start(surroundings());
  }
  return started;
}

export async function stopTheCluster(): Promise<void> {
  await (await started)?.stop();
}
