import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { ReviewedViewers } from "../../console/access/reviewed-viewers.ts";
import type { ConsoleDesk } from "../../console/serve/console-desk.ts";
import type { Viewers } from "../../console/serve/viewer.ts";
import { ClusterDesk, type AskNode } from "../../console/store/cluster-desk.ts";
import { NodeDesk } from "../../console/store/node-desk.ts";
import { getText } from "../../guard/observe/get-text.ts";
import type { KubeAccess } from "../../kube/access/access.ts";
import { ApiClient } from "../../kube/client/api-client.ts";
import { daemonSetSeen } from "../cluster/cni-daemon-set.ts";
import { guardNamespaceOf } from "../cluster/cluster-options.ts";
import { metricsPortDefault, metricsPortOf } from "../cluster/port-option.ts";
import { cniDaemonsOf } from "../cluster/project.ts";
import { seeAlerts } from "../cluster/status/alerts.ts";
import { askDaemon, type Context } from "../context.ts";
import { stepDetails } from "../decisions/step-text.ts";
import { askAttachments } from "../node/ask-pages.ts";
import { socketPath } from "../settings.ts";
import { clusterStory } from "./cluster-story.ts";
import { KubeconfigViewers } from "./cluster-viewer.ts";
import type { ConsoleOptions } from "./console-options.ts";
import { topicFinder } from "./explain-code.ts";
import { nodeStory } from "./node-story.ts";
import { sayVerdict } from "./say-verdict.ts";
import { stormHistory } from "./storm-history.ts";

/** A console without its port. */
export interface ComposedConsole {
  readonly desk: ConsoleDesk & { start(): void; close(): Promise<void> };
  readonly viewers: Viewers;
  /** Resolves when there is something to show. */
  readonly ready: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The API server sends some seconds later that a node is away. */
const askNodeMs = 8_000;
/** All metrics of a daemon are some hundred kilobytes. */
const hostBytesMax = 4_194_304;

interface ClusterParts {
  readonly context: Context;
  readonly access: KubeAccess;
  readonly options: ConsoleOptions;
  readonly logger: Logger;
}

/** A cluster, by the rights of the kubeconfig; in a cluster, by those of the console's own service account. */
export async function composeCluster({ context, access, options, logger }: ClusterParts): Promise<ComposedConsole> {
  const { clock, interrupted: signal } = context.shell;
  const api = new ApiClient({ access, clock });
  const namespace = guardNamespaceOf(options);
  const metricsPort = metricsPortOf(options.metricsPort, metricsPortDefault);
  const asking = { api, signal };
  const askNode: AskNode = ({ name, address }, path, stop) => {
    if (options.inCluster === true) return askHost(clock, address, { port: metricsPort, path }, stop);
    const target = `/api/v1/nodes/http:${encodeURIComponent(name)}:${metricsPort}/proxy${path}`;
    return api.call({ method: "GET", path: target, deadlineMs: askNodeMs, signal: stop });
  };
  const desk = new ClusterDesk({
    ...{ api, clock, logger, namespace, stepDetails },
    daemonSet: daemonSetSeen,
    toldDaemons: cniDaemonsOf,
    askNode,
    seeAlerts: async (stop) => {
      const seen = await seeAlerts({ api, signal: stop }, options.alertmanager);
      return "value" in seen ? { counts: seen.value } : { why: seen.why };
    },
    story: (pod) => clusterStory(asking, askNode, pod),
    explain: await topicFinder(),
    history: stormHistory(asking, options.prometheus, () => clock.wallMs()),
  });
  const source = { api, namespace, signal };
  const viewers =
    options.inCluster === true
      ? new ReviewedViewers({
          ...{ ...source, clock },
          place: access.server,
          isBehindProxy: options.tokenHeader !== undefined,
          say: (token, word) => withToken(context, access, token, (own) => sayVerdict({ ...source, api: own }, word)),
        })
      : new KubeconfigViewers({ ...source, clock, place: access.server });
  return {
    desk,
    viewers,
    ready: () => desk.ready(),
    close: async () => {
      await desk.close();
      api.close();
    },
  };
}

/** In a cluster the daemons are asked on their hosts, as the guard does: nodes/proxy is as good as root on the nodes. */
function askHost(
  clock: Clock,
  address: string,
  { port, path }: { readonly port: number; readonly path: string },
  signal: AbortSignal,
): Promise<string> {
  if (address === "") return Promise.reject(new Error("the node has no address"));
  const server = `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
  return getText(clock, { server, path, deadlineMs: askNodeMs, bytesMax: hostBytesMax }, signal);
}

/** The same server and authority, and nothing of ours that could prove who we are. */
async function withToken<T>(
  { shell }: Context,
  access: KubeAccess,
  token: string,
  work: (api: ApiClient) => Promise<T>,
): Promise<T> {
  const viewer: KubeAccess = {
    server: access.server,
    credentials: async () => {
      const { cert: _cert, key: _key, ...tls } = (await access.credentials()).tls;
      return { token, tls };
    },
    renew: () => access.renew(),
  };
  const api = new ApiClient({ access: viewer, clock: shell.clock });
  try {
    return await work(api);
  } finally {
    api.close();
  }
}

/** This machine's daemon, over its socket. */
export async function composeNode(context: Context): Promise<ComposedConsole> {
  const { clock } = context.shell;
  const desk = new NodeDesk({
    clock,
    daemon: {
      top: () => askDaemon(context, { ask: "top" }),
      checks: () => askDaemon(context, { ask: "checks" }),
      node: () => askDaemon(context, { ask: "node" }),
      attachments: async () => (await askAttachments(context)).attachments,
    },
    story: (namespace, name) => nodeStory(context, namespace, name),
    explain: await topicFinder(),
  });
  const place = socketPath(context.settings);
  const why = "without a cluster there are no Decisions";
  const view = { name: "", mode: "node", place, namespace: "", mayDecide: "no", why } as const;
  return {
    desk,
    viewers: { of: () => Promise.resolve({ view, say: () => Promise.reject(new Error(why)) }) },
    ready: () => Promise.resolve(),
    close: () => desk.close(),
  };
}
