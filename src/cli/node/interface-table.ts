import type { Attached } from "./attach-pod.ts";
import { renderTable } from "../terminal/table.ts";

export function interfaceTable(attached: Pick<Attached, "interfaces">): string {
  const rows = attached.interfaces.map((link) => [
    link.ifname,
    link.network,
    link.ips.join(","),
    link.mac,
    link.gateways.join(","),
  ]);
  return renderTable(["INTERFACE", "NETWORK", "IPS", "MAC", "GATEWAY"], rows);
}
