/** What daemon-fleet.ts and its processes say to each other. */

export interface FleetOrder {
  readonly server: string;
  readonly caFile: string;
  readonly token: string;
  readonly nodes: readonly string[];
  /** How many start at a time; the next one starts when one is ready. */
  readonly atOnce: number;
}

export interface FleetQuestion {
  readonly id: number;
  readonly ask: "start" | "state";
  readonly order?: FleetOrder;
}

/** When some daemons saw a change, in milliseconds since 1970. */
export interface Seen {
  readonly times: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Sums over daemons. */
export interface FleetAnswer {
  readonly nodes: number;
  readonly pods: number;
  readonly networks: number;
  readonly lists: number;
  readonly reconnects: number;
  readonly missedEvents: number;
  /** Reflectors, two per node, that do not follow the server now. */
  readonly failing: number;
  readonly seen: Readonly<Record<string, Seen>>;
}
