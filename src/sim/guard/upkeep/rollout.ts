import { objectOf } from "../../../kube/client/json-fields.ts";
import type { ApiUser } from "../api-user.ts";
import { keyOfObject } from "../cluster-life.ts";
import { levee } from "../cluster-objects.ts";
import type { GuardWorld } from "../guard-world.ts";
import { countAvailable, deploymentOf, runsStill, makeOwnedPod, nodeFor, ownerOf, startSoon } from "./owned-pods.ts";
import type { UpkeepAct } from "./upkeep-act.ts";

const user: ApiUser = { account: "person", name: "dave" };
/** A rollout whose new pod does not start by then stays as it is, as at `progressDeadlineSeconds`. */
const waitsMax = 60;

/** Changes a workload's template. Each of its pods is replaced when the new one runs. */
export function rollout(world: GuardWorld, { pick, everyMs }: Extract<UpkeepAct, { kind: "rollout" }>): void {
  const { api, server, time } = world;
  const annotations = { "kubectl.kubernetes.io/restartedAt": new Date(time.wallMs).toISOString() };
  const patch = { spec: { template: { metadata: { annotations } } } };
  const deployments = api.objects("deployments").map(keyOfObject);
  const key = deployments[pick % (deployments.length + 1)];
  // The controller of a DaemonSet replaces its pods wherever the change comes from.
  if (key === undefined) return server.change(user, "daemonsets", `${levee.namespace}/${levee.name}`, patch);
  server.change(user, "deployments", key, patch);
  new Rollout(world, key, everyMs).step();
}

class Rollout {
  readonly #world: GuardWorld;
  readonly #key: string;
  readonly #everyMs: number;
  readonly #generation: number;
  #new: string | undefined;
  #waits = 0;

  constructor(world: GuardWorld, key: string, everyMs: number) {
    this.#world = world;
    this.#key = key;
    this.#everyMs = everyMs;
    this.#generation = this.#generationNow;
  }

  step(): void {
    const { api, life, time } = this.#world;
    // Another template came, such as a guard's restart: that one's rollout goes on.
    if (this.#generationNow !== this.#generation) return;
    const old = api.objects("pods").find((pod) => deploymentOf(pod) === this.#key && ownerOf(pod) !== this.#owner);
    if (old === undefined) return;
    if (this.#new === undefined) this.#new = this.#make();
    else if (runsStill(api.get("pods", this.#new))) {
      life.remove("pods", keyOfObject(old));
      countAvailable(this.#world, this.#key);
      this.#new = undefined;
      this.#waits = 0;
    } else if ((this.#waits += 1) > waitsMax) return;
    time.after(this.#everyMs, () => this.step());
  }

  #make(): string {
    const namespace = this.#key.slice(0, this.#key.indexOf("/"));
    const pod = makeOwnedPod(this.#world, { namespace, owner: this.#owner, node: nodeFor(this.#world) });
    startSoon(this.#world, pod, this.#everyMs / 2);
    return pod;
  }

  get #owner(): string {
    return `ReplicaSet/${this.#key.slice(this.#key.indexOf("/") + 1)}-${this.#generation}`;
  }

  get #generationNow(): number {
    const { metadata } = this.#world.api.get("deployments", this.#key) ?? {};
    return Number(objectOf(metadata)["generation"] ?? 0);
  }
}
