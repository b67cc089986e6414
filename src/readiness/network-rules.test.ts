import { describe, expect, test } from "bun:test";
import { brokenNetwork, judgeNetwork, networksCheck, type HostFacts } from "./network-rules.ts";

const host: HostFacts = {
  hasProgram: (name) => (name === "unseen" ? undefined : name === "bridge"),
  hasLink: (name) => (name === "unseen" ? undefined : name.startsWith("br-") && name !== "br-prod"),
  hasFile: (path) => (path === "/unseen" ? undefined : path === "/run/there.sock"),
  filtersVlans: (bridge) => (bridge === "br-new" ? undefined : bridge === "br-tagged"),
  hasUplink: (bridge) => (bridge === "br-unseen" ? undefined : bridge !== "br-alone"),
};

describe("judgeNetwork", () => {
  test("is ready when nothing is missing", () => {
    const needs = [{ programs: ["bridge"], links: [{ name: "br-lan", role: "bridge" as const }] }];
    expect(judgeNetwork("a/b", needs, host)).toEqual({ network: "a/b", state: "ready", reasons: [] });
  });

  test("is ready with a bridge without an uplink, with a doubt", () => {
    const needsOf = (name: string): Parameters<typeof judgeNetwork>[1] => [
      { programs: ["bridge"], links: [{ name, role: "bridge" as const }] },
    ];
    expect(judgeNetwork("a/b", needsOf("br-alone"), host)).toMatchObject({
      state: "ready",
      reasons: ["host bridge br-alone has no uplink"],
    });
    expect(judgeNetwork("a/b", needsOf("br-unseen"), host)).toMatchObject({ state: "ready", reasons: [] });
    expect(networksCheck([judgeNetwork("a/b", needsOf("br-alone"), host)])).toMatchObject({
      state: "ok",
      detail: "1 ready, 1 without an uplink",
    });
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
      { name: "br-prod", role: "bridge" },
      { name: "eth9", role: "master" },
      { name: "ens7", role: "device" },
    ] as const;
    const needs = [
      { programs: ["bridge", "whereabouts"], links },
      { programs: ["whereabouts"], links: [] },
    ];
    expect(judgeNetwork("a/b", needs, host)).toEqual({
      network: "a/b",
      state: "not-ready",
      reasons: [
        "missing plugin whereabouts",
        "missing host bridge br-prod",
        "missing host interface eth9",
        "missing host device ens7",
      ],
    });
  });

  test("is unknown where no hand could look, unless something is surely missing", () => {
    expect(judgeNetwork("a/b", [{ programs: ["unseen"], links: [] }], host).state).toBe("unknown");
    expect(judgeNetwork("a/b", [{ programs: ["unseen", "other"], links: [] }], host).state).toBe("not-ready");
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
