import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Api } from "../api.ts";
import { nodeAddress, nodeName, type Machine } from "../machine.ts";
import { Program } from "../program.ts";
import { etcdUrl } from "./etcd.ts";
import { kubeletTokenOf, nodes, thisNode } from "./which-node.ts";

/** Where this node finds the server. */
export const apiHost = thisNode.apiHost;
export const apiPort = "6443";
export const apiUrl = `https://${apiHost}:${apiPort}`;
export const adminToken = "admin-token";
export const kubeletToken = kubeletTokenOf(nodeName);

export interface ApiServer {
  readonly program: Program;
  /** The API with every right, for the tests themselves. */
  readonly admin: Api;
  readonly caFile: string;
}

/**
 * kube-apiserver with RBAC on. Only the tests and the kubelet have rights that the manifests do not give. Its certificate
 * is for `address` too, at which the node sees it.
 */
export async function startApiServer(
  machine: Pick<Machine, "path" | "logFolder">,
  bin: string,
  address: string = nodeAddress,
): Promise<ApiServer> {
  const pki = machine.path("pki");
  mkdirSync(pki, { recursive: true });
  writeAccountKeys(machine);
  const kubelets = nodes.map(({ name }) => `${kubeletTokenOf(name)},system:node:${name},${name},"system:nodes"\n`);
  const tokens = [`${adminToken},admin,admin,"system:masters"\n`, ...kubelets];
  writeFileSync(join(pki, "tokens.csv"), tokens.join(""), { mode: 0o600 });
  const program = new Program(machine.logFolder, "kube-apiserver", {
    command: [
      join(bin, "kube-apiserver"),
      `--etcd-servers=${etcdUrl}`,
      `--bind-address=${apiHost}`,
      `--secure-port=${apiPort}`,
      `--advertise-address=${address}`,
      `--cert-dir=${pki}`,
      `--token-auth-file=${join(pki, "tokens.csv")}`,
      "--authorization-mode=Node,RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${join(pki, "sa.pub")}`,
      `--service-account-signing-key-file=${join(pki, "sa.key")}`,
      "--service-cluster-ip-range=10.0.0.0/24",
      "--endpoint-reconciler-type=none",
      "--allow-privileged=true",
    ],
  });
  // The server makes its own certificate on first start, with the authority that signed it behind it.
  const caFile = join(pki, "apiserver.crt");
  const admin = new Api(apiUrl, caFile, () => adminToken);
  program.start();
  await untilReady(program, admin);
  return { program, admin, caFile };
}

export function untilReady(program: Program, admin: Api): Promise<void> {
  return program.untilUp("is ready", () => admin.isReady(), 90_000);
}

/** The keys that tokens of service accounts are signed with, and checked with from the server's next start on. */
export function writeAccountKeys(machine: Pick<Machine, "path">): void {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  writeFileSync(machine.path("pki/sa.key"), privateKey, { mode: 0o600 });
  writeFileSync(machine.path("pki/sa.pub"), publicKey);
}
