import { describe, expect, test } from "bun:test";
import type { Namespace } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { keptWish } from "../base/annotations.ts";
import { defaultNetworkOf, networkNameOf, parseSelection } from "./selection.ts";

const pod = "web" as Namespace;
const jsonPrefix =
  "parsePodNetworkAnnotation: failed to parse pod Network Attachment Selection Annotation JSON format: ";

function parse(annotation: string): object[] {
  return parseSelection(annotation, pod);
}

function refusal(attempt: () => unknown): LeveeError {
  try {
    attempt();
  } catch (thrown) {
    if (thrown instanceof LeveeError) return thrown;
    throw thrown;
  }
  throw new Error("accepted");
}

/** One element with some members, in JSON form. */
function element(members: string): object | undefined {
  return parse(`[{"name":"lan",${members}}]`)[0];
}

test("parseSelection refuses more networks than one pod can have, in either grammar", () => {
  const names = Array.from({ length: 65 }, (_, index) => `net${index}`);
  expect(parseSelection(names.slice(1).join(","), "default" as Namespace)).toHaveLength(64);
  const json = JSON.stringify(names.map((name) => ({ name })));
  for (const annotation of [names.join(","), json]) {
    expect(() => parseSelection(annotation, "default" as Namespace)).toThrow("at most 64 networks: it asks for 65");
  }
});

describe("parseSelection in short form", () => {
  test.each([
    ["net1", [{ name: "net1", namespace: "web" }]],
    [
      "net1,net2",
      [
        { name: "net1", namespace: "web" },
        { name: "net2", namespace: "web" },
      ],
    ],
    [
      " default/net1 , net2@eth5",
      [
        { name: "net1", namespace: "default" },
        { name: "net2", namespace: "web", ifname: "eth5" },
      ],
    ],
    ["default/net1@my_interface", [{ name: "net1", namespace: "default", ifname: "my_interface" }]],
    ["net1@fifteen-bytes-x", [{ name: "net1", namespace: "web", ifname: "fifteen-bytes-x" }]],
    ["a / b @ c", [{ name: "b", namespace: "a", ifname: "c" }]],
    [
      "net1,net1",
      [
        { name: "net1", namespace: "web" },
        { name: "net1", namespace: "web" },
      ],
    ],
    [
      "net-a,",
      [
        { name: "net-a", namespace: "web" },
        { name: "", namespace: "web" },
      ],
    ],
  ])("reads %j", (annotation, elements) => {
    expect(parse(annotation)).toEqual(elements.map((each) => ({ ...each, unknownKeys: [] })));
  });

  test("reads the empty annotation as no networks", () => {
    expect(parse("")).toEqual([]);
  });

  test.each([
    ["a@b/c@d/e@f", "Invalid network object (failed at '/')"],
    ["x@y/z@w@v", "Invalid network object (failed at '@')"],
  ])("refuses %j", (annotation, reason) => {
    const error = refusal(() => parse(annotation));
    expect(error.code).toBe("annotation-invalid");
    expect(error.message).toBe(`parsePodNetworkAnnotation: parsePodNetworkObjectName: ${reason}`);
  });

  test.each([
    ["root@someIP/root@someOtherIP", "root@someIP"],
    ["Net1", "Net1"],
    ["net.1", "net.1"],
    ["-net", "-net"],
    ["net-/x", "net-"],
    ["default/n_1", "n_1"],
    ["a b", "a b"],
  ])("refuses the label in %j", (annotation, label) => {
    expect(refusal(() => parse(annotation)).message).toBe(
      `parsePodNetworkAnnotation: parsePodNetworkObjectName: Failed to parse: one or more items did not match comma-delimited format (must consist of lower case alphanumeric characters). Must start and end with an alphanumeric character), mismatch @ '${label}'`,
    );
  });

  test.each([
    ["all", "interface name is all or default, which the kernel reserves"],
    ["net%d", "interface name contains %, which the kernel replaces"],
  ])("refuses the interface name %j, which only the kernel would refuse", (ifname, why) => {
    expect(refusal(() => parse(`default/net1@${ifname}`)).message).toBe(
      `parsePodNetworkAnnotation: parsePodNetworkObjectName: Failed to parse interface name: ${why}. interface name '${ifname}'`,
    );
  });

  test.each(["myIfc Name", "very_long_interface_name", "sixteen-bytes-xx", "a:b", "..", "éééééééé", "a\u0000b"])(
    "refuses the interface name %j",
    (ifname) => {
      expect(refusal(() => parse(`default/net1@${ifname}`)).message).toBe(
        `parsePodNetworkAnnotation: parsePodNetworkObjectName: Failed to parse interface name: must be less than 15 chars and not contain '/' or spaces. interface name '${ifname}'`,
      );
    },
  );
});

