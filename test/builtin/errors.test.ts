/** Errors that happen to real nodes: the built-in plugin says what Debian's program says, and leaves the same behind. */
import { expect, test } from "bun:test";
import { distributionPlugins } from "../lab/lab.ts";
import type { Case, Step, Upstream } from "./case.ts";
import { life } from "./chance.ts";
import { compare } from "./compare.ts";
import { World } from "./world.ts";

const debian: Upstream = { version: "1.1.1", folder: distributionPlugins };
const lane = `lve${process.pid}`;

function bridgeCase(before: readonly string[], more: Readonly<Record<string, unknown>> = {}): Case {
  const ipam = { type: "host-local", subnet: "10.0.0.0/29", dataDir: "$FOLDER/leases" };
  const conf = { cniVersion: "1.0.0", name: "net", type: "bridge", isGateway: true, ipam, ...more };
  return { seed: 1, plugin: "bridge", conf, args: "", before, steps: life("1.0.0") };
}

const taken = [2, 3, 4, 5, 6].map((host) => `printf 'other\\r\\neth0' > leases/net/10.0.0.${host}`);

const cases: readonly (readonly [string, Case, string])[] = [
  [
    "a full range",
    bridgeCase(["mkdir -p leases/net", ...taken]),
    "failed to allocate for range 0: no IP addresses available in range set: 10.0.0.1-10.0.0.6",
  ],
  [
    "a range full of garbage",
    bridgeCase(["mkdir -p leases/net", ...taken.map((line) => line.replace("other", "\\377\\000"))]),
    "failed to allocate for range 0: no IP addresses available in range set: 10.0.0.1-10.0.0.6",
  ],
  [
    "an MTU that the kernel refuses",
    bridgeCase([], { mtu: 70_000 }),
    'failed to create bridge "cni0": could not add "cni0": invalid argument',
  ],
  [
    "an address that the bridge has otherwise",
    bridgeCase(["host ip link add cni0 type bridge", "host ip addr add 10.0.0.6/24 dev cni0"]),
    'failed to set bridge addr: "cni0" already has an IP address different from 10.0.0.1/29',
  ],
  ["a folder for leases that is a file", bridgeCase([": > leases"]), `mkdir /tmp/${lane}/leases: not a directory`],
];

test.each(cases)("%s: the program's own error in its own words", async (_, of, message) => {
  const add: Step = { command: "ADD", id: "c1", ifname: "eth0" };
  const found = await compare(lane, debian, of);
  expect(found).toEqual({ difference: [], isGood: false });
  await using world = await World.make(lane, debian, of);
  const answer = await world.call(add, "built-in");
  expect(JSON.parse(answer.stdout)).toEqual({ code: 999, msg: message });
});

test("a lock that a dead process held, a garbage lease and a garbage position are no hindrance", async () => {
  const before = [
    "mkdir -p leases/net",
    "flock leases/net/lock sh -c 'kill -9 $$' || true",
    "printf '\\377\\000garbage' > leases/net/10.0.0.2",
    "printf garbage > leases/net/last_reserved_ip.0",
  ];
  expect(await compare(lane, debian, bridgeCase(before))).toEqual({ difference: [], isGood: true });
});
