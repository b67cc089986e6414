import { copyFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Api } from "./api.ts";

/** Where every in-cluster client looks for its token, unless told otherwise. */
export const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The object that a token is bound to; the token ends with it. */
export interface BoundTo {
  readonly kind: "Node" | "Pod" | "Secret";
  readonly apiVersion: "v1";
  readonly name: string;
  readonly uid: string;
}

/** A token of a service account, as the kubelet would ask for it. */
export async function requestToken(
  api: Api,
  account: { readonly namespace: string; readonly name: string },
  boundTo: BoundTo,
): Promise<string> {
  const path = `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`;
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" };
  const answer = await api.create<{ status: { token: string } }>(path, {
    ...request,
    spec: { expirationSeconds: 3600, boundObjectRef: boundTo },
  });
  return answer.status.token;
}

/** Fills the folder that a pod would find mounted. The token is replaced in one step, as the kubelet does. */
export function writeServiceAccount(
  folder: string,
  account: { token: string; caFile: string; namespace: string },
): void {
  mkdirSync(folder, { recursive: true });
  copyFileSync(account.caFile, join(folder, "ca.crt"));
  writeFileSync(join(folder, "namespace"), account.namespace);
  writeFileSync(join(folder, ".token"), account.token, { mode: 0o600 });
  renameSync(join(folder, ".token"), join(folder, "token"));
}
