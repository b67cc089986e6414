import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { multus, type MultusVersion } from "../../test/peers/multus.ts";
import type { Ground } from "../ground/ground.ts";
import { startNode } from "../ground/node-daemon.ts";
import type { Contender, RunningNode, StartOptions } from "./contender.ts";

const socketDir = "/run/multus/";

export interface MultusKind {
  readonly version: MultusVersion;
  /** Requests served at once. v4.3.0 has the setting, which is off by default. */
  readonly connectionLimit?: number;
}

export const multusKinds: readonly MultusKind[] = [
  { version: "v4.2.2" },
  { version: "v4.3.0" },
  { version: "v4.3.0", connectionLimit: 8 },
];

export function multusLabel({ version, connectionLimit }: MultusKind): string {
  return `Multus ${version}${connectionLimit === undefined ? "" : `, connectionLimit ${connectionLimit}`}`;
}

/** A release of Multus as its thick DaemonSet runs it, without the container. */
export class Multus implements Contender {
  readonly label: string;
  readonly #ground: Ground;
  readonly #kind: MultusKind;
  readonly #programs: { readonly daemon: string; readonly shim: string };

  private constructor(ground: Ground, kind: MultusKind, bin: string) {
    this.#ground = ground;
    this.#kind = kind;
    this.label = multusLabel(kind);
    this.#programs = {
      daemon: ground.disk.install(join(bin, "multus-daemon"), `multus-daemon-${kind.version}`),
      shim: ground.disk.install(join(bin, "multus-shim"), `multus-shim-${kind.version}`),
    };
  }

  /** Gives the reason if it is not available here. */
  static async find(ground: Ground, kind: MultusKind): Promise<Multus | { readonly missing: string }> {
    if (ground.source.label !== "a real API server") return { missing: "Multus needs an API server" };
    const peer = await multus(kind.version);
    return "missing" in peer ? peer : new Multus(ground, kind, peer.folder);
  }

  async start(options: StartOptions): Promise<RunningNode> {
    const ground = this.#ground;
    const confFolder = ground.emptyFolder("multus.out");
    const conf = join(confFolder, "00-multus.conf");
    const config = join(ground.emptyFolder("multus"), "daemon-config.json");
    writeFileSync(config, JSON.stringify(this.#settings(confFolder)));
    return startNode(
      ground,
      {
        name: `multus-${this.#kind.version}`,
        command: [this.#programs.daemon, "-config", config],
        env: ground.source.env,
        shim: this.#programs.shim,
        conf,
        isUp: () => Promise.resolve(existsSync(conf) && existsSync(join(socketDir, "multus.sock"))),
      },
      options,
    );
  }

  #settings(confFolder: string): Readonly<Record<string, unknown>> {
    const ground = this.#ground;
    const { connectionLimit } = this.#kind;
    return {
      cniVersion: "1.0.0",
      logLevel: "verbose",
      logToStderr: true,
      multusConfigFile: "auto",
      multusAutoconfigDir: ground.primaryFolder,
      cniConfigDir: confFolder,
      socketDir,
      daemonSocketDir: socketDir,
      cniDir: ground.emptyFolder("multus.cache"),
      confDir: ground.emptyFolder("multus.confdir"),
      binDir: ground.bin,
      ...(connectionLimit === undefined ? {} : { connectionLimit }),
    };
  }
}
