import type { Admission } from "../admission/admission.ts";
import type { EarlyConfigs } from "./look-up/early-configs.ts";
import type { GcPorts } from "./collect/gc-ports.ts";
import type { GcRota } from "./collect/rota.ts";
import type { PodWants } from "./attach/pod-wants.ts";
import type { SelfGc } from "./collect/self-gc.ts";
import type { SharedDeletes } from "./undo/shared-deletes.ts";

/** What every verb works with. */
export interface Ports extends GcPorts {
  readonly admission: Admission;
  readonly wants: PodWants;
  readonly earlyConfigs: EarlyConfigs;
  readonly deletes: SharedDeletes;
  /** Whose turn it is to be told by GC. */
  readonly rota: GcRota;
  readonly selfGc: SelfGc;
}
