import { elementsOf, memberOf, type ObjectNode } from "../json-node.ts";
import { AddressFields, writtenText } from "./address-fields.ts";
import type { AddressPool, AddressProblem, AddressReading } from "./address-reading.ts";

/** The addresses that every pod of the network gets. A network without any takes them from the pod. */
export function staticPools(ipam: ObjectNode): AddressReading {
  const pools: AddressPool[] = [];
  const problems: AddressProblem[] = [];
  for (const node of elementsOf(memberOf(ipam, "addresses")?.value)) {
    const fields = new AddressFields(node);
    const block = fields.block("address");
    if (block !== undefined) {
      const { range, address } = block.value;
      fields.gateway(range, writtenText(block.node));
      const { family, value } = address;
      pools.push({
        by: "static",
        ranges: [{ family, first: value, last: value }],
        subnet: range,
        leaseKey: "",
        set: pools.length,
        span: block.node,
      });
    }
    problems.push(...fields.problems);
  }
  return { pools, problems };
}
