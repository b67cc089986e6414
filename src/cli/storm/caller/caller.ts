import type { PodKey } from "../../node/names.ts";

/** One sandbox of a pod: kubelet makes a new one for every attempt. */
export interface StormSandbox extends PodKey {
  readonly uid: string;
  readonly containerId: string;
  readonly netnsPath: string;
}

export type CallVerb = "ADD" | "DEL";

/** How a CNI call ended. */
export interface CallResult {
  readonly isOk: boolean;
  /** The CNI error's code, if the program printed one. */
  readonly code?: number;
  /** Why it failed; empty when it did not. */
  readonly message: string;
}

/** Makes CNI calls for a fleet, through a shim or directly to plugins. */
export interface Caller {
  /** Never rejects: a program that cannot start is a failed call. */
  call(verb: CallVerb, sandbox: StormSandbox): Promise<CallResult>;
  /** Process IDs of the running calls; the plugins are their children. */
  readonly running: ReadonlySet<number>;
}

/** The variables of the CNI specification and of Kubernetes, as containerd sets them. */
export function sandboxEnv(verb: CallVerb, sandbox: StormSandbox, cniPath: string): Record<string, string> {
  return {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: sandbox.containerId,
    CNI_NETNS: sandbox.netnsPath,
    CNI_IFNAME: "eth0",
    CNI_PATH: cniPath,
    CNI_ARGS: [
      "IgnoreUnknown=1",
      `K8S_POD_NAMESPACE=${sandbox.namespace}`,
      `K8S_POD_NAME=${sandbox.name}`,
      `K8S_POD_INFRA_CONTAINER_ID=${sandbox.containerId}`,
      `K8S_POD_UID=${sandbox.uid}`,
    ].join(";"),
  };
}

/** Limits a caller to `most` calls at once; the others wait in order. */
export function atMostAtOnce(caller: Caller, most: number): Caller {
  const line: (() => void)[] = [];
  let free = most;
  return {
    running: caller.running,
    async call(verb, sandbox) {
      if (free === 0) await new Promise<void>((resolve) => void line.push(resolve));
      else free -= 1;
      try {
        return await caller.call(verb, sandbox);
      } finally {
        const next = line.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