describe("parseSelection in JSON form", () => {
  test("reads every field", () => {
    const annotation = `[{
      "name":"lan", "namespace":"infra", "interface":"lan0", "ips":["10.0.0.5/24","fd00::5"], "mac":"02:00:00:00:00:05",
      "infiniband-guid":"02:00:00:00:00:00:00:05", "portMappings":[{"hostPort":8080, "containerPort":80,"protocol":"TCP","hostIP":"10.0.0.1"}],
      "bandwidth":{"ingressRate":1000, "egressBurst":0}, "deviceID":"0000:03:02.0", "cni-args":{"a":1.0,"b":{"c": [] }},
      "default-route":["10.0.0.1","FD00::1"], "com.example/x":1, "later":true }]`;
    expect(parse(annotation)).toEqual([
      {
        name: "lan",
        namespace: "infra",
        ifname: "lan0",
        ips: ["10.0.0.5/24", "fd00::5"],
        mac: "02:00:00:00:00:05",
        infinibandGuid: "02:00:00:00:00:00:00:05",
        portMappings: '[{"hostPort":8080, "containerPort":80,"protocol":"TCP","hostIP":"10.0.0.1"}]',
        bandwidth: '{"ingressRate":1000, "egressBurst":0}',
        deviceId: "0000:03:02.0",
        cniArgs: { a: "1.0", b: '{"c": [] }' },
        defaultRoute: ["10.0.0.1", "fd00::1"],
        unknownKeys: ["com.example/x", "later"],
      },
    ]);
  });

  test("reads several elements in their order", () => {
    const elements = parseSelection('[{"name":"a"},{"name":"b","namespace":"other"},{"name":"c.example"}]', pod);
    expect(elements.map(networkNameOf) as string[]).toEqual(["web/a", "other/b", "web/c.example"]);
  });

  test("reads an empty array as no networks", () => {
    expect(parse("[]")).toEqual([]);
    expect(parse(" [ ] ")).toEqual([]);
  });

  test("takes the old name of interface only when the new one is absent", () => {
    expect(element('"interfaceRequest":"old0"')).toMatchObject({ ifname: "old0" });
    expect(element('"interfaceRequest":"old0","interface":"new0"')).toMatchObject({ ifname: "new0" });
    expect(element('"interfaceRequest":"old0","interface":""')).toMatchObject({ ifname: "old0" });
  });

  test("matches keys without regard to case, as Go does", () => {
    expect(parse('[{"Name":"lan","MAC":"02:00:00:00:00:05"}]')).toMatchObject([
      { name: "lan", mac: "02:00:00:00:00:05", unknownKeys: [] },
    ]);
  });

  test("matches the keys of portMappings and bandwidth in the same way, and keeps their bytes", () => {
    const portMappings = '[{"HostPort":80,"CONTAINERPORT":8080,"hostip":null}]';
    const bandwidth = '{"IngressRate":1,"ingressBurst":null}';
    expect(element(`"portMappings":${portMappings},"bandwidth":${bandwidth}`)).toMatchObject({
      portMappings,
      bandwidth,
    });
  });

  test("takes null and empty values for absent, but not an empty default-route or cni-args", () => {
    const bare = { name: "lan", namespace: "web", unknownKeys: [] };
    expect(
      element(
        '"namespace":"","ips":[],"mac":"","portMappings":[],"cni-args":null,"bandwidth":null,"default-route":null,"ipam-claim-reference":""',
      ),
    ).toEqual(bare);
    expect(element('"default-route":[]')).toEqual({ ...bare, defaultRoute: [] });
    expect(element('"cni-args":{}')).toEqual({ ...bare, cniArgs: {} });
  });

  test("reads ipam-claim-reference, alone and beside ips as OVN-Kubernetes documents it", () => {
    expect(element('"ipam-claim-reference":"vm-a.lan"')).toMatchObject({ ipamClaimReference: "vm-a.lan" });
    const both = element('"ipam-claim-reference":"vm-a.lan","ips":["10.0.0.5"],"mac":"02:03:04:05:06:07"');
    expect(both).toMatchObject({ ipamClaimReference: "vm-a.lan", ips: ["10.0.0.5"], mac: "02:03:04:05:06:07" });
  });
});

