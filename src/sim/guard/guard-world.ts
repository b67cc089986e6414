import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { SimApi } from "../api/sim-api.ts";
import type { SimEvent, SimListener } from "../node/sim-event.ts";
import { Seeded } from "../time/seeded.ts";
import { SimTime } from "../time/sim-time.ts";
import { ApiServer, type AcceptedWrite } from "./api-server.ts";
import { controller, type ApiUser } from "./api-user.ts";
import { ClusterFleet } from "./cluster-fleet.ts";
import { ClusterLife } from "./cluster-life.ts";
import {
  daemonSetObject,
  simGuardNamespace,
  levee,
  simMultus,
  nodeObject,
  shopNamespace,
  tenantNamespace,
} from "./cluster-objects.ts";
import { GateAgent } from "./gate-agent.ts";
import { usualRebootSettings, type RebootSettings } from "./reboot-settings.ts";
import { SimGuard } from "./sim-guard.ts";

interface GuardWorldOptions {
  readonly seed: number;
  readonly guards: number;
  readonly nodes: readonly string[];
  /** Those of stories without it. */
  readonly reboots?: RebootSettings;
  readonly wallStartMs?: number;
  /** deploy/policies. */
  readonly policies: readonly object[];
  readonly onEvent: (nowMs: number, event: SimEvent) => void;
  readonly onWrite: (nowMs: number, write: AcceptedWrite) => void;
  readonly onReboot: (nowMs: number, node: string) => void;
}

const leaseKey = `${simGuardNamespace}/levee-guard`;
const workloads: ReadonlySet<string> = new Set(["daemonsets", "deployments", "jobs"]);
const policyAgeMs = 3_600_000;

/** A simulated cluster with its guards. The guards' code and that of the gate on each node is real; the rest is a model. */
export class GuardWorld {
  readonly time: SimTime;
  readonly nodes: readonly string[];
  readonly reboots: RebootSettings;
  readonly seeded: Seeded;
  readonly api: SimApi;
  readonly server: ApiServer;
  readonly life: ClusterLife;
  readonly fleet: ClusterFleet;
  readonly guards: readonly SimGuard[];
  readonly say: SimListener;
  /** The next accepted write of a guard, or its next change of a workload, kills it before it hears of it. */
  trap: "kill-after-write" | "kill-after-change" | undefined;
  readonly #agents: readonly GateAgent[];
  readonly #policies: readonly object[];

  constructor(options: GuardWorldOptions) {
    const { seed, guards, policies, nodes, reboots = usualRebootSettings, onEvent, onWrite, onReboot } = options;
    this.time = new SimTime(options.wallStartMs);
    this.nodes = nodes;
    this.reboots = reboots;
    this.seeded = new Seeded(seed).fork("guard-world");
    const { time, seeded } = this;
    this.say = (event) => onEvent(time.nowMs, event);
    this.api = new SimApi(time, this.say);
    for (const resource of ["applications", "appprojects", "replicas", "ippools", "networkreadinesses"])
      this.api.absent.add(resource);
    const { api, say } = this;
    const written = (write: AcceptedWrite): void => {
      onWrite(time.nowMs, write);
      this.life.react(write);
      this.#spring(write);
    };
    this.server = new ApiServer({ api, time, onWrite: written });
    const { server } = this;
    this.life = new ClusterLife({ server, nodes, api, time, seeded: seeded.fork("life") });
    this.fleet = new ClusterFleet({ server, nodes, api, time, say, rebootMs: reboots.rebootMs });
    const { fleet } = this;
    this.guards = Array.from({ length: guards }, (_, number) => {
      const { gate } = reboots;
      return new SimGuard({ number, gate, api, server, fleet, time, say, seeded: seeded.fork("guard") });
    });
    this.#agents = nodes.map((node) => {
      const mine = { node, reboots, api, server, fleet, time, say, seeded: seeded.fork(node) };
      return new GateAgent({ ...mine, onReboot: (rebooted) => onReboot(time.nowMs, rebooted) });
    });
    this.#policies = policies;
  }

  start(): void {
    const { time, life, nodes } = this;
    const now = new Date(time.wallMs).toISOString();
    for (const name of [tenantNamespace, shopNamespace, "kube-system", simGuardNamespace])
      this.create("namespaces", "", { metadata: { name } });
    nodes.forEach((name, number) => this.create("nodes", "", nodeObject(name, number, now)));
    for (const place of [simMultus, levee]) {
      this.create("daemonsets", place.namespace, daemonSetObject(place, nodes.length));
      life.placeDaemons(place, 1);
    }
    this.placePolicies(policyAgeMs);
    for (const guard of this.guards) time.after(this.seeded.between(0, 3_000), () => guard.start());
    for (const agent of this.#agents) agent.start();
    this.fleet.prometheus.start();
  }

  /** Those that are missing, as if they had been made so long ago. */
  placePolicies(agoMs: number): void {
    const creationTimestamp = new Date(this.time.wallMs - agoMs).toISOString().replace(/\.\d+Z$/u, "Z");
    for (const policy of this.#policies) {
      const { kind, metadata } = policy as { kind: string; metadata: JsonObject };
      const resource =
        kind === "ValidatingAdmissionPolicy" ? "validatingadmissionpolicies" : "validatingadmissionpolicybindings";
      const managedFields = [{ time: creationTimestamp }];
      if (this.api.get(resource, `/${textOf(metadata["name"])}`) === undefined)
        this.api.put(resource, {
          ...policy,
          metadata: { ...metadata, creationTimestamp, generation: 1, managedFields },
        });
    }
  }

  create(resource: string, namespace: string, object: object, user: ApiUser = controller): void {
    const place = namespace === "" ? "" : `namespaces/${namespace}/`;
    const request = { method: "POST", path: `/apis/sim/v1/${place}${resource}`, body: JSON.stringify(object) };
    this.server.answer(user, { ...request, sentMs: this.time.nowMs });
  }

  /** Who holds the Lease; empty for nobody. */
  get leader(): string {
    return textOf(objectOf(this.api.get("leases", leaseKey)?.["spec"])["holderIdentity"]);
  }

  /** The guard that leads, or the first one. */
  leadingGuard(): SimGuard | undefined {
    return this.guards.find(({ identity }) => identity === this.leader) ?? this.guards[0];
  }

  #spring({ user, resource, isDryRun, isChange }: AcceptedWrite): void {
    if (this.trap === undefined || user.account !== "guard" || isDryRun || !isChange) return;
    if (this.trap === "kill-after-change" ? !workloads.has(resource) : resource === "leases") return;
    this.trap = undefined;
    this.guards.find(({ identity }) => identity === user.name)?.kill();
  }
}
