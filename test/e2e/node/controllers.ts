import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../machine.ts";
import { Program } from "../program.ts";
import { adminToken, apiUrl, type ApiServer } from "./api-server.ts";

const account = "/api/v1/namespaces/default/serviceaccounts/default";

/** kube-controller-manager and kube-scheduler: they make the pods of DaemonSets and Deployments and choose their nodes. */
export class Controllers {
  /** The administrator's access, for kubectl too. */
  readonly kubeconfig: string;
  readonly #server: ApiServer;
  readonly #manager: Program;
  readonly #scheduler: Program;
  #isWanted = false;

  constructor(place: Pick<Machine, "path" | "logFolder">, bin: string, server: ApiServer) {
    this.kubeconfig = place.path("admin.conf");
    this.#server = server;
    const options = ["--leader-elect=false", "--secure-port=0", `--kubeconfig=${this.kubeconfig}`];
    const tokens = [
      "--use-service-account-credentials",
      `--service-account-private-key-file=${place.path("pki/sa.key")}`,
      `--root-ca-file=${server.caFile}`,
    ];
    const program = (name: string, ...more: readonly string[]): Program =>
      new Program(place.logFolder, name, { command: [join(bin, name), ...options, ...more] });
    this.#manager = program("kube-controller-manager", ...tokens);
    this.#scheduler = program("kube-scheduler");
    writeFileSync(this.kubeconfig, adminAccess(server.caFile), { mode: 0o600 });
  }

  /** Those that do not run. They end by themselves when the API server is away for long. */
  async start(timeoutMs?: number): Promise<void> {
    this.#isWanted = true;
    for (const program of [this.#manager, this.#scheduler]) if (!program.isRunning) program.start();
    const isAtWork = async (): Promise<boolean> => (await this.#server.admin.find(account)) !== undefined;
    await this.#manager.untilUp("works", isAtWork, timeoutMs);
  }

  /** The same where they were started before. */
  async keepRunning(): Promise<void> {
    if (this.#isWanted) await this.start();
  }

  async stop(): Promise<void> {
    for (const program of [this.#scheduler, this.#manager]) await program.stop("SIGKILL");
  }
}

function adminAccess(caFile: string): string {
  return JSON.stringify({
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{ name: "e2e", cluster: { "server": apiUrl, "certificate-authority": caFile } }],
    "users": [{ name: "admin", user: { token: adminToken } }],
    "contexts": [{ name: "e2e", context: { cluster: "e2e", user: "admin" } }],
    "current-context": "e2e",
  });
}
