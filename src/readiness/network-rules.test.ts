import { describe, expect, test } from "bun:test";
import {
  brokenNetwork,
  judgeNetwork,
  networksCheck,
  takenAddress,
  withDoubts,
  type HostFacts,
} from "./network-rules.ts";

const host: HostFacts = {
  hasProgram: (name) => (name === "unseen" ? undefined : name === "bridge"),
  program: () => undefined,
  link: () => undefined,
  hasLink: (name) => (name === "unseen" ? undefined : name.startsWith("br-") && name !== "br-prod"),
  hasFile: (path) => (path === "/unseen" ? undefined : path === "/run/there.sock"),
  filtersVlans: (bridge) => (bridge === "br-new" ? undefined : bridge === "br-tagged"),
  uplinks: (bridge) =>
    bridge === "br-unseen" ? undefined : bridge === "br-alone" ? [] : [{ name: "eth1", isUp: true }],
};

describe("judgeNetwork", () => {
  test("is ready when nothing is missing", () => {
    const needs = [{ programs: ["bridge"], links: [], bridge: { bridge: "br-lan" } }];
    expect(judgeNetwork("a/b", needs, host)).toEqual({ network: "a/b", state: "ready", reasons: [] });
  });

  test("is not ready with a bridge without an uplink, which is a gate, unless the site leaves that open", () => {
    const needsOf = (bridge: string, more: object = {}): Parameters<typeof judgeNetwork>[1] => [
      { programs: ["bridge"], links: [], bridge: { bridge }, ...more },
    ];
    const reasons = ["host bridge br-alone has no uplink (ip link set DEVICE master br-alone)"];
    expect(judgeNetwork("a/b", needsOf("br-alone"), host)).toMatchObject({
      state: "not-ready",
      reasons,
      gates: reasons,
    });
    const open = judgeNetwork("a/b", needsOf("br-alone", { isOpen: true }), host);
    expect(open).toEqual({ network: "a/b", state: "ready", reasons });
    expect(networksCheck([open])).toMatchObject({ state: "ok", detail: "1 ready, 1 without an uplink" });
  });

  test("is not ready with a tag on a bridge that does not filter VLANs", () => {
    const needs = (name: string): Parameters<typeof judgeNetwork>[1] => [
      { programs: ["bridge"], links: [], vlanBridges: [name] },
    ];
    expect(judgeNetwork("a/b", needs("br-lan"), host)).toMatchObject({
      state: "not-ready",
      reasons: ["host bridge br-lan does not filter VLANs (ip link set br-lan type bridge vlan_filtering 1)"],
    });
    for (const name of ["br-tagged", "br-new"]) expect(judgeNetwork("a/b", needs(name), host).state).toBe("ready");
  });

  test("is not ready without the daemon of a plugin, and says where that listens", () => {
    const needs = (socket: string): Parameters<typeof judgeNetwork>[1] => [
      { programs: ["bridge"], links: [], daemon: { name: "the daemon of dhcp", socket } },
    ];
    expect(judgeNetwork("a/b", needs("/run/cni/dhcp.sock"), host)).toMatchObject({
      state: "not-ready",
      reasons: ["the daemon of dhcp does not run (no /run/cni/dhcp.sock)"],
    });
    expect(judgeNetwork("a/b", needs("/run/there.sock"), host).state).toBe("ready");
    expect(judgeNetwork("a/b", needs("/unseen"), host).state).toBe("unknown");
  });

  test("names each thing that is missing, once", () => {
    const links = [
      { name: "eth9", role: "master" },
      { name: "ens7", role: "device" },
    ] as const;
    const needs = [
      { programs: ["bridge", "whereabouts"], links, bridge: { bridge: "br-prod" } },
      { programs: ["whereabouts"], links: [] },
    ];
    expect(judgeNetwork("a/b", needs, host)).toEqual({
      network: "a/b",
      state: "not-ready",
      reasons: [
        "missing plugin whereabouts",
        "missing host interface eth9",
        "missing host device ens7",
        "missing host bridge br-prod",
      ],
      gates: ["missing host bridge br-prod"],
    });
  });

  test("is not ready with a program that cannot be run or lacks the network's version, or on an unfit interface", () => {
    const plugin = { programs: ["bridge"], links: [], cniVersion: "1.1.0" };
    const reasonsOf = (more: Partial<HostFacts>, needs: object = {}): readonly string[] =>
      judgeNetwork("a/b", [{ ...plugin, ...needs }], { ...host, ...more }).reasons;
    expect(reasonsOf({ program: () => ({ versions: ["0.4.0", "1.0.0"] }) })).toEqual([
      "plugin bridge does not support cniVersion 1.1.0, only 0.4.0, 1.0.0",
    ]);
    expect(reasonsOf({ program: () => ({ versions: ["1.1.0"] }) })).toEqual([]);
    expect(reasonsOf({ program: () => ({ problem: "Exec format error" }) })).toEqual([
      "plugin bridge cannot be run (Exec format error)",
    ]);
    const links = [{ name: "br-lan", role: "master" as const }];
    expect(reasonsOf({ link: () => ({ isUp: false, mtu: 1_500, isPort: false }) }, { links })).toEqual([
      "host interface br-lan is down (ip link set br-lan up)",
    ]);
  });

  test("is unknown where no hand could look, unless something is surely missing", () => {
    expect(judgeNetwork("a/b", [{ programs: ["unseen"], links: [] }], host).state).toBe("unknown");
    expect(judgeNetwork("a/b", [{ programs: ["unseen", "other"], links: [] }], host).state).toBe("not-ready");
  });
});

