import { toLeveeError } from "../../base/errors.ts";
import { readyzAnswer } from "../../readiness/readyz.ts";
import { isJournalStuck, type JournalFacts } from "../../readiness/state-rules.ts";
import type { Logger } from "../../base/log.ts";
import { networksAsked } from "../../wire/network-question.ts";
import type { DryRunAnswer } from "../../wire/dry-run.ts";
import type { NodeStorms } from "../../state/recorder/node-storm.ts";
import type { PodStoryAnswer, WholePodName } from "../../wire/pod-story.ts";
import type { NodeChecks } from "./node-checks.ts";
import type { CallMetrics } from "../metrics/call-metrics.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { HttpAnswer, HttpRequest } from "../metrics/http-exchange.ts";

export interface RouteOptions {
  readonly measures: Pick<CallMetrics, "requested">;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly checks: NodeChecks;
  /** For `levee check node --all`. */
  readonly node: () => object | Promise<object>;
  /** For the console; undefined for a pod that this daemon does not know by this UID. */
  readonly story: (pod: WholePodName) => Promise<PodStoryAnswer | "busy" | undefined>;
  /** For `levee check network --dry-run`; undefined for a request that the cluster does not have. */
  readonly dryRun: (namespace: string, name: string) => Promise<DryRunAnswer | undefined>;
  /** For `levee report --storm`. */
  readonly storms: () => Promise<NodeStorms | "busy">;
  readonly journal: () => JournalFacts;
  /** The health port serves health alone, the metrics port everything. */
  readonly serves: "health" | "all";
}

const text = "text/plain; charset=utf-8";

/** Answers kubelet, Prometheus and `levee check node --all` from memory, and counts requests as Multus does. */
export function answerHttp(request: HttpRequest, options: RouteOptions): HttpAnswer | Promise<HttpAnswer> {
  const { measures, logger } = options;
  const trial = options.serves === "all" ? dryRunPath.exec(request.path) : null;
  if (trial !== null) return answerDryRun(trial, request, options);
  const late = options.serves === "all" ? lateRoute(request.path) : undefined;
  if (late !== undefined) return answerLate(late, request, options);
  const route =
    options.serves === "all" ? (allRoutes[request.path] ?? healthRoutes[request.path]) : healthRoutes[request.path];
  const method = request.method.toLowerCase();
  if (route === undefined) {
    measures.requested("NotFound", method, 404);
    return { status: 404, contentType: text, body: "404 page not found\n" };
  }
  const answer = answeredBy(route, request, options, (reason) =>
    logger.error("Cannot answer a request over HTTP", { path: request.path, reason }),
  );
  measures.requested(request.path, method, answer.status);
  return answer;
}

type Route = (request: HttpRequest, options: RouteOptions) => HttpAnswer;

const healthRoutes: Readonly<Record<string, Route>> = {
  "__proto__": null as never,
  "/healthz": healthz,
  "/livez": healthz,
  "/readyz": readyz,
};

const allRoutes: Readonly<Record<string, Route>> = {
  "__proto__": null as never,
  "/metrics": (_request, { metrics }) => ({
    status: 200,
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    body: metrics.render(),
  }),
  // The guard asks every node once a minute and a console some of them every other second: a kilobyte, not everything.
  "/loadz": (_request, { metrics }) => ({
    status: 200,
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    body: metrics.render(loadFamilies),
  }),
  // The guard asks for the networks of NetworkReadiness objects.
  "/networkz": ({ query }, { checks }) => ({
    status: 200,
    contentType: "application/json",
    body: `${JSON.stringify({ networks: networksAsked(query).map((network) => checks.wordOn(network)) })}\n`,
  }),
};

/** `/dryrunz/NAMESPACE/REQUEST`. */
const dryRunPath = /^\/dryrunz\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/u;

async function answerDryRun(
  [, namespace = "", name = ""]: RegExpExecArray,
  request: HttpRequest,
  options: RouteOptions,
): Promise<HttpAnswer> {
  const answer = await dryRunAnswer(namespace, name, options);
  options.measures.requested("/dryrunz", request.method.toLowerCase(), answer.status);
  return answer;
}

