import type { KubeError } from "../../kube/client/api.ts";

/** What to try after an error of the API server. */
export function kubeRemedy({ status }: KubeError): string {
  if (status === undefined)
    return "kubectl get nodes must work here with the same kubeconfig and context; look at the server's address in it";
  if (status === 401) return "log in again: kubectl get nodes must work with the same kubeconfig and context";
  if (status === 403) return "kubectl auth can-i --list shows what this account may do; use another account";
  return "";
}
