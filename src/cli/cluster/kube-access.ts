import { existsSync } from "node:fs";
import { join } from "node:path";
import type { KubeAccess } from "../../kube/access/access.ts";
import { ApiClient } from "../../kube/client/api-client.ts";
import { inClusterAccess, serviceAccountFolder } from "../../kube/access/in-cluster.ts";
import { kubeconfigAccess } from "../../kube/access/kubeconfig.ts";
import { execCredential } from "./exec-credential.ts";
import { usageFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** What `--kubeconfig` and `--context` said. */
export interface KubeOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Only tests have it elsewhere. */
  readonly serviceAccountFolder?: string;
}

type KubeShell = Pick<Shell, "clock" | "env" | "interrupted">;

/** The client of the cluster that kubectl would talk to here. Close it, or its connections keep the command alive. */
export async function openKubeApi(shell: KubeShell, options: KubeOptions): Promise<ApiClient> {
  return new ApiClient({ access: await kubeAccess(shell, options), clock: shell.clock });
}

/** `--kubeconfig`, else KUBECONFIG, else the person's own file, else the pod's service account. */
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

/** As kubectl, KUBECONFIG stands for the person's own file even if none of it is there. */
function missing({ env }: KubeShell): string {
  const listed = env["KUBECONFIG"] ?? "";
  return listed === ""
    ? "there is no --kubeconfig, no KUBECONFIG, no ~/.kube/config and no service account"
    : `KUBECONFIG names ${listed}, where no file is, and there is no --kubeconfig and no service account`;
}

/** A file that was asked for by name must be there; those of KUBECONFIG may be missing, as with kubectl. */
function kubeconfigPaths(shell: KubeShell, given: string | undefined): readonly string[] {
  if (given !== undefined) return [given];
  const listed = (shell.env["KUBECONFIG"] ?? "").split(":").filter((path) => path !== "");
  if (listed.length > 0) return listed.filter((path) => existsSync(path));
  const home = shell.env["HOME"] ?? "";
  const own = join(home, ".kube/config");
  return home !== "" && existsSync(own) ? [own] : [];
}
