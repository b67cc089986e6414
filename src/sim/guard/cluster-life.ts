import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { Seeded } from "../time/seeded.ts";
import type { SimTime } from "../time/sim-time.ts";
import type { AcceptedWrite, ApiServer } from "./api-server.ts";
import { controller } from "./api-user.ts";
import {
  countsOf,
  daemonPod,
  levee,
  simMultus,
  startedStatus,
  tenantNamespace,
  type DaemonSetPlace,
} from "./cluster-objects.ts";

interface LifeOptions {
  readonly nodes: readonly string[];
  readonly server: ApiServer;
  readonly api: SimApi;
  readonly time: SimTime;
  readonly seeded: Seeded;
}

/** A kubelet ends a pod that never ran within seconds; a few hang. */
const endMsMax = 3_000;
const hangShare = 0.04;
const hangMs = { min: 30_000, max: 240_000 };
/** Stories in which a workload has to be restarted. */
const stubbornShare = 0.5;
const controllerMs = 800;
const reliefMs = 20_000;
const fewWaiting = 10;
/** Between two pods of a rollout. */
const rolloutMs = 3_000;
/** From the restart of a workload until its new pods run: their images have to come first. */
const freshMs = { min: 1_000, max: 90_000 };

/** What kubelets and Kubernetes' own controllers do after a write. */
export class ClusterLife {
  readonly #options: LifeOptions;
  /** Since when Multus is killed for memory; undefined while it is well. */
  killedSince: string | undefined;

  #isRelieved = false;
  readonly #isStubborn: boolean;

  constructor(options: LifeOptions) {
    this.#options = options;
    this.#isStubborn = options.seeded.chance(stubbornShare);
  }

  react(write: AcceptedWrite): void {
    const { isDryRun, isChange, resource, before, after } = write;
    if (isDryRun || !isChange) return;
    if (resource === "pods") this.#podWritten(write);
    else if (JSON.stringify(before?.["spec"]) !== JSON.stringify(after?.["spec"])) this.#specWritten(write);
  }

