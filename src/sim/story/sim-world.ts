import type { Cancel } from "../../base/clock.ts";
import { Seeded } from "../time/seeded.ts";
import { SimApi } from "../api/sim-api.ts";
import { SimDisk } from "../disk/sim-disk.ts";
import type { MachineModel } from "../machine/machine-model.ts";
import { SimMachine, type ContainerLimits } from "../machine/sim-machine.ts";
import { MultusShim } from "../multus/multus-shim.ts";
import { SimMultus } from "../multus/sim-multus.ts";
import { SimDaemon, type NodeDaemon } from "../node/sim-daemon.ts";
import type { SimCall } from "../node/sim-call.ts";
import type { SimEvent, SimListener } from "../node/sim-event.ts";
import { SimNode } from "../node/sim-node.ts";
import { SimResident } from "../node/sim-resident.ts";
import { SimRuntime } from "../node/sim-runtime.ts";
import { SimTime } from "../time/sim-time.ts";
import { bootMs } from "./story.ts";

/** One node with everything that runs on it. */
export interface NodeInWorld {
  readonly node: SimNode;
  readonly runtime: SimRuntime;
  readonly daemon: NodeDaemon;
  resident: SimResident;
  /** Takes back the boot that is due. */
  cancelBoot: Cancel;
}

interface WorldOptions {
  readonly seed: number;
  readonly nodes: readonly string[];
  /** Networks besides the default one. */
  readonly networks: readonly string[];
  readonly defaultNetwork: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly onEvent: (nowMs: number, event: SimEvent) => void;
  /** Without it, CPU and memory cost nothing. */
  readonly hardware?: Hardware | undefined;
  /** 1 without it. */
  readonly stepsPerTurn?: number;
}

/** What a node has, what runs on it, and how fast it is asked. */
interface Hardware {
  readonly model: MachineModel;
  readonly limits: ContainerLimits;
  /** Multus instead of Levee. */
  readonly multus?: { readonly connectionLimit: number | undefined } | undefined;
  readonly seeMsMax: number;
  /** The pauses before the daemon starts again, instead of the kubelet's. */
  readonly restartMs?: readonly number[] | undefined;
}

/** A real server keeps the changes of minutes, which are more than a storm makes. */
const longHistory = 20_000;

/** How long the kubelet takes to start the resident hand again. */
const residentMs = 2_000;

/** A simulated cluster. The real code of the daemon runs in it; all around that code is a model. */
export class SimWorld {
  readonly time: SimTime;
  readonly api: SimApi;
  readonly disk: SimDisk;
  readonly nodes = new Map<string, NodeInWorld>();

  constructor(options: WorldOptions) {
    const { seed, nodes, networks, onEvent, hardware } = options;
    this.time = new SimTime(undefined, options.stepsPerTurn);
    const seeded = new Seeded(seed).fork("world");
    const say: SimListener = (event) => onEvent(this.time.nowMs, event);
    this.api = new SimApi(this.time, say, hardware === undefined ? undefined : longHistory);
    this.disk = new SimDisk((name) => this.nodes.get(name)?.node.diskUser);
    for (const network of networks) this.api.put("network-attachment-definitions", networkObject(network));
    for (const name of nodes) {
      const machine = hardware === undefined ? undefined : new SimMachine(this.time, machineNeeds(hardware));
      const node = new SimNode({ name, time: this.time, seeded, say, machine });
      const { runtime, daemon } = this.#equip(node, options);
      this.nodes.set(name, { node, runtime, daemon, resident: new SimResident(node), cancelBoot: () => undefined });
    }
  }

  #equip(node: SimNode, { defaultNetwork, settings, hardware }: WorldOptions): Pick<NodeInWorld, "runtime" | "daemon"> {
    const { api } = this;
    const habits = {
      config: runtimeConfig(defaultNetwork),
      ...(hardware === undefined ? {} : { seeMsMax: hardware.seeMsMax }),
    };
    if (hardware?.multus === undefined || node.machine === undefined) {
      const restartMs = hardware?.restartMs;
      const daemon = new SimDaemon({ node, api, settings, ...(restartMs === undefined ? {} : { restartMs }) });
      return { runtime: new SimRuntime(node, api, habits), daemon };
    }
    const daemon = new SimMultus({ node, api, machine: node.machine, ...hardware.multus });
    const makeShim = (call: SimCall): MultusShim => new MultusShim(node, daemon, call);
    return { runtime: new SimRuntime(node, api, { ...habits, makeShim }), daemon };
  }

  start(): void {
    for (const { daemon, resident } of this.nodes.values()) {
      daemon.start();
      resident.start();
    }
  }

  /** Everything in memory is gone, and the disk keeps what it kept. The node comes back by itself. */
  cutPower(name: string): void {
    const found = this.nodes.get(name);
    if (found === undefined) return;
    const { node, runtime, daemon } = found;
    daemon.cutPower();
    runtime.cutPower();
    node.kernel.boot();
    node.files.cutPower();
    found.cancelBoot();
    found.cancelBoot = this.time.after(bootMs, () => {
      daemon.start();
      found.resident = new SimResident(node);
      found.resident.start();
      runtime.boot();
    });
  }

  /** The resident hand is killed, and its pod starts again. */
  killResident(name: string): void {
    const found = this.nodes.get(name);
    if (found === undefined) return;
    found.resident.kill();
    const { bootId } = found.node.kernel;
    this.time.after(residentMs, () => {
      if (found.node.kernel.bootId !== bootId) return;
      found.resident = new SimResident(found.node);
      found.resident.start();
    });
  }
}

function machineNeeds({ model, limits, multus }: Hardware) {
  return { model, limits, kind: multus === undefined ? ("levee" as const) : ("multus" as const) };
}

function pluginConfig(name: string, type: string): Readonly<Record<string, unknown>> {
  return { cniVersion: "1.0.0", name, type, ipam: { type: "host-local", subnet: "10.1.0.0/22" } };
}

function networkObject(name: string) {
  const config = JSON.stringify({ ...pluginConfig(name, "macvlan"), master: "eth0" });
  return { metadata: { namespace: "default", name, uid: `uid-${name}`, annotations: {} }, spec: { config } };
}

/** The configuration that the runtime gives to every call. */
function runtimeConfig(defaultNetwork: string): string {
  return JSON.stringify({
    cniVersion: "1.0.0",
    name: "levee",
    type: "levee-shim",
    delegates: [pluginConfig(defaultNetwork, "bridge")],
  });
}
