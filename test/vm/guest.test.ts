import { expect, test } from "bun:test";
import { parseFacts } from "./guest.ts";

test("parseFacts reads sandboxes with their interfaces, leases and cables", () => {
  const links = JSON.stringify([
    { ifname: "lo", address: "00:00:00:00:00:00" },
    {
      ifname: "net1",
      address: "02:57:00:00:00:01",
      master: "red",
      linkinfo: { info_kind: "macvlan" },
      addr_info: [
        { local: "10.57.0.2", scope: "global" },
        { local: "fe80::1", scope: "link" },
      ],
    },
    { ifname: "eth0", address: "02:00:00:00:00:09", linkinfo: { info_kind: "veth" } },
  ]);
  const text = [
    "sandbox abc default web-01 cni-1",
    links,
    "sandbox def levee-system levee-x host",
    "lease mac 10.57.0.2 abc",
    "veth vethab12",
    "",
  ];
  expect(parseFacts(text.join("\n"))).toEqual({
    sandboxes: [
      {
        id: "abc",
        namespace: "default",
        pod: "web-01",
        netns: "cni-1",
        links: [
          { ifname: "eth0", mac: "02:00:00:00:00:09", master: "", kind: "veth", addresses: [] },
          { ifname: "net1", mac: "02:57:00:00:00:01", master: "red", kind: "macvlan", addresses: ["10.57.0.2"] },
        ],
      },
      { id: "def", namespace: "levee-system", pod: "levee-x", netns: "host", links: [] },
    ],
    leases: [{ network: "mac", address: "10.57.0.2", containerId: "abc" }],
    veths: ["vethab12"],
  });
});

test("parseFacts finds nothing on an empty node", () => {
  expect(parseFacts("")).toEqual({ sandboxes: [], leases: [], veths: [] });
});
