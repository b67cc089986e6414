import { MultusNode } from "../node/multus-node.ts";
import { surroundings } from "../the-cluster.ts";
import type { Scene } from "../the-levee.ts";

type Settings = Readonly<Record<string, unknown>>;

/** What gives pods of the node more than one network: Multus or Levee. */
export interface MetaCni {
  readonly name: string;
  /** Serves with these keys of `daemon-config.json`, after a restart if it served before. */
  serve(settings: Settings): Promise<void>;
  /** Takes it off the node. */
  leave(): Promise<void>;
}

export function leveeMeta({ cluster, levee }: Scene): MetaCni {
  return {
    name: "Levee",
    serve: async (settings) => {
      await levee.stop();
      levee.configure(settings);
      await levee.start();
      await cluster.untilNodeReady();
    },
    leave: () => levee.uninstall(),
  };
}

export function multusMeta({ cluster }: Scene, version: string): MetaCni {
  const multus = new MultusNode(cluster, version, surroundings().multus[version] ?? "");
  return {
    name: `Multus ${version}`,
    serve: async (settings) => {
      await multus.stop();
      await multus.install(settings);
      await multus.start();
      await cluster.untilNodeReady();
    },
    leave: () => multus.stop(),
  };
}
