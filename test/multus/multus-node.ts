import type { CniCall, Lab } from "../lab/lab.ts";
import { makePlugNode } from "../plug/plug-node.ts";

/** An answer on `multus.sock`. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** The node of test/plug, whose daemon also answers on `multus.sock`. */
export async function makeMultusNode(settings: Readonly<Record<string, unknown>> = {}): Promise<Lab> {
  const lab = await makePlugNode();
  await lab.configure({
    clusterNetwork: "primary",
    undoRetryMs: 100,
    namespaceIsolation: false,
    gcGraceMs: 400,
    multusSocketDir: lab.path("multus-run"),
    ...settings,
  });
  return lab;
}

export function multusSock(lab: Lab): string {
  return lab.path("multus-run/multus.sock");
}

/** A request as `multus-shim` makes it. */
export async function post(lab: Lab, path: string, body: string, signal?: AbortSignal): Promise<HttpAnswer> {
  const headers = { "content-type": "application/json" };
  const options = { unix: multusSock(lab), method: "POST", headers, body, ...(signal === undefined ? {} : { signal }) };
  const answer = await fetch(`http://dummy${path}`, options);
  return { status: answer.status, body: await answer.text() };
}

/** The daemon opens this socket last; `multus-shim` waits for it in the same way. */
export async function untilHealthy(lab: Lab): Promise<void> {
  const isHealthy = async (): Promise<boolean> => (await post(lab, "/healthz", "null")).status === 200;
  await lab.until("multus.sock answers", async () => (await isHealthy().catch(() => false)) || undefined);
}

/** The body of a CNI call; `conf` is what the runtime's conf holds. */
export function callBody(lab: Lab, verb: string, call: CniCall, conf: object = {}): string {
  const config = JSON.stringify({ cniVersion: "0.3.1", name: "multus-cni-network", type: "multus-shim", ...conf });
  const env = {
    PATH: "/bin",
    CNI_COMMAND: verb,
    CNI_CONTAINERID: call.containerId,
    CNI_NETNS: call.netns ?? "",
    CNI_IFNAME: call.ifname ?? "eth0",
    CNI_ARGS: call.args ?? "",
    CNI_PATH: lab.path("bin"),
    ...call.env,
  };
  return JSON.stringify({ env, config: Buffer.from(config).toString("base64") });
}

export function multusCall(lab: Lab, verb: string, call: CniCall, signal?: AbortSignal): Promise<HttpAnswer> {
  return post(lab, "/cni", callBody(lab, verb, call), signal);
}

/** A request of the controller of dynamic networks. */
export function delegate(
  lab: Lab,
  verb: string,
  call: CniCall,
  conf: { readonly name: string; readonly type?: string },
): Promise<HttpAnswer> {
  const args = call.args?.replace("IgnoreUnknown=1;", "");
  return post(lab, "/delegate", callBody(lab, verb, { ...call, ...(args === undefined ? {} : { args }) }, conf));
}
