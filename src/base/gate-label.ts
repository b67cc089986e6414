/**
 * On the pods of the daemon and the hand: keeps kured (`--blocking-pod-selector=levee.dev/reboot=deny`) from rebooting
 * their node. Pods are made with `deny`. The guard writes `allow` while a reboot is allowed, and either side closes.
 */
export const gateLabel = "levee.dev/reboot";
export const gateLabelDeny = "deny";
