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
  /** The CNI error's code, when the program said one. */
  readonly code?: number;
  /** Why it failed; empty when it did not. */
  readonly message: string;
}

/** Whoever makes CNI calls for a fleet: through a shim, or plugins directly. */
export interface Caller {
  /** Never rejects: a program that cannot be started is a call that failed. */
  call(verb: CallVerb, sandbox: StormSandbox): Promise<CallResult>;
  /** The processes of calls under way, whose children are the plugins. */
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

/** At most `most` calls at once, the others in the order in which they came. */
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
