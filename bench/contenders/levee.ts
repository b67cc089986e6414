import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { programCaller } from "../../src/cli/storm/program-caller.ts";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { ask } from "../../test/lab/ask.ts";
import { until } from "../../test/e2e/until.ts";
import type { Ground } from "../ground/ground.ts";
import { KeptDaemon } from "../ground/kept-daemon.ts";
import { slowSyncs } from "../ground/slow-syncs.ts";
import type { Contender, RunningNode, StartOptions } from "./contender.ts";

export const leveeSocketDir = "/run/levee";

/** Levee as its DaemonSet runs it, less the container: the compiled daemon, and the shim in the runtime's cgroup. */
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
    const group = await ground.group(options.limits);
    const daemon = new KeptDaemon({
      command: [join(ground.bin, "levee"), "daemon", "--config", config],
      env: { PATH: process.env["PATH"] ?? "", BUN_JSC_useJIT: "0", ...ground.source.env },
      group,
      before: slowSyncs(options.syncDelayMs),
      isUp: () => ask<NodeAnswer>(leveeSocketDir, { ask: "node" }).then(Boolean, () => false),
    });
    await daemon.start();
    const conf = join(confFolder, "00-levee.conf");
    await until("Levee has made its conf", () => existsSync(conf) || undefined);
    const caller = await programCaller({
      clock: systemClock,
      program: join(ground.bin, "levee-shim"),
      conf: readFileSync(conf, "utf8"),
      cniPath: ground.bin,
      env: { PATH: process.env["PATH"] ?? "" },
      folder: ground.runFolder("levee-calls"),
    });
    return {
      caller,
      group,
      daemon,
      async stop() {
        await daemon.stop();
        await group.remove();
      },
    };
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
      ...ground.source.settings,
    };
  }
}
