/** Frame types of docs/protocol.md. The shim and the CLI send 1-63, the daemon sends 64-127. */
export const FrameType = {
  CALL: 1,
  CONFIG: 2,
  OUTCOME: 3,
  ACK: 4,
  RESUME: 5,
  RESIDENT: 6,
  ASK: 7,
  PROGRESS: 8,
  WELCOME: 64,
  GO: 65,
  HEARTBEAT: 66,
  RUN: 67,
  ROUTES: 68,
  STAT: 69,
  REAP: 70,
  KILL: 71,
  FINISH: 72,
  BYE: 73,
  REFUSE: 74,
  ANSWER: 75,
  LINKS: 76,
  LIST: 77,
  REMOVE: 78,
  SCRATCH: 79,
} as const satisfies Record<string, number>;

export type FrameTypeName = keyof typeof FrameType;

export const frameTypeByNumber: ReadonlyMap<number, FrameTypeName> = new Map(
  (Object.entries(FrameType) as [FrameTypeName, number][]).map(([name, number]) => [number, name]),
);
