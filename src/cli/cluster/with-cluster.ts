import { LeveeError } from "../../base/errors.ts";
import { KubeError, type FollowableApi } from "../../kube/client/api.ts";
import { CommandFailure, exitCode, interruptedFailure, toFailure } from "../failure.ts";
import { openKubeApi, type KubeOptions } from "./kube-access.ts";
import type { Shell } from "../shell.ts";

/** Runs `work` with the cluster's API. A cluster that cannot be reached, or refuses this user, has its own exit status. */
export async function withCluster<T>(
  shell: Shell,
  options: KubeOptions,
  work: (api: FollowableApi) => Promise<T>,
): Promise<T> {
  let api: Awaited<ReturnType<typeof openKubeApi>> | undefined;
  try {
    api = await openKubeApi(shell, options);
    return await work(api);
  } catch (thrown) {
    // A CommandFailure already says what was interrupted.
    if (shell.interrupted.aborted && !(thrown instanceof CommandFailure))
      throw interruptedFailure("asking the cluster");
    throw outOfReach(thrown) ?? thrown;
  } finally {
    api?.close();
  }
}

const kubeconfigRemedy =
  "kubectl config get-contexts lists the contexts; choose with --kubeconfig FILE, --context NAME";

/** The failure for no connection, no login or no right; undefined for every other error. */
export function outOfReach(thrown: unknown): CommandFailure | undefined {
  if (!(thrown instanceof LeveeError)) return undefined;
  const isRefused = thrown instanceof KubeError && thrown.status !== undefined;
  if (isRefused && ![401, 403].includes(thrown.status ?? 0)) return undefined;
  const { code, message, remedy: known } = toFailure(thrown);
  const remedy = code === "config-invalid" && known === "" ? kubeconfigRemedy : known;
  return new CommandFailure(code, message, { remedy, exitCode: exitCode.unreachable, cause: thrown });
}
