import type { Hand } from "../hands/hand.ts";
import { composeCollect } from "./compose-collect.ts";
import type { Ground } from "./compose-ground.ts";
import { composeUndo, type UndoParts } from "./compose-undo.ts";
import { composeVerbs } from "./compose-verbs.ts";
import { CallsUnderWay } from "./serve/calls-under-way.ts";
import { Reception } from "./serve/reception.ts";
import { serveCall } from "./serve/serve-call.ts";
import type { Bind } from "./socket/server-socket.ts";
import { Server } from "./socket/server.ts";

/** Room for resident hands, returning shims and commands, beyond the calls that admission allows. */
const spareConnections = 64;
/** With more calls than this under way, in line or running, the work after the reply is put off. */
const spareCallsMax = 2;

interface CallOptions {
  readonly software: string;
  /** Answers a command on the socket. */
  readonly answer: (question: string) => unknown;
  /** Where peers come from; a socket file by default. */
  readonly bind?: Bind;
}

/** Everything between the socket and the journal: verbs, undo, recovery and garbage collection. */
export type CallParts = ReturnType<typeof composeCalls>;

export function composeCalls(ground: Ground, { software, answer, bind }: CallOptions) {
  const { config } = ground;
  const undo = composeUndo(ground);
  const { verbs, accounts } = composeVerbs(ground, undo);
  const collect = composeCollect(ground, undo);
  const calls = new CallsUnderWay();
  undo.afterwork.giveWayWhile(() => calls.count > spareCallsMax);
  const serveNeeds = { ...ground, verbs: { ...verbs, gc: collect.gc }, calls, offline: undo.offline };
  const reception = new Reception({
    ...ground,
    software,
    serve: (call, first) => {
      ground.traces?.begin(call, first);
      void serveCall(call, serveNeeds);
    },
    addResident: (hand) => addResident(hand, ground, undo),
    answer,
  });
  const server = new Server({
    socketDir: config.socketDir,
    clock: ground.clock,
    heartbeatMs: config.heartbeatMs,
    connectionsMax: config.waitingMax + config.attachCeiling + config.detachCeiling + spareConnections,
    onOpened: (connection, first) => reception.receive(connection, first),
    bind,
  });
  const start = async (): Promise<void> => {
    await server.listen();
    // Only now, because a shim that could not connect before has its record in the folder by now.
    await undo.offline.start((request) => undo.recovery.offlineDelete(request));
    undo.recovery.start();
  };
  return { undo, accounts, collect, calls, reception, server, start };
}

function addResident(hand: Hand, { traces }: Ground, { recovery }: UndoParts): void {
  traces?.follow(hand);
  recovery.addResident(hand);
}
