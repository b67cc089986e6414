import { silentLogger } from "../../../base/log.ts";
import { VirtualClock } from "../../../base/virtual-clock.fixture.ts";
import { KubeError, type KubeApi, type KubeRequest } from "../../../kube/client/api.ts";
import { isObject, type JsonObject } from "../../../kube/client/json-fields.ts";
import { propose } from "../../decide/propose.ts";
import type { Decision, StepStatus } from "../../decision/decision.ts";
import type { Step, StepAction } from "../../decision/step.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import { markKey } from "../../facts/memory-mark.ts";
import type { World } from "../../facts/world.ts";
import { multus, outage } from "../../outage.fixture.ts";
import type { StepContext, StepReport } from "../step-runner.ts";
import type { PatchOperation } from "./workload-patch.ts";

export const applicationPath = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/infra-multus";
export const projectPath = "/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects/default";
export const traefikPath = "/apis/apps/v1/namespaces/kube-system/deployments/traefik";
export const multusPath = "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-multus-ds";

/** An API server with objects by path; it answers reads and JSON patches (RFC 6902). */
export class ObjectServer implements KubeApi {
  readonly objects = new Map<string, object>();
  readonly requests: KubeRequest[] = [];
  /** Runs before each request; an error it throws is the answer. */
  before: (request: KubeRequest) => void = () => undefined;
  /** Runs after the request took effect; an error is a lost answer. */
  after: (request: KubeRequest) => void = () => undefined;

  async call(request: KubeRequest): Promise<string> {
    this.requests.push(request);
    this.before(request);
    const [path = "", query = ""] = request.path.split("?");
    const answer =
      request.method === "PATCH" ? this.#patch(path, request, query.includes("dryRun=All")) : this.#get(path);
    this.after(request);
    return answer;
  }

  lines(): never {
    throw new Error("no test watches");
  }

  /** Writes without dry runs. */
  get writes(): number {
    return this.requests.filter(({ method, path }) => method !== "GET" && !path.includes("dryRun")).length;
  }

  #get(path: string): string {
    const found = this.objects.get(path);
    if (found === undefined)
      throw new KubeError("api-refused", `${path} not found`, { status: 404, reason: "NotFound" });
    return JSON.stringify(found);
  }

  #patch(path: string, { body = "[]" }: KubeRequest, isDry: boolean): string {
    const object = JSON.parse(this.#get(path)) as JsonObject;
    for (const operation of JSON.parse(body) as PatchOperation[]) apply(object, operation);
    if (!isDry) this.objects.set(path, object);
    return JSON.stringify(object);
  }
}

function apply(object: JsonObject, { op, path, value }: PatchOperation): void {
  const keys = path
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/"));
  const last = keys.pop() ?? "";
  let place: unknown = object;
  for (const key of keys) place = isObject(place) ? place[key] : (place as unknown[])[Number(key)];
  const target = place as Record<string, unknown>;
  if (op !== "test") target[last] = value;
  else if (target[last] !== value)
    throw new KubeError("api-refused", "the server rejected our request", { status: 422 });
}

export function daemonSet(memory = "50Mi", changes: DaemonSetChanges = {}): object {
  const { uid = "uid-multus", status = {}, strategy = "RollingUpdate" } = changes;
  // As the plan has them together.
  const { request = memory === "1Gi" ? "512Mi" : "50Mi" } = changes;
  const resources = { limits: { memory }, requests: { memory: request } };
  const containers = [{ name: "kube-multus", resources }];
  const ready = { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 3, observedGeneration: 2 };
  return {
    metadata: { name: multus.name, namespace: multus.namespace, uid, generation: 2, ...withMark(changes.mark) },
    spec: { updateStrategy: { type: strategy }, template: { spec: { containers } } },
    status: { ...ready, ...status },
  };
}

function withMark(mark: string | undefined): object {
  return mark === undefined ? {} : { annotations: { [markKey("kube-multus")]: mark } };
}

interface DaemonSetChanges {
  /** The guard's annotation. */
  readonly mark?: string;
  readonly uid?: string;
  readonly status?: object;
  readonly strategy?: string;
  readonly request?: string;
}

export function argoApplication(spec: object = {}): object {
  const metadata = { name: "infra-multus", namespace: "argocd" };
  return { metadata, spec: { project: "default", syncPolicy: { automated: {} }, ...spec } };
}

