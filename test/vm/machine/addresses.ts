/** QEMU's own network: the machine that runs QEMU is the gateway, and a connection to it arrives on its loopback. */
export const hostAddress = "10.0.2.2";
export const guestAddress = "10.0.2.15";
/** Where the guest's port 22 is on the loopback. The suite has a network namespace of its own. */
export const sshPort = 2222;