describe("judgeNetwork about uplinks", () => {
  test("is unknown, and no gate, with a bridge whose uplinks no hand could see, unless the site leaves that open", () => {
    const needs = { programs: ["bridge"], links: [], bridge: { bridge: "br-unseen" } };
    const unknown = judgeNetwork("a/b", [needs], host);
    const reasons = ["the ports of host bridge br-unseen were not seen"];
    expect(unknown).toEqual({ network: "a/b", state: "unknown", reasons });
    expect(networksCheck([unknown])).toMatchObject({ state: "ok", detail: "0 ready, 1 not checked yet" });
    const ready = { network: "a/b", state: "ready", reasons: [] } as const;
    expect(judgeNetwork("a/b", [{ ...needs, isOpen: true }], host)).toEqual(ready);
    expect(judgeNetwork("a/b", [{ programs: ["bridge"], links: [] }], host)).toEqual(ready);
    // Before the first look there is nothing to say.
    const unlooked = { ...host, hasLink: () => undefined };
    expect(judgeNetwork("a/b", [needs], unlooked)).toEqual({ network: "a/b", state: "unknown", reasons: [] });
  });

  test("is not ready, which is a gate, with an interface of the bridge's name that is no bridge", () => {
    const needs = [{ programs: ["bridge"], links: [], bridge: { bridge: "br-lan" } }];
    const reasons = ["missing host bridge br-lan (the interface br-lan is not a bridge)"];
    expect(judgeNetwork("a/b", needs, { ...host, uplinks: () => "no-bridge" })).toEqual({
      network: "a/b",
      state: "not-ready",
      reasons,
      gates: reasons,
    });
  });
});

describe("withDoubts", () => {
  const taken = takenAddress("10.1.0.9", "br-lan");

  test("keeps a network ready that would give pods an address of the host, and says which", () => {
    const ready = judgeNetwork("a/b", [], host);
    const doubtful = withDoubts(ready, [taken]);
    expect(doubtful).toEqual({
      network: "a/b",
      state: "ready",
      reasons: ["host address 10.1.0.9 of br-lan is in the network's range"],
    });
    expect(networksCheck([ready, doubtful])).toMatchObject({
      state: "ok",
      detail: "2 ready, 1 with an address of this host in the range",
    });
    expect(withDoubts(ready, [])).toEqual(ready);
  });

  test("says nothing of it where the network is not ready", () => {
    const broken = brokenNetwork("a/b", "no JSON");
    expect(withDoubts(broken, [taken])).toEqual(broken);
  });
});

describe("networksCheck", () => {
  test("counts the ready networks and those not checked yet", () => {
    const ready = judgeNetwork("a/b", [], host);
    expect(networksCheck([ready, { ...ready, state: "unknown" }])).toMatchObject({
      state: "ok",
      detail: "1 ready, 1 not checked yet",
    });
  });

  test("warns with the first three that are not ready", () => {
    const broken = ["a", "b", "c", "d", "e"].map((name) => brokenNetwork(`x/${name}`, "no JSON"));
    expect(networksCheck(broken)).toMatchObject({
      state: "warning",
      detail: "5 of 5 cannot be attached here: x/a (no JSON); x/b (no JSON); x/c (no JSON); and 2 more",
    });
  });
});
