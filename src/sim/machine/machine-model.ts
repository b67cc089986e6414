/** What things cost on a node. `levee sim calibrate` measures these and writes them to a file. */
export interface MachineModel {
  readonly cores: number;
  /** What the runtime's one thread needs to start a program: calls begin one after the other. */
  readonly spawnCpuMs: number;
  /** From the runtime's call until the shim is connected. */
  readonly shimCpuMs: number;
  /** One run of a network's plugins. */
  readonly pluginCpuMs: number;
  /** What each interface that the network has on the node adds to that: the kernel looks through them. */
  readonly pluginCpuPerPodUs: number;
  /**
   * What a new interface costs the kernel a second later, for each one that the network has: it announces itself then, and
   * the bridge takes that to every port.
   */
  readonly floodCpuPerPodUs: number;
  /** The same run's time without CPU: the kernel's grace periods, mostly. */
  readonly pluginWaitMs: number;
  readonly syncMsMax: number;
  readonly daemon: DaemonModel;
  readonly multus: MultusModel;
}

interface DaemonModel {
  /** From the start of the process until it can serve. */
  readonly startCpuMs: number;
  /** One message of a shim, with its share of everything that follows from it. */
  readonly messageCpuMs: number;
  /** One message to a shim. Those that answer are in the above; heartbeats go to every call that waits. */
  readonly heartbeatCpuUs: number;
  /** What each attached pod adds to a message on other threads, which collect what is no longer needed. */
  readonly collectCpuPerPodUs: number;
  /** Beside fewer pods than this there is nothing worth collecting. */
  readonly collectPodsMin: number;
  /** Anonymous memory of an idle daemon. */
  readonly baseMib: number;
  /** Of each call that waits or runs. */
  readonly callKib: number;
  /** Program text that it needs in memory to go on. */
  readonly textMib: number;
  /** How much longer everything takes when all of the text has been pushed out. */
  readonly thrashFactor: number;
}

/** A thick Multus: the plugins are processes in its cgroup. */
interface MultusModel {
  readonly startCpuMs: number;
  /** As above, for its own shim. */
  readonly spawnCpuMs: number;
  readonly shimCpuMs: number;
  /** The shim asks so often whether the daemon is there. */
  readonly pollMs: number;
  /** What Multus itself does for one request. */
  readonly requestCpuMs: number;
  /** How many of its threads compute at once. */
  readonly threads: number;
  readonly pluginCpuMs: number;
  /** As above: its plugins are always programs. */
  readonly pluginCpuPerPodUs: number;
  readonly baseMib: number;
  readonly requestKib: number;
  /** Anonymous memory of one plugin and its address plugin. */
  readonly pluginMib: number;
  /** Text of Multus and the plugins that is in use all the time. */
  readonly textMib: number;
  /** The kernel kills when less than this is left for text: it then finds nothing more to reclaim. */
  readonly textMibMin: number;
  /** How much longer everything takes when all of the text has been pushed out. */
  readonly thrashFactor: number;
}
