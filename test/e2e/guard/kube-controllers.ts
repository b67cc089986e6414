import { existsSync } from "node:fs";
import { join } from "node:path";
import { peerFolder } from "../../peers/peer.ts";
import type { PolicyServer } from "../policy-server.ts";
import { Program } from "../program.ts";
import { until } from "../until.ts";

const bin = join(peerFolder("k8s", "v1.34.5"), "bin");
const program = join(bin, "kube-controller-manager");

/** Says what is missing, or nothing. */
export function missingForKubeControllers(): string | undefined {
  return existsSync(program) ? undefined : `${program} is not built (npm run e2e builds it, with Go)`;
}

/**
 * The real kube-controller-manager, each controller with its own service account as on a cluster: Deployments, DaemonSets
 * and Jobs make their pods, Services get their endpoints, nodes without a heartbeat are tainted, garbage is collected.
 */
export async function startKubeControllers(server: PolicyServer, logFolder: string): Promise<Program> {
  const manager = new Program(logFolder, "kube-controller-manager", {
    command: [
      program,
      `--kubeconfig=${await server.kubeconfig()}`,
      `--service-account-private-key-file=${server.accountKeyFile}`,
      ...["--use-service-account-credentials", "--leader-elect=false", "--secure-port=0"],
      // For a rollout of 300 pods; 20 requests a second are its habit.
      ...["--kube-api-qps=200", "--kube-api-burst=300"],
    ],
  });
  manager.start();
  // The account of the first namespace is made by it.
  await until("kube-controller-manager works", () =>
    server.kubectl(["-n", "default", "get", "serviceaccount", "default"]).status === 0 ? true : undefined,
  );
  return manager;
}

/** The real kube-scheduler. */
export async function startKubeScheduler(server: PolicyServer, logFolder: string): Promise<Program> {
  const scheduler = new Program(logFolder, "kube-scheduler", {
    command: [
      join(bin, "kube-scheduler"),
      `--kubeconfig=${await server.kubeconfig()}`,
      ...["--leader-elect=false", "--secure-port=0"],
    ],
  });
  scheduler.start();
  return scheduler;
}
