import { Api } from "../api.ts";
import { flannelLeftovers, FlannelNode, type FlannelFolders } from "../beside/flannel-node.ts";
import { ofLevee, ofMachine } from "../leftovers.ts";
import { Machine } from "../machine.ts";
import { fetchFrom, podInterfaces, type PodInterface } from "../networks.ts";
import { adminToken, apiUrl } from "../node/api-server.ts";
import { ClusterNode, type NodePrograms } from "../node/cluster-node.ts";
import { LeveeNode } from "../node/levee-node.ts";

interface Joining {
  readonly folder: string;
  readonly logFolder: string;
  readonly programs: NodePrograms;
  readonly caFile: string;
}

interface Parts {
  readonly node: ClusterNode;
  readonly levee: LeveeNode;
  flannel?: FlannelNode;
}

let made: Parts | undefined;

/** What tests do on a second node. */
export const deeds = {
  async join({ folder, logFolder, programs, caFile }: Joining): Promise<void> {
    const machine = Machine.make(folder, logFolder);
    const api = new Api(apiUrl, caFile, () => adminToken);
    const node = await ClusterNode.join(machine, programs, { api, caFile });
    made = { node, levee: new LeveeNode(node) };
  },

  /** The node may have no primary network yet. */
  async startLevee(): Promise<void> {
    const { levee } = parts();
    await levee.install();
    levee.startPrograms();
    await levee.untilAnswering();
  },

  async installFlannel(folders: FlannelFolders): Promise<void> {
    const own = parts();
    own.flannel = new FlannelNode(own.node, folders);
    await own.flannel.install();
    await own.levee.untilServing();
  },

  async startFlannel(): Promise<void> {
    await parts().flannel?.start();
  },

  async podInterfaces(pod: string): Promise<readonly PodInterface[]> {
    return podInterfaces(pod);
  },

  fetchFrom(pod: string, address: string): Promise<string> {
    return fetchFrom(pod, address);
  },

  async leftovers(): Promise<readonly string[]> {
    return [...(await ofLevee(parts().levee)), ...ofMachine(), ...flannelLeftovers()];
  },
};

export type Deeds = typeof deeds;

function parts(): Parts {
  if (made === undefined) throw new Error("This process has not joined the cluster yet");
  return made;
}
