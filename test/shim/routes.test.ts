import { beforeEach, describe, expect, test } from "bun:test";
import type { IfName, NetnsPath } from "../../src/base/brand.ts";
import { encodeRoutes, type RouteOp } from "../../src/wire/messages.ts";
import { readOutcome, type Outcome } from "../../src/wire/outcome.ts";
import { ip, ipIn } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();
let peer: Peer;
let netns: NetnsPath;

/** Two interfaces with addresses of both families, as a pod with two networks has. */
beforeEach(async () => {
  netns = sandbox.netns("routes");
  for (const [index, name] of ["eth0", "net1"].entries()) {
    ipIn(netns, "link", "add", name, "type", "veth", "peer", "name", `${name}-peer`);
    ipIn(netns, "link", "set", `${name}-peer`, "up");
    ipIn(netns, "addr", "add", `10.${index}.0.2/24`, "dev", name);
    ipIn(netns, "addr", "add", `fd00:${index}::2/64`, "dev", name, "nodad");
    ipIn(netns, "link", "set", name, "up");
  }
  sandbox.call("ADD", {}, { CNI_NETNS: netns });
  peer = await daemon.accept();
  await peer.begin();
});

async function change(...ops: RouteOp[]): Promise<Outcome> {
  peer.send(encodeRoutes(1, netns, ops));
  return readOutcome(await peer.expect("OUTCOME"));
}

function defaults(family: 4 | 6): string[] {
  const lines = ipIn(netns, `-${family}`, "route", "show", "default").split("\n");
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}

function remove(family: 4 | 6, ifname: string): RouteOp {
  return { op: "delete-default", family, ifname: ifname as IfName };
}

function add(family: 4 | 6, ifname: string, gateway: readonly number[]): RouteOp {
  return { op: "add-default", family, ifname: ifname as IfName, gateway: Uint8Array.from(gateway) };
}

const gateway4 = { eth0: [10, 0, 0, 1], net1: [10, 1, 0, 1] };
const gateway6 = { net1: [0xfd, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] };

describe("IPv4", () => {
  test("every default route of the interface goes, whatever its metric; the others stay", async () => {
    ipIn(netns, "route", "add", "default", "via", "10.0.0.1", "dev", "eth0");
    for (const metric of ["100", "200"])
      ipIn(netns, "route", "add", "default", "via", "10.0.0.1", "dev", "eth0", "metric", metric);
    ipIn(netns, "route", "add", "default", "dev", "eth0", "metric", "300", "scope", "link");
    ipIn(netns, "route", "add", "default", "via", "10.1.0.1", "dev", "net1", "metric", "400");
    ipIn(netns, "route", "add", "default", "via", "10.0.0.1", "dev", "eth0", "table", "100");
    expect(await change(remove(4, "eth0"))).toMatchObject({ failure: undefined });
    expect(defaults(4)).toEqual(["default via 10.1.0.1 dev net1 metric 400"]);
    expect(ipIn(netns, "route", "show", "table", "100")).toContain("default via 10.0.0.1 dev eth0");
    expect(ipIn(netns, "route", "show", "10.0.0.0/24")).toContain("dev eth0");
  });

  test("the default route moves from one interface to the other", async () => {
    ipIn(netns, "route", "add", "default", "via", "10.0.0.1", "dev", "eth0");
    expect(await change(remove(4, "eth0"), add(4, "net1", gateway4.net1))).toMatchObject({ failure: undefined });
    expect(defaults(4)).toEqual(["default via 10.1.0.1 dev net1"]);
  });

  test("the same route again is no error, another one in its place is", async () => {
    expect((await change(add(4, "net1", gateway4.net1))).failure).toBeUndefined();
    expect((await change(add(4, "net1", gateway4.net1))).failure).toBeUndefined();
    const outcome = await change(add(4, "eth0", gateway4.eth0));
    expect(outcome).toMatchObject({
      failure: "routes",
      errno: 17,
      message: "Cannot add the IPv4 default route of eth0: File exists (errno 17)",
    });
    expect(defaults(4)).toEqual(["default via 10.1.0.1 dev net1"]);
  });

  test("a multipath route loses only the hops of the interface", async () => {
    ipIn(
      netns,
      "route",
      "add",
      "default",
      "nexthop",
      "via",
      "10.0.0.1",
      "dev",
      "eth0",
      "nexthop",
      "via",
      "10.1.0.1",
      "dev",
      "net1",
    );
    expect(await change(remove(4, "net1"))).toMatchObject({ failure: undefined });
    expect(defaults(4).join(" ")).toMatch(/^default via 10\.0\.0\.1 dev eth0/);
    expect(await change(remove(4, "eth0"))).toMatchObject({ failure: undefined });
    expect(defaults(4)).toEqual([]);
  });

  test("a route through a nexthop object goes too", async () => {
    ipIn(netns, "nexthop", "add", "id", "7", "via", "10.0.0.1", "dev", "eth0");
    ipIn(netns, "route", "add", "default", "nhid", "7");
    expect(await change(remove(4, "eth0"))).toMatchObject({ failure: undefined });
    expect(defaults(4)).toEqual([]);
  });

  test("a gateway that cannot be reached is told with its errno", async () => {
    expect(await change(add(4, "net1", [192, 0, 2, 1]))).toMatchObject({ failure: "routes", errno: 101 });
  });
});

