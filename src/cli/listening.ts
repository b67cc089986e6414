import { connect } from "node:net";

/** Whether anybody accepts connections on the socket now. Says nothing on it. */
export function isListening(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const peer = connect({ path: socket });
    // Stays on: an unhandled error after the answer would end the program.
    peer.on("error", () => resolve(false));
    peer.once("connect", () => {
      resolve(true);
      peer.destroy();
    });
  });
}
