import type { Attached } from "../node/attach-pod.ts";
import { renderTable } from "./table.ts";

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
