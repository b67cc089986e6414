import type { PeerEvents } from "../../daemon/socket/server-socket.ts";
import type { PeerSocket, ServerConnection } from "../../daemon/socket/server-connection.ts";
import { FrameReader } from "../../wire/frame-reader.ts";
import { encodeFrame, type Frame } from "../../wire/frame.ts";
import type { SimMachine } from "../machine/sim-machine.ts";
import type { SimProcess } from "../time/sim-process.ts";

/** A frame, or the end of the connection. */
export type FromDaemon = { readonly frame: Frame } | "lost";

const heartbeat = encodeFrame("HEARTBEAT", []);
/** How long bytes are under way on a unix socket, at most. */
const travelMsMax = 0.3;

interface WireEnds {
  readonly daemon: SimProcess;
  readonly peer: SimProcess;
  readonly machine?: SimMachine | undefined;
  /** How many pods are attached now. */
  readonly attached: () => number;
}

/** One connection of a hand with the daemon. Bytes arrive in order, each after a moment. */
export class SimWire {
  readonly #daemon: SimProcess;
  readonly #peer: SimProcess;
  /** Undefined where CPU and memory cost nothing. */
  readonly #machine: SimMachine | undefined;
  readonly #attached: () => number;
  readonly #events: PeerEvents;
  readonly #socket: PeerSocket;
  readonly #reader = new FrameReader();
  readonly #take: (from: FromDaemon) => void;
  #isOpen = true;
  #toDaemonMs = 0;
  #toPeerMs = 0;
  #isGreeted = false;

  constructor(ends: WireEnds, events: PeerEvents, take: (from: FromDaemon) => void) {
    this.#daemon = ends.daemon;
    this.#peer = ends.peer;
    this.#machine = ends.machine;
    this.#attached = ends.attached;
    if (this.#machine !== undefined) this.#machine.calls += 1;
    this.#events = events;
    this.#take = take;
    this.#socket = this.#makeSocket();
    events.open(this.#socket);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** From the hand to the daemon. */
  send(bytes: Uint8Array): void {
    if (!this.#isOpen) return;
    this.#toDaemon(() => this.#events.data(this.#socket, bytes));
  }

  /** The hand hangs up, or is killed. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#toDaemon(() => {
      this.#leave();
      this.#events.end(this.#socket);
      this.#events.close(this.#socket);
    });
  }

  /** The daemon is gone. */
  lose(): void {
    this.#end();
  }

  #makeSocket(): PeerSocket {
    return {
      data: undefined as ServerConnection | undefined,
      write: (bytes) => {
        const copy = Buffer.from(bytes);
        if (this.#machine !== undefined && copy.equals(heartbeat)) this.#machine.beatHeart();
        this.#toPeer(() => this.#receive(copy));
        return bytes.length;
      },
      end: () => this.#end(),
      terminate: () => this.#end(),
    };
  }

  #receive(bytes: Uint8Array): void {
    for (const frame of this.#reader.push(bytes)) if (this.#isOpen) this.#take({ frame });
  }

  #end(): void {
    this.#toPeer(() => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      this.#take("lost");
      if (!this.#daemon.isAlive) return;
      this.#leave();
      this.#events.close(this.#socket);
    });
  }

  #toDaemon(arrive: () => void): void {
    this.#toDaemonMs = this.#after(this.#toDaemonMs);
    this.#daemon.soon(this.#toDaemonMs - this.#daemon.monotonicMs(), () => {
      if (this.#machine?.daemon === undefined) return arrive();
      this.#machine.readMessage({ isGreeting: !this.#isGreeted, attached: this.#attached() }, arrive);
      this.#isGreeted = true;
    });
  }

  /** The daemon has forgotten the connection. One that is killed forgets them all. */
  #leave(): void {
    if (this.#machine !== undefined) this.#machine.calls -= 1;
  }

  #toPeer(arrive: () => void): void {
    this.#toPeerMs = this.#after(this.#toPeerMs);
    this.#peer.soon(this.#toPeerMs - this.#peer.monotonicMs(), arrive);
  }

  #after(lastMs: number): number {
    return Math.max(lastMs, this.#peer.monotonicMs() + this.#peer.random() * travelMsMax);
  }
}
