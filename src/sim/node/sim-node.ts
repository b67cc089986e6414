import type { Bind, PeerEvents } from "../../daemon/socket/server-socket.ts";
import type { Seeded } from "../time/seeded.ts";
import { SimFiles } from "../disk/sim-files.ts";
import type { DiskUser } from "../disk/sim-disk.ts";
import type { SimMachine } from "../machine/sim-machine.ts";
import type { SimProcess } from "../time/sim-process.ts";
import type { SimTime } from "../time/sim-time.ts";
import type { SimListener } from "./sim-event.ts";
import { SimKernel } from "./sim-kernel.ts";
import { SimPlugins } from "./sim-plugins.ts";
import { SimWire, type FromDaemon } from "./sim-wire.ts";

interface NodeNeeds {
  readonly name: string;
  readonly time: SimTime;
  readonly seeded: Seeded;
  readonly say: SimListener;
  /** Without it, CPU and memory cost nothing. */
  readonly machine?: SimMachine | undefined;
}

/** One simulated node without its daemon: kernel, files, plugins, and the place of the daemon's socket. */
export class SimNode {
  readonly name: string;
  readonly say: SimListener;
  readonly time: SimTime;
  readonly seeded: Seeded;
  readonly kernel: SimKernel;
  readonly machine: SimMachine | undefined;
  readonly plugins: SimPlugins;
  readonly files: SimFiles;
  readonly stateDir: string;
  /** The folder of libcni, which the daemon looks into through the resident hand. */
  readonly runtimeDir: string;
  readonly #wires = new Set<SimWire>();
  #daemon: SimProcess | undefined;
  #events: PeerEvents | undefined;

  constructor({ name, time, seeded, say, machine }: NodeNeeds) {
    this.name = name;
    this.machine = machine;
    this.time = time;
    this.say = say;
    this.seeded = seeded.fork(name);
    this.kernel = new SimKernel(time, this.seeded.fork("kernel"));
    const forPlugins = this.seeded.fork("plugins");
    this.plugins = new SimPlugins({ node: name, time, seeded: forPlugins, kernel: this.kernel, say, machine });
    this.files = new SimFiles(time, this.seeded.fork("files"));
    this.files.makeFolder(`/${name}`);
    this.stateDir = `/${name}/state`;
    this.runtimeDir = `/${name}/cni`;
  }

  /** The files, for the daemon that runs now. */
  get diskUser(): DiskUser | undefined {
    return this.#daemon === undefined ? undefined : { files: this.files, process: this.#daemon };
  }

  daemonStarts(process: SimProcess): void {
    this.#daemon = process;
    this.machine?.daemonStarts();
  }

  /** Killed or ended: its connections break, and nobody listens. */
  daemonEnds(): void {
    this.#daemon?.kill();
    this.machine?.daemonEnds();
    this.#daemon = undefined;
    this.#events = undefined;
    for (const wire of this.#wires) wire.lose();
    this.#wires.clear();
  }

  /** The door of the daemon's socket. */
  readonly bind: Bind = (_path, { events }) => {
    this.#events = events;
    return Promise.resolve({
      stop: () => {
        if (this.#events === events) this.#events = undefined;
        return Promise.resolve();
      },
    });
  };

  /** Undefined when no daemon listens. */
  connect(peer: SimProcess, take: (from: FromDaemon) => void): SimWire | undefined {
    if (this.#events === undefined || this.#daemon === undefined) return undefined;
    const attached = (): number => this.kernel.attached;
    const wire = new SimWire({ daemon: this.#daemon, peer, machine: this.machine, attached }, this.#events, take);
    for (const other of this.#wires) if (!other.isOpen) this.#wires.delete(other);
    this.#wires.add(wire);
    return wire;
  }
}
