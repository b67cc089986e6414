import { expect, test } from "bun:test";
import { readNetwork } from "./read-network.ts";
import { hostLocalRule } from "./rules/address-rule.ts";
import { networkSegment } from "./segment.ts";

const place = { file: "", line: 1, column: 1, endLine: 1, endColumn: 1 };
const ipam = { type: "host-local", subnet: "10.1.0.0/24" };

test.each<[object, Readonly<Record<string, string>>, string, string[]]>([
  [{}, {}, "maybe", ["note"]],
  [{}, { "levee.dev/uplink": "eth1.57" }, "maybe", ["note"]],
  // Each node has a segment of its own, so host-local is right there.
  [{}, { "levee.dev/uplink": "none" }, "no", []],
  [{ isGateway: true }, {}, "no", []],
])("a bridge with %j and %j is shared: %p, and LVN0502 says %j", (more, annotations, isShared, severities) => {
  const config = JSON.stringify({ cniVersion: "1.0.0", type: "bridge", bridge: "br0", ipam, ...more });
  const named = { title: "lan", namespace: "prod", name: "lan", locate: () => place };
  const read = readNetwork({ ...named, annotations, config, isConfigNoText: false });
  if ("code" in read) throw new Error(read.message);
  expect(networkSegment(read)?.isShared).toBe(isShared as "maybe");
  expect(hostLocalRule(read).map(({ severity }) => severity)).toEqual(severities as "note"[]);
});
