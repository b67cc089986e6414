import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
  /** How it sees the gate. */
  readonly door: KuredDoor;
}

export type KuredDoor = (files: DoorFiles) => readonly string[];

interface DoorFiles {
  /** Asks for a reboot. */
  readonly mark: string;
  /** For what a sentinel command says: kured logs nothing of one that ends with 1. */
  readonly said: string;
}

/** kured looks in this folder only, as every pod does. */
const account = "/run/secrets/kubernetes.io/serviceaccount";
const inPod = `mount -t tmpfs none /run && mkdir -p ${account} && cp "$ACCOUNT"/* ${account}/ && exec "$@"`;
/**
 * kured runs its commands in the mount namespace of process 1. That of this machine may not be entered everywhere, and
 * nothing of a test should run there, so a shell is process 1: the host. kured's pod is a mount namespace within it.
 */
const asHost = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "sh", "-c"];
const thenPod = `unshare --mount sh -c '${inPod}' sh "$@" & wait $!`;

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
      ...["--reboot-command", `touch ${this.#reboot}`, ...door({ mark: this.#mark, said: this.#said })],
    ];
    this.program = new Program(folder, name, {
      command: [...asHost, thenPod, "sh", program, ...args],
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

  /** What its sentinel command has said. */
  get said(): string {
    return existsSync(this.#said) ? readFileSync(this.#said, "utf8") : "";
  }

  get #said(): string {
    return join(this.#folder, "said");
  }

  get #mark(): string {
    return join(this.#folder, "reboot-required");
  }

  get #reboot(): string {
    return join(this.#folder, "rebooted");
  }
}