describe("parseSelection in JSON form with the texts of Multus", () => {
  test.each([
    ['{"name":"a"}', "json: cannot unmarshal object into Go value of type []*types.NetworkSelectionElement"],
    ['"a"', "json: cannot unmarshal string into Go value of type []*types.NetworkSelectionElement"],
    ["[adsfasdf]", "invalid character 'a' looking for beginning of value"],
    ['[{"name":"a"}', "unexpected end of JSON input"],
    ['[{"name":"a"}] x', "invalid character 'x' after top-level value"],
    ["[null]", "element 0: it must be an object: current value is null"],
    [
      '[{"name":"a"},"b"]',
      'json: cannot unmarshal string into Go value of type types.NetworkSelectionElement; element 1: it must be an object: current value is "b"',
    ],
    [
      "[[]]",
      "json: cannot unmarshal array into Go value of type types.NetworkSelectionElement; element 0: it must be an object: current value is []",
    ],
    ["[{}]", 'element 0: key "name" must be the name of a NetworkAttachmentDefinition: it is missing'],
    ['[{"name":""}]', 'element 0: key "name" must be the name of a NetworkAttachmentDefinition: current value is ""'],
    [
      '[{"name":"../../etc"}]',
      'element 0: key "name" must be the name of a NetworkAttachmentDefinition: current value is "../../etc"',
    ],
    [
      '[{"name":7}]',
      'json: cannot unmarshal number into Go struct field NetworkSelectionElement.name of type string; element 0: key "name" must be a string: current value is 7',
    ],
    [
      '[{"name":"a","namespace":"a/b"}]',
      'element 0: key "namespace" must be the name of a namespace: current value is "a/b"',
    ],
    ['[{"name":"a","name":"b"}]', 'element 0: key "name" must be given once'],
    ['[{"name":"a","Name":"b"}]', 'element 0: key "name" must be given once'],
  ])("refuses %s", (annotation, reason) => {
    const error = refusal(() => parse(annotation));
    expect(error).toMatchObject({ code: "annotation-invalid", cniCode: 102 });
    expect(error.message).toBe(`${jsonPrefix}${reason}`);
  });

  test.each([
    ['"mac":"badmac"', "parsePodNetworkAnnotation: failed to mac: address badmac: invalid MAC address"],
    [
      '"infiniband-guid":"x"',
      "parsePodNetworkAnnotation: failed to validate infiniband GUID: address x: invalid MAC address",
    ],
    ['"ips":["10.0.0.256"]', 'failed to parse IP address "10.0.0.256"'],
    ['"ips":["10.0.0.5","10.0.0.5/33"]', 'failed to parse CIDR "10.0.0.5/33": invalid CIDR address: 10.0.0.5/33'],
    ['"default-route":["x"]', `${jsonPrefix}invalid IP address: x`],
    [
      '"interface":"a b"',
      `${jsonPrefix}element 0: key "interface" cannot be used, interface name contains / or : or whitespace characters: current value is "a b"`,
    ],
    [
      '"interface":"sixteen-bytes-xx"',
      `${jsonPrefix}element 0: key "interface" cannot be used, interface name is too long: current value is "sixteen-bytes-xx"`,
    ],
    [
      '"interfaceRequest":".."',
      `${jsonPrefix}element 0: key "interfaceRequest" cannot be used, interface name is . or ..: current value is ".."`,
    ],
    [
      '"interface":"default"',
      `${jsonPrefix}element 0: key "interface" cannot be used, interface name is all or default, which the kernel reserves: current value is "default"`,
    ],
    [
      '"interface":"a%d"',
      `${jsonPrefix}element 0: key "interface" cannot be used, interface name contains %, which the kernel replaces: current value is "a%d"`,
    ],
  ])("refuses %s with the known text", (members, message) => {
    expect(refusal(() => element(members)).message).toBe(message);
  });
});

