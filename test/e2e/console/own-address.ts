import { networkInterfaces } from "node:os";
import { makePod } from "../guard/guard-server.ts";
import type { PolicyServer } from "../policy-server.ts";

/** The API server proxies to no loopback address. */
export const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

export function missingAddress(): string | undefined {
  return ownAddress === undefined ? "the machine has no address of its own" : undefined;
}

/** A Service that leads to a program on this machine. The API server proxies only to what a pod says of itself. */
export async function makeService(
  server: PolicyServer,
  name: string,
  { port, targetPort }: { readonly port: number; readonly targetPort: number },
): Promise<void> {
  await makePod(server, { name, namespace: "monitoring" }, { podIP: ownAddress, podIPs: [{ ip: ownAddress }] });
  const metadata = { name, namespace: "monitoring" };
  const ports = [{ name: "web", port: targetPort, protocol: "TCP" }];
  const targetRef = { kind: "Pod", name, namespace: "monitoring" };
  const objects = [
    { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ name: "web", port, targetPort }] } },
    { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [{ addresses: [{ ip: ownAddress, targetRef }], ports }] },
  ];
  for (const object of objects) server.must(["apply", "-f", "-"], JSON.stringify(object));
}
