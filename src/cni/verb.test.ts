import { describe, expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { isVerb, parseRequest, type RawRequest, verbTable } from "./verb.ts";

const complete: RawRequest = {
  verb: "ADD",
  containerId: "c0ffee",
  netns: "/run/netns/a",
  ifname: "eth0",
  cniArgs: "K8S_POD_NAMESPACE=b;K8S_POD_NAME=a;X=y=z",
  cniPath: "/opt/cni/bin:/usr/lib/cni",
};
const empty: RawRequest = { verb: "ADD", containerId: "", netns: "", ifname: "", cniArgs: "", cniPath: "" };

function refusal(raw: RawRequest): LeveeError {
  try {
    parseRequest(raw);
  } catch (thrown) {
    if (thrown instanceof LeveeError) return thrown;
    throw thrown;
  }
  throw new Error("accepted");
}

describe("parseRequest", () => {
  test("reads ADD and CHECK with everything", () => {
    for (const verb of ["ADD", "CHECK"] as const) {
      const { args, ...request } = parseRequest({ ...complete, verb });
      expect(args.pairs).toEqual([
        ["K8S_POD_NAMESPACE", "b"],
        ["K8S_POD_NAME", "a"],
        ["X", "y=z"],
      ]);
      expect(request as object).toEqual({
        verb,
        containerId: "c0ffee",
        netns: "/run/netns/a",
        ifname: "eth0",
        cniPath: "/opt/cni/bin:/usr/lib/cni",
      });
    }
  });

  test("reads DEL without a netns, CNI_PATH or CNI_ARGS", () => {
    const request = parseRequest({ ...empty, verb: "DEL", containerId: "a", ifname: "net1" });
    expect(request as object).toEqual({
      verb: "DEL",
      containerId: "a",
      netns: undefined,
      ifname: "net1",
      args: { pairs: [] },
      cniPath: "",
    });
  });

  test("reads GC, STATUS and VERSION and does not look at what they do not use", () => {
    const junk = { ...complete, containerId: "../x", netns: "x", ifname: "a b", cniArgs: "junk" };
    for (const verb of ["GC", "STATUS", "VERSION"] as const) {
      expect(parseRequest({ ...junk, verb })).toEqual({ verb, args: { pairs: [] }, cniPath: complete.cniPath });
    }
    expect(parseRequest({ ...empty, verb: "STATUS" }).verb).toBe("STATUS");
    expect(parseRequest({ ...empty, verb: "VERSION" }).verb).toBe("VERSION");
  });

  test.each([
    ["ADD", "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH"],
    ["CHECK", "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH"],
    ["DEL", "CNI_CONTAINERID,CNI_IFNAME"],
    ["GC", "CNI_PATH"],
  ])("names all variables %s misses at once", (verb, names) => {
    const error = refusal({ ...empty, verb });
    expect(error).toMatchObject({ code: "env-invalid", cniCode: 4 });
    expect(error.message).toBe(`Cannot serve ${verb}: required env variables [${names}] missing`);
  });

  test("refuses an invalid pod name before anything is stored under it", () => {
    const error = refusal({ ...complete, cniArgs: "K8S_POD_NAMESPACE=../x;K8S_POD_NAME=web" });
    expect(error.code).toBe("env-invalid");
    expect(error.message).toContain("CNI_ARGS must name the pod as Kubernetes does");
  });

  test("reports missing and wrong variables together", () => {
    const error = refusal({
      ...complete,
      containerId: "../../etc",
      netns: "",
      ifname: "way-too-long-name",
      cniArgs: "A;B",
    });
    expect(error.message).toBe(
      "Cannot serve ADD: required env variables [CNI_NETNS] missing; " +
        "CNI_CONTAINERID must be letters, digits, '_', '.' and '-', and start with a letter or digit: current value is \"../../etc\"; " +
        'CNI_IFNAME interface name is too long: current value is "way-too-long-name"; ' +
        "CNI_ARGS must be KEY=VALUE pairs separated by ';': current value is \"A;B\"",
    );
  });
});

describe("parseRequest on single values", () => {
  test.each(["", "add", "ADD ", "UPDATE", "constructor", "__proto__"])("refuses the verb %j", (verb) => {
    expect(refusal({ ...complete, verb }).message).toBe(
      `Cannot serve CNI_COMMAND as it must be one of ADD, CHECK, DEL, GC, STATUS, VERSION: current value is ${JSON.stringify(verb)}`,
    );
  });

  test.each(["a", "A-b_c.d", "0", "a".repeat(253)])("accepts the container ID %j", (containerId) => {
    expect(parseRequest({ ...complete, containerId })).toMatchObject({ containerId });
  });

  test.each([".", "..", "-a", "_a", "a/b", "a b", "a\n", "ä", "a\0", "a".repeat(254)])(
    "refuses the container ID %j",
    (containerId) => {
      expect(refusal({ ...complete, containerId }).message).toStartWith("Cannot serve ADD: CNI_CONTAINERID must");
    },
  );

  test.each(["a", "net1", "eth0.100", "fifteen-bytes-x", "ééééééé", "a@b"])(
    "accepts the interface name %j",
    (ifname) => {
      expect(parseRequest({ ...complete, ifname })).toMatchObject({ ifname });
    },
  );

  test.each([
    [".", "is . or .."],
    ["..", "is . or .."],
    ["sixteen-bytes-xx", "is too long"],
    ["éééééééé", "is too long"],
    ["a/b", "contains / or : or whitespace"],
    ["a:b", "contains / or : or whitespace"],
    ["a b", "contains / or : or whitespace"],
    ["a\tb", "contains / or : or whitespace"],
    ["a\u00a0b", "contains / or : or whitespace"],
    ["a\u0085b", "contains / or : or whitespace"],
    ["a\0", "contains control characters"],
  ])("refuses the interface name %j", (ifname, reason) => {
    expect(refusal({ ...complete, ifname }).message).toContain(`CNI_IFNAME interface name ${reason}`);
  });

  test.each([
    ["run/netns/a", "must be an absolute path"],
    ["/run/../etc", "must not contain NUL or '..'"],
    ["/run/netns/..", "must not contain NUL or '..'"],
    ["/run/\0", "must not contain NUL or '..'"],
    [`/${"a".repeat(4095)}`, "must be shorter than 4096 bytes"],
  ])("refuses the netns %j", (netns, reason) => {
    expect(refusal({ ...complete, netns }).message).toContain(`CNI_NETNS ${reason}`);
    expect(refusal({ ...complete, verb: "DEL", netns }).message).toContain(`CNI_NETNS ${reason}`);
  });

  test.each(["/proc/1234/ns/net", "/run/netns/cni-1..2", "/a"])("accepts the netns %j", (netns) => {
    expect(parseRequest({ ...complete, netns })).toMatchObject({ netns });
  });

  test("refuses NUL in CNI_PATH and cuts long values in the message", () => {
    expect(refusal({ ...complete, cniPath: "/a\0" }).message).toContain("CNI_PATH must not contain NUL");
    expect(refusal({ ...complete, containerId: `-${"a".repeat(9000)}` }).message.length).toBeLessThan(400);
  });
});

describe("verbTable", () => {
  test("has a row for every verb and every variable", () => {
    expect(Object.keys(verbTable)).toEqual(["ADD", "CHECK", "DEL", "GC", "STATUS", "VERSION"]);
    for (const row of Object.values(verbTable)) {
      expect(Object.keys(row)).toEqual(["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH"]);
    }
    expect(isVerb("GC")).toBe(true);
    expect(isVerb("toString")).toBe(false);
  });
});
