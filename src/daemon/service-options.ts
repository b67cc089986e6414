import type { ConfDir } from "./conf-dir/conf-dir.ts";
import type { NodeFacts } from "./answer/node-facts.ts";
import type { Ports } from "./ports.ts";
import type { Source } from "./source/source.ts";

/** What every part beside the calls is started with. */
export interface ServiceOptions {
  readonly ports: Ports;
  readonly source: Source;
  /** What can be told about this node. */
  readonly reception: NodeFacts;
  /** Undefined when the runtime's conf is not our business. */
  readonly confDir: ConfDir | undefined;
}