describe("IPv6", () => {
  test("every default route of the interface goes, also all hops of a multipath one", async () => {
    for (const address of ["fd00:0::1", "fd00:0::9"])
      ipIn(netns, "-6", "route", "append", "default", "via", address, "dev", "eth0", "metric", "50");
    ipIn(netns, "-6", "route", "append", "default", "via", "fd00:1::1", "dev", "net1", "metric", "50");
    ipIn(netns, "-6", "route", "add", "default", "via", "fd00:0::1", "dev", "eth0", "metric", "60");
    expect(await change(remove(6, "eth0"))).toMatchObject({ failure: undefined });
    expect(defaults(6).join(" ")).toMatch(/^default via fd00:1::1 dev net1 metric 50/);
  });

  test("a default route is added, and again is no error", async () => {
    expect((await change(add(6, "net1", gateway6.net1))).failure).toBeUndefined();
    expect((await change(add(6, "net1", gateway6.net1))).failure).toBeUndefined();
    expect(defaults(6).join(" ")).toMatch(/^default via fd00:1::1 dev net1 metric 1024/);
  });

  test("the families do not touch each other", async () => {
    ipIn(netns, "route", "add", "default", "via", "10.0.0.1", "dev", "eth0");
    ipIn(netns, "-6", "route", "add", "default", "via", "fd00:0::1", "dev", "eth0");
    await change(remove(6, "eth0"));
    expect(defaults(4)).toEqual(["default via 10.0.0.1 dev eth0"]);
    expect(defaults(6)).toEqual([]);
  });
});

test("no route leads through an interface that is not there, so a delete is done and an add fails", async () => {
  ipIn(netns, "route", "add", "default", "via", "10.0.0.1", "dev", "eth0");
  expect(await change(remove(4, "net9"), remove(6, "net9"))).toMatchObject({ failure: undefined });
  expect(await change(add(4, "net9", gateway4.net1))).toMatchObject({
    failure: "routes",
    errno: 19,
    message: "Cannot add the IPv4 default route of net9: No such device (errno 19)",
  });
  expect(defaults(4)).toEqual(["default via 10.0.0.1 dev eth0"]);
});

test("the namespace of the shim itself is left alone", async () => {
  const before = ip("route", "show", "default");
  await change(add(4, "net1", gateway4.net1), remove(4, "net1"));
  expect(ip("route", "show", "default")).toBe(before);
});

test("another namespace under the same path is not touched", async () => {
  const name = netns.slice("/run/netns/".length);
  ip("netns", "del", name);
  ip("netns", "add", name);
  expect(await change(remove(4, "lo"))).toMatchObject({
    failure: "routes",
    message: expect.stringContaining("another network namespace"),
  });
});

test("a namespace that is gone is told with its path", async () => {
  ip("netns", "del", netns.slice("/run/netns/".length));
  const outcome = await change(remove(4, "eth0"));
  ip("netns", "add", netns.slice("/run/netns/".length));
  expect(outcome).toMatchObject({ failure: "routes", errno: 2, message: expect.stringContaining(netns) });
});
