import { join } from "node:path";
import { policyAgeMinMs } from "../../../src/guard/approve/approval-problem.ts";
import { releaseText } from "../shipped/release-text.ts";
import { until } from "../until.ts";
import { mergePatch, PolicyServer, type Answer, type Ask } from "../policy-server.ts";

const deploy = join(import.meta.dir, "../../../deploy");
export const guardUser = "system:serviceaccount:levee-system:levee-guard";
export const alice = { user: "alice", group: "sre" };
export const decisions = "/apis/levee.dev/v1alpha1/namespaces/levee-system/decisions";
export const approvals = "/apis/levee.dev/v1alpha1/namespaces/levee-system/decisionapprovals";

/** An API server with the definitions, the policies and the guard's rights as shipped. */
export async function startGuardServer(options: { readonly audit?: boolean } = {}): Promise<PolicyServer> {
  const server = await PolicyServer.start(options);
  try {
    server.must(["apply", "-k", join(deploy, "crd")]);
    server.must(["apply", "-f", join(deploy, "base/namespace.yaml")]);
    server.must(["apply", "-f", "-"], releaseText("guard.yaml"));
    server.must(["create", "clusterrolebinding", "sre", "--clusterrole=levee-approver", "--group=sre"]);
    await untilAnswer(server, { method: "GET", path: decisions }, ({ code }) => code === 200);
    return server;
  } catch (thrown) {
    await server.stop();
    throw thrown;
  }
}

/** An approval counts only if the policies were older than some seconds when it was made. */
export async function untilPoliciesCount(server: PolicyServer): Promise<void> {
  const kinds = "validatingadmissionpolicies,validatingadmissionpolicybindings";
  const times = server.must(["get", kinds, "-o", "jsonpath={.items[*].metadata.creationTimestamp}"]).split(" ");
  const newestMs = Math.max(...times.map((time) => Date.parse(time)));
  // Their time is cut off to the second.
  const countsMs = newestMs + policyAgeMinMs + 1_000;
  await until("the policies are old enough", () => Date.now() > countsMs || undefined);
}

/** A policy counts some seconds after it was made, and some after it is gone: asks until the answer is the one expected. */
export async function untilAnswer(
  server: PolicyServer,
  ask: Ask,
  isExpected: (answer: Answer) => boolean,
): Promise<Answer> {
  let last: Answer = { code: 0, text: "" };
  for (let attempt = 0; attempt < 200; attempt += 1) {
    last = await server.ask(ask);
    if (isExpected(last)) return last;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  throw new Error(
    `${ask.method} ${ask.path} does not get the answer expected after 30 s, but ${last.code} ${last.text}`,
  );
}

/** The same request as a trial: nothing is stored. Not for DELETE, whose options travel in the body. */
export function dry(ask: Ask): Ask {
  return { ...ask, path: `${ask.path}?dryRun=All` };
}

export interface ShortPod {
  readonly name: string;
  readonly namespace?: string;
  readonly node?: string;
  readonly account?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owners?: readonly object[];
}

export function podBody({ name, namespace = "fc", node, account, annotations, owners }: ShortPod): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, annotations, ownerReferences: owners },
    spec: { nodeName: node, serviceAccountName: account, containers: [{ name: "main", image: "example.com/none" }] },
  };
}

/** Makes the pod, sets its status, and gives its UID. */
export async function makePod(server: PolicyServer, pod: ShortPod, status?: object): Promise<string> {
  const path = `/api/v1/namespaces/${pod.namespace ?? "fc"}/pods`;
  const made = await server.ask({ method: "POST", path, body: podBody(pod) });
  if (made.code !== 201) throw new Error(`The pod ${pod.name} cannot be made: ${made.text}`);
  if (status !== undefined) {
    const body = { status };
    const set = await server.ask({ method: "PATCH", path: `${path}/${pod.name}/status`, body, type: mergePatch });
    if (set.code !== 200) throw new Error(`The status of ${pod.name} cannot be set: ${set.text}`);
  }
  return (JSON.parse(made.text) as { metadata: { uid: string } }).metadata.uid; // what the API server prints
}