describe("parseSelection in JSON form with wrong types", () => {
  test.each([
    '"ips":"10.0.0.5"',
    '"ips":[7]',
    '"mac":7',
    '"default-route":"10.0.0.1"',
    '"default-route":[null]',
    '"cni-args":[]',
    '"cni-args":"a=b"',
    '"deviceID":1',
    '"interface":{}',
    '"portMappings":{}',
    '"portMappings":[1]',
    '"portMappings":[{}]',
    '"portMappings":[{"hostPort":0,"containerPort":80}]',
    '"portMappings":[{"hostPort":80,"containerPort":65536}]',
    '"portMappings":[{"hostPort":80.5,"containerPort":80}]',
    '"portMappings":[{"hostPort":"80","containerPort":80}]',
    '"portMappings":[{"hostPort":80,"containerPort":80,"protocol":"icmp"}]',
    '"portMappings":[{"hostPort":80,"containerPort":80,"hostIP":"x"}]',
    '"portMappings":[{"hostPort":80,"containerPort":80,"protocol":6}]',
    '"portMappings":[{"hostPort":18090.0,"containerPort":80}]',
    '"portMappings":[{"hostPort":80,"containerPort":8e1}]',
    '"portMappings":[{"hostPort":80,"containerPort":80,"HOSTIP":5}]',
    '"portMappings":[{"hostPort":80,"containerPort":80,"Protocol":"icmp"}]',
    '"portMappings":[{"HOSTPORT":"80","hostPort":80,"containerPort":80}]',
    '"portMappings":[{"hostPort":80,"containerPort":80,"hoſtIP":5}]',
    '"bandwidth":{"INGRESSRATE":"x"}',
    '"bandwidth":{"ingressRate":"x","ingressRate":1}',
    '"bandwidth":{"ingressRate":1e6}',
    '"bandwidth":{"egressBurst":8.0}',
    '"bandwidth":[]',
    '"bandwidth":{"ingressRate":-1}',
    '"bandwidth":{"ingressRate":1.5}',
    '"bandwidth":{"egressRate":"1"}',
    '"bandwidth":{"egressBurst":9007199254740993}',
    '"ipam-claim-reference":1',
    '"namespace":7',
  ])("refuses %s and names key and value", (members) => {
    const error = refusal(() => element(members));
    const [key = "", value = ""] = /^"([^"]+)":(.*)$/.exec(members)?.slice(1) ?? [];
    expect(error.code).toBe("annotation-invalid");
    expect(error.message).toContain(`element 0: key "${key}" must`);
    expect(error.message).toContain(`current value is ${value}`);
  });

  test("refuses an annotation that is too long, also one that was not kept", () => {
    const long = `["${"x".repeat(300_000)}"]`;
    for (const annotation of [long, keptWish(long)])
      expect(refusal(() => parse(annotation)).message).toBe(
        "parsePodNetworkAnnotation: the annotation may have at most 16384 characters: it has 300004",
      );
    const longest = `[{"name":"a","cni-args":{"x":"${"y".repeat(16_384 - 34)}"}}]`;
    expect(keptWish(longest)).toBe(longest);
    expect(parse(longest)).toHaveLength(1);
  });
});

describe("parseSelection of random junk", () => {
  test("either reads it or says annotation-invalid", () => {
    const pieces = [
      "[",
      "]",
      "{",
      "}",
      '"',
      ",",
      ":",
      "name",
      '"name"',
      '"ips"',
      '"a"',
      "null",
      "1",
      "/",
      "@",
      " ",
      "\\",
      "\u0000",
      "é",
      '"default-route"',
      "[]",
      "{}",
    ];
    let state = 12_345;
    const next = (bound: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % bound;
    };
    for (let round = 0; round < 10_000; round += 1) {
      const annotation = Array.from({ length: next(12) }, () => pieces[next(pieces.length)] ?? "").join("");
      try {
        parse(annotation);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(LeveeError);
        expect(thrown).toMatchObject({ code: "annotation-invalid" });
      }
    }
  });
});

test("parseSelection repeats no endless text in its errors, and looks at no more networks than there may be", () => {
  for (const annotation of [`a${"-".repeat(16_000)}!`, `a@${"x".repeat(16_000)}`]) {
    expect(refusal(() => parse(annotation)).message.length).toBeLessThan(1_000);
  }
  // The one that is wrong comes first, and is not looked at.
  const many = refusal(() => parse(`A!,${"a,".repeat(8_000)}`));
  expect(many.message).toBe("parsePodNetworkAnnotation: a pod may ask for at most 64 networks: it asks for 8002");
  const objects = refusal(() => parse(`[{"name":"A!"}${',{"name":"a"}'.repeat(1_200)}]`));
  expect(objects.message).toBe("parsePodNetworkAnnotation: a pod may ask for at most 64 networks: it asks for 1201");
});

describe("defaultNetworkOf", () => {
  const kubeSystem = "kube-system" as Namespace;
  const read = (value: string): object | undefined =>
    defaultNetworkOf({ "v1.multus-cni.io/default-network": value }, kubeSystem);

  test("is absent without the annotation", () => {
    expect(defaultNetworkOf({}, kubeSystem)).toBeUndefined();
  });

  test("looks in Multus' namespace unless another is named", () => {
    expect(read("net-a")).toMatchObject({ name: "net-a", namespace: "kube-system" });
    expect(read("default/net-a@eth9")).toMatchObject({ name: "net-a", namespace: "default", ifname: "eth9" });
    expect(read('[{"name":"net-a","mac":"02:00:00:00:00:05"}]')).toMatchObject({
      namespace: "kube-system",
      mac: "02:00:00:00:00:05",
    });
  });

  test.each([
    ["", 'parsePodNetworkAnnotation: pod annotation does not have "network" as key'],
    ["a,b", "tryLoadK8sPodDefaultNetwork: more than one default network is specified: a,b"],
    ["[]", "tryLoadK8sPodDefaultNetwork: no default network is specified: []"],
  ])("refuses %j", (value, message) => {
    const error = refusal(() => read(value));
    expect(error.code).toBe("annotation-invalid");
    expect(error.message).toBe(message);
  });
});
