import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import type { PolicyServer } from "../policy-server.ts";
import { Program } from "../program.ts";
import { writeServiceAccount } from "../service-account.ts";

const dist = join(import.meta.dir, "../../../dist");
export const shim = join(dist, "levee-shim");

interface GateNodeOptions {
  readonly server: PolicyServer;
  readonly folder: string;
  readonly node: string;
  /** The daemon's pod, to which its token is bound. */
  readonly pod: string;
  readonly metricsPort: number;
}

export interface Checked {
  readonly code: number | null;
  readonly line: string;
}

/** The daemon and the hand of one node, in a root folder of their own that has the node's mark. */
export class GateNode {
  readonly daemon: Program;
  readonly hand: Program;
  /** On a real node in /run/levee. */
  readonly ticket: string;
  readonly #port: number;

  constructor({ server, folder, node, pod, metricsPort }: GateNodeOptions) {
    const at = (name: string): string => join(folder, node, name);
    const root = at("root");
    for (const path of [join(root, "run/levee"), join(root, "proc"), at("state"), at("net.d")])
      mkdirSync(path, { recursive: true });
    writeFileSync(join(root, "run/reboot-required"), "");
    this.#port = metricsPort;
    this.ticket = join(root, "run/levee/gate");
    const token = server.tokenOf({ namespace: "levee-system", name: pod, account: "levee" });
    writeServiceAccount(at("account"), { token, caFile: server.caFile, namespace: "levee-system" });
    const config = {
      stateDir: at("state"),
      socketDir: join(root, "run/levee"),
      cniConfigDir: at("net.d"),
      cniDir: at("cache"),
      metricsPort,
      gateFile: this.ticket,
      gateLookMs: 1_000,
    };
    writeFileSync(at("daemon-config.json"), JSON.stringify(config));
    const { hostname, port } = new URL(server.url);
    this.daemon = new Program(folder, `daemon-${node}`, {
      command: [join(dist, "levee"), "daemon", "--config", at("daemon-config.json")],
      env: {
        KUBERNETES_SERVICE_HOST: hostname,
        KUBERNETES_SERVICE_PORT: port,
        LEVEE_SERVICE_ACCOUNT_DIR: at("account"),
        MULTUS_NODE_NAME: node,
      },
    });
    const inPlace = `mount --rbind /proc ${root}/proc && exec "$@"`;
    this.hand = new Program(folder, `hand-${node}`, {
      command: ["unshare", "--mount", "sh", "-c", inPlace, "sh", shim, "--resident", "--root", root],
    });
  }

  async start(): Promise<void> {
    this.daemon.start();
    this.hand.start();
    await this.daemon.untilUp("knows the node's mark", async () =>
      (await (await fetch(`http://127.0.0.1:${this.#port}/loadz`)).text()).includes("levee_node_reboot_required{"),
    );
  }

  async stop(): Promise<void> {
    await this.hand.stop("SIGKILL");
    await this.daemon.stop("SIGKILL");
  }

  /** Door (b), as a script on the node asks. */
  check(): Checked {
    const { status, stdout } = spawnSync(shim, ["gate", "check", "--file", this.ticket], { encoding: "utf8" });
    return { code: status, line: stdout.trim() };
  }
}
