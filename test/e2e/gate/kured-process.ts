import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PolicyServer } from "../policy-server.ts";
import { Program } from "../program.ts";
import { writeServiceAccount } from "../service-account.ts";

interface KuredOptions {
  readonly program: string;
  readonly server: PolicyServer;
  readonly folder: string;
  readonly name: string;
  readonly node: string;
  /** How it sees the gate. `mark`: the file that asks for a reboot. */
  readonly door: (mark: string) => readonly string[];
}

/** kured looks in this folder only, as every pod does. It is made in a mount namespace of its own. */
const account = "/run/secrets/kubernetes.io/serviceaccount";
const inPlace = `mount -t tmpfs none /run && mkdir -p ${account} && cp "$ACCOUNT"/* ${account}/ && exec "$@"`;

/** kured itself, as its DaemonSet's pod runs it, less the container. Its reboot is a file. */
export class KuredProcess {
  readonly program: Program;
  readonly #folder: string;

  constructor({ program, server, folder, name, node, door }: KuredOptions) {
    this.#folder = join(folder, name);
    mkdirSync(this.#folder, { recursive: true });
    const accountFolder = join(this.#folder, "account");
    const token = server.must(["-n", "kube-system", "create", "token", "kured", "--duration=1h"]).trim();
    writeServiceAccount(accountFolder, { token, caFile: server.caFile, namespace: "kube-system" });
    const { hostname, port } = new URL(server.url);
    const args = [
      ...["--node-id", node, "--ds-name", name, "--period", "2s", "--metrics-host", "127.0.0.1", "--metrics-port", "0"],
      ...["--reboot-command", `touch ${this.#reboot}`, ...door(this.#mark)],
    ];
    this.program = new Program(folder, name, {
      command: ["unshare", "--mount", "sh", "-c", inPlace, "sh", program, ...args],
      env: { ACCOUNT: accountFolder, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    });
  }

  /** From now on the node asks for a reboot, as far as kured sees. */
  mark(): void {
    writeFileSync(this.#mark, "");
  }

  get hasRebooted(): boolean {
    return existsSync(this.#reboot);
  }

  get #mark(): string {
    return join(this.#folder, "reboot-required");
  }

  get #reboot(): string {
    return join(this.#folder, "rebooted");
  }
}
