/** The nodes that a cluster can have. The first has the control plane; few tests start the second (../second/). */
export const nodes = [
  { name: "levee-e2e", address: "172.31.255.1", apiHost: "127.0.0.1" },
  { name: "levee-e2e-2", address: "172.31.255.2", apiHost: "172.31.255.1" },
] as const;

/** Tells a process that it is the second node. */
export const secondNodeVariable = "LEVEE_E2E_SECOND_NODE";

/** The node on which this process runs. */
export const thisNode = process.env[secondNodeVariable] === undefined ? nodes[0] : nodes[1];

/** With which its kubelet comes to the API server. */
export function kubeletTokenOf(node: string): string {
  return `kubelet-token-${node}`;
}
