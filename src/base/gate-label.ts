/**
 * On the pods of the daemon and the hand: keeps kured (`--blocking-pod-selector=levee.dev/reboot=deny`) from rebooting
 * their node. The pods are made with it. The guard takes it away while a reboot is allowed.
 */
export const gateLabel = "levee.dev/reboot";
export const gateLabelDeny = "deny";

/** Whether a pod with these labels is one that bears the gate's label, in every way of installing. */
export function isGatePod(labels: Readonly<Record<string, unknown>>): boolean {
  const component = labels["app.kubernetes.io/component"];
  return labels["app.kubernetes.io/name"] === "levee" && (component === "daemon" || component === "hand");
}
