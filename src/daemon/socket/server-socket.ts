import type { Clock } from "../../base/clock.ts";
import type { PeerSocket, ServerConnection } from "./server-connection.ts";
import type { SocketPlace } from "./socket-place.ts";

/** What happens to a peer's socket. One set for all sockets. */
export interface PeerEvents {
  open(socket: PeerSocket): void;
  data(socket: PeerSocket, chunk: Uint8Array): void;
  drain(socket: PeerSocket): void;
  end(socket: PeerSocket): void;
  close(socket: PeerSocket): void;
  error(socket: PeerSocket): void;
}

export interface Bound {
  /** Takes no new peers. */
  stop(): Promise<void>;
}

/** Lets peers connect from now on. The simulator has a door of its own. */
export type Bind = (
  place: SocketPlace,
  options: { readonly events: PeerEvents; readonly clock: Clock },
) => Promise<Bound>;

/** Listens on a socket file. */
export const bindUnix: Bind = async (place, { events, clock }) => {
  let listener: Bun.UnixSocketListener<ServerConnection | undefined> | undefined;
  await place.take(clock, (unix) => {
    // A waiting connection of node:net costs 3 KiB, and thousands may wait (ADR 0023).
    listener = Bun.listen<ServerConnection | undefined>({ unix, data: undefined, socket: events });
  });
  return {
    async stop() {
      await place.leave();
      listener?.stop();
    },
  };
};
