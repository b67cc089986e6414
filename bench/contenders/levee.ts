import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { ask } from "../../test/lab/ask.ts";
import type { Ground } from "../ground/ground.ts";
import { startNode } from "../ground/node-daemon.ts";
import type { Contender, RunningNode, StartOptions } from "./contender.ts";

export const leveeSocketDir = "/run/levee";

/** Levee as its DaemonSet runs it, without the container: the compiled daemon, and the shim in the runtime's cgroup. */
export class Levee implements Contender {
  readonly label = "Levee";
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  async start(options: StartOptions): Promise<RunningNode> {
    const ground = this.#ground;
    const confFolder = ground.emptyFolder("levee.out");
    const config = join(ground.emptyFolder("levee"), "daemon-config.json");
    writeFileSync(config, JSON.stringify(this.#settings(confFolder)));
    const conf = join(confFolder, "00-levee.conf");
    return startNode(
      ground,
      {
        name: "levee",
        command: [join(ground.bin, "levee"), "daemon", "--config", config],
        env: ground.source.env,
        shim: join(ground.bin, "levee-shim"),
        conf,
        isUp: async () => existsSync(conf) && (await answers()),
      },
      options,
    );
  }

  #settings(confFolder: string): Readonly<Record<string, unknown>> {
    const ground = this.#ground;
    return {
      logLevel: "verbose",
      socketDir: leveeSocketDir,
      stateDir: ground.emptyFolder("levee.state"),
      cniDir: ground.emptyFolder("levee.cache"),
      confDir: ground.emptyFolder("levee.confdir"),
      binDir: ground.bin,
      cniConfigDir: confFolder,
      multusAutoconfigDir: ground.primaryFolder,
      multusConfigFile: "auto",
      runtimeCniDir: ground.emptyFolder("levee.runtime"),
      // The plugins make the bridges, as they do below Multus.
      uplinkGate: 0,
      ...ground.source.settings,
    };
  }
}

/** Whether a daemon answers. */
function answers(): Promise<boolean> {
  return ask<NodeAnswer>(leveeSocketDir, { ask: "node" }).then(Boolean, () => false);
}
