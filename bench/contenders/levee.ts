import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { ask } from "../../test/lab/ask.ts";
import type { Ground } from "../ground/ground.ts";
import { startNode } from "../ground/node-daemon.ts";
import type { Contender, RunningNode, StartOptions } from "./contender.ts";

/** How a Levee is set up. Two that run at once have names of their own. */
interface Kind {
  readonly name: string;
  readonly label: string;
  readonly builtinPlugins: "off" | readonly string[];
}

/**
 * Levee with its built-in plugins. They are named, because the peers' programs are built without the marks of upstream's
 * releases, and `auto` would take them for a site's own.
 */
export const builtIn: Kind = { name: "levee", label: "Levee", builtinPlugins: ["bridge", "host-local"] };
/** The same, but every plugin is a program. */
export const withPrograms: Kind = { name: "levee-programs", label: "Levee, built-ins off", builtinPlugins: "off" };

/** Levee as its DaemonSet runs it, without the container: the compiled daemon, and the shim in the runtime's cgroup. */
export class Levee implements Contender {
  readonly label: string;
  readonly socketDir: string;
  readonly #ground: Ground;
  readonly #kind: Kind;

  constructor(ground: Ground, kind: Kind) {
    this.#ground = ground;
    this.#kind = kind;
    this.label = kind.label;
    this.socketDir = join("/run", kind.name);
  }

  async start(options: StartOptions): Promise<RunningNode> {
    const ground = this.#ground;
    const { name } = this.#kind;
    const confFolder = ground.emptyFolder(`${name}.out`);
    const config = join(ground.emptyFolder(name), "daemon-config.json");
    writeFileSync(config, JSON.stringify(this.#settings(confFolder)));
    const conf = join(confFolder, "00-levee.conf");
    return startNode(
      ground,
      {
        name,
        command: [join(ground.bin, "levee"), "daemon", "--config", config],
        env: ground.source.env,
        shim: join(ground.bin, "levee-shim"),
        conf,
        isUp: async () => existsSync(conf) && (await answers(this.socketDir)),
      },
      options,
    );
  }

  #settings(confFolder: string): Readonly<Record<string, unknown>> {
    const ground = this.#ground;
    const { name, builtinPlugins } = this.#kind;
    return {
      logLevel: "verbose",
      builtinPlugins,
      socketDir: this.socketDir,
      stateDir: ground.emptyFolder(`${name}.state`),
      cniDir: ground.emptyFolder(`${name}.cache`),
      confDir: ground.emptyFolder(`${name}.confdir`),
      binDir: ground.bin,
      cniConfigDir: confFolder,
      multusAutoconfigDir: ground.primaryFolder,
      multusConfigFile: "auto",
      runtimeCniDir: ground.emptyFolder(`${name}.runtime`),
      // The plugins make the bridges, as they do below Multus.
      uplinkGate: 0,
      ...ground.source.settings,
    };
  }
}

/** Whether a daemon answers. */
function answers(socketDir: string): Promise<boolean> {
  return ask<NodeAnswer>(socketDir, { ask: "node" }).then(Boolean, () => false);
}
