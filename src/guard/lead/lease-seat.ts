import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";

/** Which Lease is meant, who asks for it or holds it, and by what means. */
export interface LeaseSeat {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespace: string;
  readonly name: string;
  /** Of this process and no other: a pod that is started again is somebody else. */
  readonly identity: string;
}
