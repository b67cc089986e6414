import { existsSync } from "node:fs";
import { join } from "node:path";
import type { KubeAccess } from "../../kube/access/access.ts";
import { ApiClient } from "../../kube/client/api-client.ts";
import { inClusterAccess, serviceAccountFolder } from "../../kube/access/in-cluster.ts";
import { kubeconfigAccess } from "../../kube/access/kubeconfig.ts";
import { execCredential } from "./exec-credential.ts";
import { usageFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** The options `--kubeconfig` and `--context`. */
export interface KubeOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Only tests set this. */
  readonly serviceAccountFolder?: string;
}

type KubeShell = Pick<Shell, "clock" | "env" | "interrupted">;

/** The client of the cluster that kubectl would use here. Close it, or its connections keep the command alive. */
export async function openKubeApi(shell: KubeShell, options: KubeOptions): Promise<ApiClient> {
  return new ApiClient({ access: await kubeAccess(shell, options), clock: shell.clock });
}

/** `--kubeconfig`, else KUBECONFIG, else ~/.kube/config, else the pod's service account. */
export async function kubeAccess(shell: KubeShell, options: KubeOptions): Promise<KubeAccess> {
  const paths = kubeconfigPaths(shell, options.kubeconfig);
  const { clock } = shell;
  if (paths.length > 0)
    return await kubeconfigAccess({ paths, context: options.context, clock, runExec: execCredential(shell) });
  const host = shell.env["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = shell.env["KUBERNETES_SERVICE_PORT"] ?? "";
  if (host === "" || port === "" || options.context !== undefined)
    throw usageFailure(`Cannot find a cluster: ${missing(shell)}`, "--kubeconfig FILE");
  return inClusterAccess({ host, port, clock, folder: options.serviceAccountFolder ?? serviceAccountFolder });
}

/** As with kubectl, KUBECONFIG replaces ~/.kube/config even if none of its files exist. */
function missing({ env }: KubeShell): string {
  const listed = env["KUBECONFIG"] ?? "";
  return listed === ""
    ? "there is no --kubeconfig, no KUBECONFIG, no ~/.kube/config and no service account"
    : `KUBECONFIG names ${listed}, which does not exist, and there is no --kubeconfig and no service account`;
}

/** The file of --kubeconfig must exist; files of KUBECONFIG may be missing, as with kubectl. */
function kubeconfigPaths(shell: KubeShell, given: string | undefined): readonly string[] {
  if (given !== undefined) return [given];
  const listed = (shell.env["KUBECONFIG"] ?? "").split(":").filter((path) => path !== "");
  if (listed.length > 0) return listed.filter((path) => existsSync(path));
  const home = shell.env["HOME"] ?? "";
  const own = join(home, ".kube/config");
  return home !== "" && existsSync(own) ? [own] : [];
}
