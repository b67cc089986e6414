import type { ReflectorHealth } from "../../kube/watch/facts.ts";
import type { Announcer } from "../tell/announcer.ts";
import type { StatusPublisher } from "../tell/status-publisher.ts";
import type { View } from "../../view/view.ts";

/** Where this daemon learns of pods and networks, and whom it tells what became of them: a folder, or a cluster. */
export interface Source {
  readonly view: View;
  readonly announcer: Announcer;
  readonly publisher: StatusPublisher;
  /** This node, as the cluster calls it; undefined on a machine without one. */
  readonly nodeName?: string;
  /** How well the local copies follow the API server; undefined on a machine without one. */
  readonly health?: () => readonly ReflectorHealth[];
  /** Things a person should know now: a file that cannot be read, an API server that does not answer. */
  notices(): readonly string[];
  close(): Promise<void>;
}