  #podWritten({ operation, after, key }: AcceptedWrite): void {
    if (after === undefined) this.#relieve();
    else if (operation === "DELETE") this.#endPod(key, after);
  }

  #specWritten({ resource, before, key }: AcceptedWrite): void {
    if (resource === "resourcequotas") this.#later(controllerMs, () => this.#countQuota(key));
    if (before === undefined) return;
    if (resource === "daemonsets") this.#rollDaemonSet(key);
    if (resource === "deployments") this.#rollDeployment(key);
    if (resource === "jobs") this.#later(controllerMs, () => this.#endJob(key));
  }

  /** Pods of a DaemonSet, one on each node. */
  placeDaemons(place: DaemonSetPlace, generation: number): void {
    for (const node of this.#options.nodes) this.#placeDaemon(place, node, generation);
  }

  #placeDaemon(place: DaemonSetPlace, node: string, generation: number): void {
    const killed = place === simMultus ? this.killedSince : undefined;
    this.#create("pods", place.namespace, daemonPod(place, node, generation, killed));
  }

  /** With few pods that ask again and again, Multus lives with the memory that it has. */
  #relieve(): void {
    if (this.killedSince === undefined || this.#isRelieved || this.#waiting() >= fewWaiting) return;
    this.#isRelieved = true;
    this.#later(reliefMs, () => {
      this.#isRelieved = false;
      if (this.killedSince === undefined || this.#waiting() >= fewWaiting) return;
      this.killedSince = undefined;
      for (const pod of this.#options.api.objects("pods"))
        if (keyOfObject(pod).startsWith(`${simMultus.namespace}/${simMultus.name}-`)) this.startPod(keyOfObject(pod));
      this.startOwned();
    });
  }

  #waiting(): number {
    return this.#options.api.objects("pods").filter((pod) => {
      return (
        objectOf(pod["metadata"])["namespace"] === tenantNamespace && objectOf(pod["status"])["phase"] === "Pending"
      );
    }).length;
  }

  /** The network is there: pods with an owner start, and some only when they are made anew. */
  startOwned(isNew = false): void {
    if (this.#isStubborn && !isNew) return;
    for (const pod of this.#options.api.objects("pods")) {
      const { ownerReferences, deletionTimestamp } = objectOf(pod["metadata"]);
      const isWaiting = objectOf(pod["status"])["phase"] === "Pending" && deletionTimestamp === undefined;
      if (isWaiting && ownerReferences !== undefined) this.startPod(keyOfObject(pod));
    }
    for (const one of this.#options.api.objects("deployments")) {
      const availableReplicas = objectOf(one["spec"])["replicas"];
      this.#options.server.change(controller, "deployments", keyOfObject(one), { status: { availableReplicas } });
    }
  }

  startPod(key: string): void {
    this.#options.server.change(controller, "pods", key, { status: startedStatus() });
  }

  #endPod(key: string, pod: JsonObject): void {
    const { seeded, api } = this.#options;
    const uid = objectOf(pod["metadata"])["uid"];
    const node = textOf(objectOf(pod["spec"])["nodeName"]);
    const ms = seeded.chance(hangShare) ? seeded.between(hangMs.min, hangMs.max) : seeded.between(50, endMsMax);
    this.#later(ms, () => {
      const now = api.get("pods", key);
      if (objectOf(now?.["metadata"])["uid"] !== uid) return;
      if (isNodeReady(api.get("nodes", `/${node}`))) this.remove("pods", key);
      else this.#endPod(key, pod);
    });
  }

  remove(resource: string, key: string): void {
    const [namespace, name] = key.split("/");
    const path = `/apis/sim/v1/namespaces/${namespace}/${resource}/${name}`;
    const body = JSON.stringify({ gracePeriodSeconds: 0 });
    if (this.#options.api.get(resource, key) !== undefined) this.#send("DELETE", path, body);
  }

  #countQuota(key: string): void {
    const quota = this.#options.api.get("resourcequotas", key);
    const [namespace] = key.split("/");
    const used = this.#options.api
      .objects("pods")
      .filter((pod) => objectOf(pod["metadata"])["namespace"] === namespace);
    const hard = objectOf(objectOf(quota?.["spec"])["hard"]);
    this.#options.server.change(controller, "resourcequotas", key, {
      status: { hard, used: { pods: String(used.length) } },
    });
  }

  /** Every pod in turn is replaced by a new one, and with more memory Multus lives. */
  #rollDaemonSet(key: string): void {
    const { api, server, nodes } = this.#options;
    const generationOf = (): number => Number(objectOf(api.get("daemonsets", key)?.["metadata"])["generation"] ?? 0);
    const generation = generationOf();
    const place = key === `${simMultus.namespace}/${simMultus.name}` ? simMultus : levee;
    if (place === simMultus && this.killedSince !== undefined) this.killedSince = undefined;
    nodes.forEach((node, number) => {
      this.#later(controllerMs + number * rolloutMs, () => {
        if (generationOf() !== generation) return;
        for (const pod of api.objects("pods"))
          if (textOf(objectOf(pod["metadata"])["name"]).startsWith(`${place.name}-${node}`))
            this.remove("pods", keyOfObject(pod));
        this.#placeDaemon(place, node, generation);
        if (number < nodes.length - 1) return;
        server.change(controller, "daemonsets", key, { status: countsOf(nodes.length, generation) });
        if (place === simMultus) this.#later(rolloutMs, () => this.startOwned());
      });
    });
  }

  #rollDeployment(key: string): void {
    const { api, server, seeded } = this.#options;
    this.#later(controllerMs, () => {
      const found = api.get("deployments", key);
      const replicas = Number(objectOf(found?.["spec"])["replicas"] ?? 0);
      const observedGeneration = objectOf(found?.["metadata"])["generation"];
      server.change(controller, "deployments", key, {
        status: { observedGeneration, replicas, updatedReplicas: replicas },
      });
    });
    this.#later(seeded.between(freshMs.min, freshMs.max), () => {
      if (this.killedSince === undefined) this.startOwned(true);
    });
  }

  /** The controller of a suspended or smaller Job ends its pods. */
  #endJob(key: string): void {
    const { api, server } = this.#options;
    const spec = objectOf(api.get("jobs", key)?.["spec"]);
    const kept = spec["suspend"] === true ? 0 : Number(spec["parallelism"] ?? 1);
    const [namespace, name] = key.split("/");
    const pods = api.objects("pods").filter((pod) => {
      const { namespace: ours, ownerReferences } = objectOf(pod["metadata"]);
      return ours === namespace && JSON.stringify(ownerReferences)?.includes(`"${name}"`) === true;
    });
    for (const pod of pods.slice(kept)) this.remove("pods", keyOfObject(pod));
    const conditions = kept === 0 ? [{ type: "Suspended", status: "True" }] : [];
    server.change(controller, "jobs", key, { status: { active: Math.min(kept, pods.length), conditions } });
  }

  #create(resource: string, namespace: string, object: object): void {
    this.#send("POST", `/apis/sim/v1/namespaces/${namespace}/${resource}`, JSON.stringify(object));
  }

  #send(method: string, path: string, body: string): void {
    const { server, time } = this.#options;
    server.answer(controller, { method, path, body, sentMs: time.nowMs });
  }

  #later(ms: number, act: () => void): void {
    this.#options.time.after(ms, act);
  }
}

export function isNodeReady(node: JsonObject | undefined): boolean {
  return JSON.stringify(objectOf(node?.["status"])["conditions"])?.includes('"status":"True"') === true;
}

export function keyOfObject(object: JsonObject): string {
  const { namespace, name } = objectOf(object["metadata"]);
  return `${textOf(namespace)}/${textOf(name)}`;
}
