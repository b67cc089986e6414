import { LeveeError } from "../../base/errors.ts";
import { KubeError, type KubeApi } from "../../kube/client/api.ts";
import { CommandFailure, exitCode, interruptedFailure, toFailure } from "../failure.ts";
import { openKubeApi, type KubeOptions } from "./kube-access.ts";
import type { Shell } from "../shell.ts";

/** Does something with the cluster. That it cannot be reached, or refuses this user, has an exit status of its own. */
export async function withCluster<T>(
  shell: Shell,
  options: KubeOptions,
  work: (api: KubeApi) => Promise<T>,
): Promise<T> {
  let api: Awaited<ReturnType<typeof openKubeApi>> | undefined;
  try {
    api = await openKubeApi(shell, options);
    return await work(api);
  } catch (thrown) {
    // Whoever knows better what was interrupted has said so.
    if (shell.interrupted.aborted && !(thrown instanceof CommandFailure))
      throw interruptedFailure("asking the cluster");
    throw outOfReach(thrown) ?? thrown;
  } finally {
    api?.close();
  }
}

const kubeconfigRemedy =
  "kubectl config get-contexts shows what there is; choose with --kubeconfig FILE, --context NAME";

/** No way there, no login, or no right; undefined for every other error. */
export function outOfReach(thrown: unknown): CommandFailure | undefined {
  if (!(thrown instanceof LeveeError)) return undefined;
  const isRefused = thrown instanceof KubeError && thrown.status !== undefined;
  if (isRefused && ![401, 403].includes(thrown.status ?? 0)) return undefined;
  const { code, message, remedy: known } = toFailure(thrown);
  const remedy = code === "config-invalid" && known === "" ? kubeconfigRemedy : known;
  return new CommandFailure(code, message, { remedy, exitCode: exitCode.unreachable, cause: thrown });
}
