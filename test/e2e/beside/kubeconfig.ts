import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { apiUrl } from "../node/api-server.ts";
import type { ClusterNode } from "../node/cluster-node.ts";
import { requestToken } from "../service-account.ts";

interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** Writes a kubeconfig with a token of the account, as installers of CNI plugins leave it on the node. */
export async function writeKubeconfig(node: ClusterNode, account: Account, file: string): Promise<void> {
  const token = await requestToken(node.api, account, await node.nodeReference());
  const authority = readFileSync(node.caFile).toString("base64");
  const config = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{ name: "local", cluster: { "server": apiUrl, "certificate-authority-data": authority } }],
    "users": [{ name: account.name, user: { token } }],
    "contexts": [{ name: "local", context: { cluster: "local", user: account.name, namespace: account.namespace } }],
    "current-context": "local",
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(config, undefined, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
