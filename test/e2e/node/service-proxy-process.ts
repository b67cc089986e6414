/**
 * What kube-proxy does for the API server: connections to its service address lead to it. A process of its own, because
 * the tests hold up their own. `bun service-proxy-process.ts FROM_HOST FROM_PORT TO_HOST TO_PORT`
 */
import { connect, createServer } from "node:net";

const [fromHost, fromPort, toHost, toPort] = process.argv.slice(2);

createServer((near) => {
  const far = connect(Number(toPort), toHost);
  near.pipe(far).pipe(near);
  // A server that is away ends the connection, and so does a client.
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const)
    one.on("error", () => other.destroy()).on("close", () => other.destroy());
}).listen(Number(fromPort), fromHost);