async function dryRunAnswer(namespace: string, name: string, { dryRun }: RouteOptions): Promise<HttpAnswer> {
  try {
    const found = await dryRun(namespace, name);
    if (found === undefined) return { status: 404, contentType: text, body: "no such request, or not for this node\n" };
    return { status: 200, contentType: "application/json", body: `${JSON.stringify(found)}\n` };
  } catch (thrown) {
    // The node is busy with another one, or the API server did not answer.
    return { status: 503, contentType: text, body: `${toLeveeError(thrown, "Cannot answer").message}\n` };
  }
}

/** A path whose answer takes a while: its code is loaded late, or it reads the flight recorder's files. */
interface LateRoute {
  readonly path: "/nodez" | "/podz" | "/stormz";
  readonly read: (options: RouteOptions) => Promise<object | "busy" | undefined>;
}

/** `/nodez`, `/stormz`, or `/podz/NAMESPACE/NAME/UID`. */
function lateRoute(path: string): LateRoute | undefined {
  if (path === "/nodez") return { path, read: async ({ node }) => await node() };
  if (path === "/stormz") return { path, read: ({ storms }) => storms() };
  const [, namespace, name, uid] = podPath.exec(path) ?? [];
  if (namespace === undefined || name === undefined || uid === undefined) return undefined;
  return { path: "/podz", read: ({ story }) => story({ namespace, name, uid }) };
}

const podPath = /^\/podz\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})\/([A-Za-z0-9-]{1,64})$/u;

async function answerLate(route: LateRoute, request: HttpRequest, options: RouteOptions): Promise<HttpAnswer> {
  const answer = await readLate(route, options);
  options.measures.requested(route.path, request.method.toLowerCase(), answer.status);
  return answer;
}

async function readLate({ path, read }: LateRoute, options: RouteOptions): Promise<HttpAnswer> {
  try {
    const found = await read(options);
    if (found === undefined) return { status: 404, contentType: text, body: "this daemon knows no such pod\n" };
    if (found === "busy") return { status: 503, contentType: text, body: "too many ask at once\n" };
    return { status: 200, contentType: "application/json", body: `${JSON.stringify(found)}\n` };
  } catch (thrown) {
    options.logger.error("Cannot answer a request over HTTP", {
      path,
      reason: toLeveeError(thrown, "Cannot answer").message,
    });
    return { status: 500, contentType: text, body: "internal error; see the daemon's log\n" };
  }
}

const loadFamilies = [
  "levee_waiting",
  "levee_running",
  "levee_slots",
  "levee_held_pods",
  "levee_networks_half_open",
  "levee_hung_delegates",
  "levee_leaks",
  "levee_memory_working_set_bytes",
  "levee_memory_limit_bytes",
  "levee_memory_oom_kills_total",
  "levee_view_last_event_age_seconds",
  "levee_node_reboot_required",
  "levee_node_reboot_required_since_timestamp_seconds",
] as const;

/** Liveness: any answer proves that the event loop turns. Only a stuck journal write is worth a restart. */
function healthz(_request: HttpRequest, { journal }: RouteOptions): HttpAnswer {
  const facts = journal();
  if (!isJournalStuck(facts)) return { status: 200, contentType: text, body: "ok" };
  const body = `a journal write has been running for ${Math.round(facts.stuckMs / 1_000)} s\n`;
  return { status: 503, contentType: text, body };
}

function readyz(request: HttpRequest, { checks }: RouteOptions): HttpAnswer {
  const answer = readyzAnswer(checks.all(), { isVerbose: request.query.has("verbose") });
  return { status: answer.isReady ? 200 : 503, contentType: text, body: answer.text };
}

/** A gauge that throws is a defect, but must not end the daemon. */
function answeredBy(
  route: Route,
  request: HttpRequest,
  options: RouteOptions,
  onDefect: (reason: string) => void,
): HttpAnswer {
  try {
    return route(request, options);
  } catch (thrown) {
    onDefect(toLeveeError(thrown, "Cannot answer").message);
    return { status: 500, contentType: text, body: "internal error; see the daemon's log\n" };
  }
}