export function argoProject(isHeld: boolean): object {
  const window = { kind: "deny", schedule: "* * * * *", duration: "1h", applications: ["infra-multus"] };
  return { metadata: { name: "default", namespace: "argocd" }, spec: { syncWindows: isHeld ? [window] : [] } };
}

/** The outage's recovery, running and with its hold, on an otherwise untouched server. */
export class Repair {
  readonly server = new ObjectServer();
  readonly clock = new VirtualClock();
  readonly reports: StepReport[] = [];
  readonly intents: (readonly string[])[] = [];
  facts: Partial<World> = {};
  decision: Decision;

  constructor() {
    const recover = propose(outage(), settings).find(({ spec }) => spec.purpose === "Recover");
    if (recover === undefined) throw new Error("nothing is proposed");
    const metadata = { name: recover.name, namespace: "levee-system", uid: "uid-decision" };
    const at = new Date(this.clock.wallMs()).toISOString();
    const status = { phase: "Running", message: "", fence: 1, leader: "a", since: at, startedAt: at } as const;
    this.decision = {
      apiVersion: "levee.dev/v1alpha1",
      kind: "Decision",
      metadata,
      spec: this.#ofThisHour(recover.spec),
      status,
    };
    this.mark("HoldArgoApp", "Done");
    this.server.objects.set(applicationPath, argoApplication());
    this.server.objects.set(projectPath, argoProject(true));
    this.server.objects.set(multusPath, daemonSet());
  }

  /** The plan as if its cause had begun an hour ago by this clock. */
  #ofThisHour(spec: Decision["spec"]): Decision["spec"] {
    const since = new Date(this.clock.wallMs() - 3_600_000).toISOString();
    const steps = spec.steps.map((step) =>
      step.action === "Verify" ? { ...step, verify: { ...step.verify, since } } : step,
    );
    return { ...spec, steps };
  }

  step<A extends StepAction>(action: A): Extract<Step, { readonly action: A }> {
    const isOne = (step: Step): step is Extract<Step, { readonly action: A }> => step.action === action;
    const found = this.decision.spec.steps.find(isOne);
    if (found === undefined) throw new Error(`the plan has no ${action}`);
    return found;
  }

  mark(action: StepAction, phase: StepStatus["phase"], more: Partial<StepStatus> = {}): void {
    const { id } = this.step(action);
    const before = this.decision.status;
    if (before === undefined) throw new Error("it has no status");
    const steps = [
      ...(before.steps ?? []).filter((step) => step.id !== id),
      { id, phase, message: "", at: "", ...more },
    ];
    this.decision = { ...this.decision, status: { ...before, steps } };
  }

  /** A healthy cluster with the test's changes. */
  world(): World {
    const healthy = {
      pods: [],
      daemonSets: [{ ...multus, ready: 3 }],
      deployments: [{ namespace: "kube-system", name: "traefik", desired: 2, available: 2, uid: "uid-traefik" }],
      services: [{ namespace: "kube-system", name: "traefik", readyEndpoints: 2 }],
      applications: outage().applications.map((application) => ({ ...application, sync: "Synced" })),
    };
    return outage({ nowMs: this.clock.wallMs(), ...healthy, ...this.facts });
  }

  context(): StepContext {
    const { server, clock, reports, intents } = this;
    const decision = (): Decision => this.decision;
    const intend = async (_batch: number, uids: readonly string[]): Promise<void> => {
      intents.push(uids);
      const intent = {
        step: this.step("SetMemoryLimit").id,
        batch: 1,
        uids,
        at: new Date(clock.wallMs()).toISOString(),
      };
      this.decision = { ...this.decision, status: { ...this.decision.status!, intent } };
    };
    return {
      get decision() {
        return decision();
      },
      get reported() {
        return Object.assign({}, ...reports) as StepReport;
      },
      world: () => this.world(),
      api: server,
      mayWrite: async () => undefined,
      clock,
      logger: silentLogger,
      settings,
      signal: new AbortController().signal,
      report: async (report) => void reports.push(report),
      intend,
      audit: () => undefined,
    };
  }
}

/** The message of the promise's error. */
export async function rejectionText(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
  throw new Error("it was not refused");
}
