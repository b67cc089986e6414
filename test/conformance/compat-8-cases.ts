import { defaultNetworkAnnotation, networksAnnotation } from "./node.ts";

/**
 * Annotations of Multus' own tests and of runs of the real Multus: what a pod asks for, and what it gets or is told.
 * test/e2e/compat-multus.test.ts holds the same table against Multus v4.3.0.
 */

/** Networks of the table, in the namespace `nets`. */
const networksNamespace = "nets";

export interface Refused {
  readonly what: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Multus' words, from the first function that says something of this pod; `{namespace}` is the pod's. */
  readonly words: string;
  /** What Levee puts before and after them. */
  readonly before?: string;
  readonly after?: string;
  /** What follows where a cluster, not a folder, holds the definitions. */
  readonly inCluster?: string;
  readonly code: number;
}

const named = "parsePodNetworkAnnotation: parsePodNetworkObjectName: ";
const json = "parsePodNetworkAnnotation: failed to parse pod Network Attachment Selection Annotation JSON format: ";
const mismatch = `${named}Failed to parse: one or more items did not match comma-delimited format (must consist of lower case alphanumeric characters). Must start and end with an alphanumeric character), mismatch @ `;
const badIfname = `${named}Failed to parse interface name: must be less than 15 chars and not contain '/' or spaces. interface name `;

function asks(annotation: string, words: string, code = 102): Refused {
  return { what: annotation, annotations: { [networksAnnotation]: annotation }, words, code };
}

/** Goes on after Multus' words: which element it is, and what is there. */
function mistyped(annotation: string, words: string, after: string): Refused {
  return { ...asks(annotation, `${json}${words}`), after: `; element 0: ${after}` };
}

function absent(annotation: string, name: string, namespace: string): Refused {
  const words = `cannot find a network-attachment-definition (${name}) in namespace (${namespace})`;
  const inCluster = `: networkattachmentdefinition.k8s.cni.cncf.io "${name}" not found`;
  return { ...asks(annotation, words, 101), inCluster };
}

function onCaps(members: string): string {
  return `[{"name":"caps","namespace":"nets",${members}}]`;
}

function asDefault(refused: Refused): Refused {
  const annotation = refused.annotations[networksAnnotation] ?? "";
  return { ...refused, what: `default ${annotation}`, annotations: { [defaultNetworkAnnotation]: annotation } };
}

function unusable(name: string, words: string, more: Pick<Refused, "after" | "code">, lack = ""): Refused {
  return {
    ...asks(`nets/${name}`, words),
    before: `Cannot use the NetworkAttachmentDefinition nets/${name}${lack}: `,
    ...more,
  };
}

/** Annotations that both refuse, with the same words. `confDir` is the folder of confs, which is empty. */
export function refusedByBoth(confDir: string): readonly Refused[] {
  return [
    asks("a@b/c@d/e@f", `${named}Invalid network object (failed at '/')`),
    asks("x@y/z@w@v", `${named}Invalid network object (failed at '@')`),
    asks("root@someIP/root@someOtherIP", `${mismatch}'root@someIP'`),
    asks("nets/Lan", `${mismatch}'Lan'`),
    asks("nets/lan.a", `${mismatch}'lan.a'`),
    asks("nets/-lan", `${mismatch}'-lan'`),
    asks("\ufeffnets/lan", `${mismatch}'\ufeffnets'`),
    asks("nets/lan@myIfc Name", `${badIfname}'myIfc Name'`),
    asks("nets/lan@very_long_interface_name", `${badIfname}'very_long_interface_name'`),
    asks("nets/lan@sixteen_chars_xx", `${badIfname}'sixteen_chars_xx'`),
    absent("nets/nosuch", "nosuch", "nets"),
    absent("nosuch", "nosuch", "{namespace}"),
    absent("nets/lan,", "", "{namespace}"),
    asks("[adsfasdf]", `${json}invalid character 'a' looking for beginning of value`),
    asks('[{"name":"lan"', `${json}unexpected end of JSON input`),
    asks("[{'name':'lan'}]", `${json}invalid character '\\'' looking for beginning of object key string`),
    asks('[{"name":"lan","namespace":"nets"} {"name":"lan"}]', `${json}invalid character '{' after array element`),
    asks('[{"name":"lan",}]', `${json}invalid character '}' looking for beginning of object key string`),
    asks('["a\u0001"]', `${json}invalid character '\\x01' in string literal`),
    asks('[{"name":"lan","x":1.}]', `${json}invalid character '}' after decimal point in numeric literal`),
    asks('[{"name":"lan"}] x', `${json}invalid character 'x' after top-level value`),
    asks(
      '{"name":"lan"}',
      `${json}json: cannot unmarshal object into Go value of type []*types.NetworkSelectionElement`,
    ),
    asks('"lan"', `${json}json: cannot unmarshal string into Go value of type []*types.NetworkSelectionElement`),
    ...mistypedElements(),
    asks(
      onCaps('"mac":"02:00:00:00:00"'),
      "parsePodNetworkAnnotation: failed to mac: address 02:00:00:00:00: invalid MAC address",
    ),
    asks(
      onCaps('"infiniband-guid":"zz"'),
      "parsePodNetworkAnnotation: failed to validate infiniband GUID: address zz: invalid MAC address",
    ),
    asks(onCaps('"ips":["10.0.0.300"]'), 'failed to parse IP address "10.0.0.300"'),
    asks(onCaps('"ips":["a<b\\"c"]'), 'failed to parse IP address "a<b\\"c"'),
    asks(
      onCaps('"ips":["10.0.0.1","10.0.0.1/33"]'),
      'failed to parse CIDR "10.0.0.1/33": invalid CIDR address: 10.0.0.1/33',
    ),
    asks(onCaps('"default-route":["x"]'), `${json}invalid IP address: x`),
    asks(
      '[{"name":"lan","namespace":"nets","default-route":["10.0.0.1"]},{"name":"lan","namespace":"nets","default-route":["10.0.0.2"]}]',
      "multus does not support ECMP for default-route",
    ),
    unusable(
      "nadbad",
      "GetCNIConfig: err in getCNIConfigFromSpec: failed to unmarshal Spec.Config: unexpected end of JSON input",
      { after: ", at offset 14", code: 6 },
    ),
    unusable("notype", "LoadDelegateNetConfList: delegate must have the 'type' or 'plugin' field", {
      after: ": it is missing",
      code: 7,
    }),
    unusable(
      "nospec",
      `GetCNIConfig: err in GetCNIConfigFromFile: No networks found in ${confDir}`,
      { code: 101 },
      ", whose spec is empty",
    ),
    asDefault(asks("", 'parsePodNetworkAnnotation: pod annotation does not have "network" as key')),
    asDefault(
      asks(
        "nets/lan,nets/lan",
        "tryLoadK8sPodDefaultNetwork: more than one default network is specified: nets/lan,nets/lan",
      ),
    ),
    asDefault(asks("a/b/c", `${named}Invalid network object (failed at '/')`)),
    asDefault(absent("lan", "lan", "kube-system")),
    asDefault(absent("nets/nosuch", "nosuch", "nets")),
  ];
}

/** Elements of the JSON form with a value of the wrong type. */
function mistypedElements(): readonly Refused[] {
  return [
    mistyped(
      '["lan"]',
      "json: cannot unmarshal string into Go value of type types.NetworkSelectionElement",
      'it must be an object: current value is "lan"',
    ),
    mistyped(
      '[{"name":5}]',
      "json: cannot unmarshal number into Go struct field NetworkSelectionElement.name of type string",
      'key "name" must be a string: current value is 5',
    ),
    mistyped(
      '[{"name":"lan","mac":true}]',
      "json: cannot unmarshal bool into Go struct field NetworkSelectionElement.mac of type string",
      'key "mac" must be a string: current value is true',
    ),
    mistyped(
      '[{"name":"lan","ips":"10.0.0.1"}]',
      "json: cannot unmarshal string into Go struct field NetworkSelectionElement.ips of type []string",
      'key "ips" must be an array of strings: current value is "10.0.0.1"',
    ),
    mistyped(
      '[{"name":"lan","ips":[5]}]',
      "json: cannot unmarshal number into Go struct field NetworkSelectionElement.ips of type string",
      'key "ips" must be an array of strings: current value is [5]',
    ),
    mistyped(
      '[{"name":"lan","default-route":[5]}]',
      "json: cannot unmarshal number into Go struct field NetworkSelectionElement.default-route of type net.IP",
      'key "default-route" must be an array of strings: current value is [5]',
    ),
    mistyped(
      '[{"name":"lan","cni-args":[1]}]',
      "json: cannot unmarshal array into Go struct field NetworkSelectionElement.cni-args of type map[string]interface {}",
      'key "cni-args" must be an object: current value is [1]',
    ),
    mistyped(
      '[{"name":"lan","portMappings":{}}]',
      "json: cannot unmarshal object into Go struct field NetworkSelectionElement.portMappings of type []*types.PortMapEntry",
      'key "portMappings" must be an array: current value is {}',
    ),
    mistyped(
      '[{"name":"lan","portMappings":[5]}]',
      "json: cannot unmarshal number into Go struct field NetworkSelectionElement.portMappings of type types.PortMapEntry",
      'key "portMappings" must have objects only: current value is [5]',
    ),
    mistyped(
      '[{"name":"lan","bandwidth":5}]',
      "json: cannot unmarshal number into Go struct field NetworkSelectionElement.bandwidth of type types.BandwidthEntry",
      'key "bandwidth" must be an object: current value is 5',
    ),
  ];
}

export interface Accepted {
  readonly what: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** `plugin interface`, in order. */
  readonly runs: readonly string[];
  /** What CNI_ARGS of the last plugin ends with, after the pod's five. */
  readonly args?: string;
  /** runtimeConfig of the last plugin. */
  readonly runtimeConfig?: Readonly<Record<string, unknown>>;
  /** What plugins answer instead of a plain result. */
  readonly answers?: Readonly<Record<string, object>>;
}

function gives(annotation: string, runs: readonly string[], more: Partial<Accepted> = {}): Accepted {
  return { what: annotation, annotations: { [networksAnnotation]: annotation }, runs, ...more };
}

/** Annotations that both serve, by the same calls of the plugins. */
export const servedByBoth: readonly Accepted[] = [
  { what: "none", annotations: {}, runs: ["first eth0"] },
  gives("", ["first eth0"]),
  gives("[]", ["first eth0"]),
  gives("nets/lan", ["first eth0", "second net1"]),
  gives("nets/lan,nets/dmz", ["first eth0", "second net1", "third net2"]),
  gives("nets/dmz, nets/lan", ["first eth0", "third net1", "second net2"]),
  gives("nets/lan@my_interface", ["first eth0", "second my_interface"]),
  gives(" nets / lan @ if0 ,nets/dmz", ["first eth0", "second if0", "third net2"]),
  gives("\u0085nets\u00a0/\u2003lan\u0085@\u0085if0\u3000,nets/dmz", ["first eth0", "second if0", "third net2"]),
  gives("nets/lan@fifteen_chars_x", ["first eth0", "second fifteen_chars_x"]),
  gives("nets/lan,nets/lan", ["first eth0", "second net1", "second net2"]),
  gives(
    '[{"name":"lan","namespace":"nets"},{"name":"dmz","namespace":"nets","interface":"d0"},{"name":"lan","namespace":"nets"}]',
    ["first eth0", "second net1", "third d0", "second net3"],
  ),
  // Without a capability the plugin finds it in CNI_ARGS, and gives it.
  gives(
    '[{"name":"lan","namespace":"nets","mac":"02:00:00:00:00:01","ips":["10.9.0.2"]}]',
    ["first eth0", "second net1"],
    {
      args: ";MAC=02:00:00:00:00:01;IP=10.9.0.2",
    },
  ),
  // A result of this version has no place for a MAC, so nobody can check it.
  gives('[{"name":"bare","namespace":"nets","mac":"02:00:00:00:00:0b"}]', ["first eth0", "second net1"], {
    args: ";MAC=02:00:00:00:00:0b",
    answers: { second: { cniVersion: "0.1.0", ip4: { ip: "10.9.0.2/24" }, dns: {} } },
  }),
  gives('[{"name":"l\\u0061n","namespace":"nets","interface":null,"ips":null,"later":{"a":[1]}}]', [
    "first eth0",
    "second net1",
  ]),
  gives(onCaps('"mac":"02-AA-00-00-00-09","ips":["::ffff:10.0.0.1","FD00::A"]'), ["first eth0", "third net1"], {
    args: ";MAC=02-AA-00-00-00-09;IP=::ffff:10.0.0.1,FD00::A",
    runtimeConfig: { ips: ["::ffff:10.0.0.1", "FD00::A"], mac: "02-AA-00-00-00-09" },
  }),
  gives('[{"NAME":"lan","Namespace":"nets","interfaceRequest":"old0"}]', ["first eth0", "second old0"]),
  gives('[{"name":"lan","namespace":"nets","ipam-claim-reference":"claim"}]', ["first eth0", "second net1"]),
  // OVN-Kubernetes reads the claim from the pod itself; the plugins get the addresses beside it.
  gives(onCaps('"ipam-claim-reference":"claim","ips":["10.1.1.5/24"]'), ["first eth0", "third net1"], {
    args: ";IP=10.1.1.5/24",
    runtimeConfig: { ips: ["10.1.1.5/24"] },
  }),
  gives(onCaps('"mac":"02:00:00:00:00:09","ips":["10.1.1.5/24","fd00::5"]'), ["first eth0", "third net1"], {
    args: ";MAC=02:00:00:00:00:09;IP=10.1.1.5/24,fd00::5",
    runtimeConfig: { ips: ["10.1.1.5/24", "fd00::5"], mac: "02:00:00:00:00:09" },
  }),
  gives(onCaps('"ips":["10.1.1.5/024"]'), ["first eth0", "third net1"], {
    args: ";IP=10.1.1.5/024",
    runtimeConfig: { ips: ["10.1.1.5/024"] },
  }),
  gives(onCaps('"infiniband-guid":"24:8a:07:03:00:8d:ae:2e","deviceID":"0000:00:1f.6"'), ["first eth0", "third net1"], {
    runtimeConfig: { deviceID: "0000:00:1f.6", infinibandGUID: "24:8a:07:03:00:8d:ae:2e" },
  }),
  gives(
    onCaps(
      '"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"tcp"},{"hostPort":8000,"containerPort":8001,"protocol":"udp"}],"bandwidth":{"ingressRate":2048,"ingressBurst":1600,"egressRate":4096,"egressBurst":1600}',
    ),
    ["first eth0", "third net1"],
    {
      runtimeConfig: {
        bandwidth: { egressBurst: 1600, egressRate: 4096, ingressBurst: 1600, ingressRate: 2048 },
        portMappings: [
          { containerPort: 80, hostPort: 8080, protocol: "tcp" },
          { containerPort: 8001, hostPort: 8000, protocol: "udp" },
        ],
      },
    },
  ),
  gives('[{"name":"args","namespace":"nets","cni-args":{"a":"pod","b":{"c":[1]}}}]', [
    "first eth0",
    "second net1",
    "third net1",
  ]),
  gives('[{"name":"lan","namespace":"nets","cni-args":{}}]', ["first eth0", "second net1"]),
  // Keys of a conf and of a plugin in a list in other letters.
  gives("nets/odd,nets/oddlist", ["first eth0", "second net1", "third net2"]),
  gives("nets/plain", ["first eth0", "second net1"]),
  { what: "default nets/lan", annotations: { [defaultNetworkAnnotation]: "nets/lan" }, runs: ["second eth0"] },
  {
    what: "default with an interface and a network besides",
    annotations: {
      [defaultNetworkAnnotation]: '[{"name":"lan","namespace":"nets","interface":"main0"}]',
      [networksAnnotation]: "nets/dmz",
    },
    runs: ["second main0", "third net1"],
  },
  {
    what: "default with address and MAC, which are arguments and no runtimeConfig",
    annotations: { [defaultNetworkAnnotation]: onCaps('"mac":"02:00:00:00:00:09","ips":["10.1.1.5/24"]') },
    runs: ["third eth0"],
    args: ";MAC=02:00:00:00:00:09;IP=10.1.1.5/24",
  },
  {
    what: "default with addresses, MAC and an IPAM claim, as OVN-Kubernetes documents it",
    annotations: {
      [defaultNetworkAnnotation]: onCaps(
        '"mac":"02:03:04:05:06:07","ips":["10.1.1.5/24"],"ipam-claim-reference":"vm-a.claim"',
      ),
    },
    runs: ["third eth0"],
    args: ";MAC=02:03:04:05:06:07;IP=10.1.1.5/24",
  },
  {
    what: "default in Multus' own namespace, which is where it is looked for first",
    annotations: { [defaultNetworkAnnotation]: "home" },
    runs: ["second eth0"],
  },
];

function oddLetters({ type, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return { Type: type, ...rest };
}

/** The definitions that the table speaks of, as `namespace/name` and text; `conf` makes a plugin's configuration. */
export function networksOfTable(
  conf: (type: string, more?: Record<string, unknown>) => Record<string, unknown>,
): readonly { readonly name: string; readonly namespace: string; readonly config: string }[] {
  const capabilities = {
    ips: true,
    mac: true,
    infinibandGUID: true,
    deviceID: true,
    portMappings: true,
    bandwidth: true,
  };
  const texts: Record<string, unknown> = {
    lan: { cniVersion: "1.0.0", ...conf("second") },
    dmz: { cniVersion: "0.3.1", name: "own-name", ...conf("third") },
    caps: { cniVersion: "1.0.0", capabilities, ...conf("third") },
    args: {
      cniVersion: "1.0.0",
      plugins: [conf("second", { args: { cni: { a: "network", keep: 1 }, other: 1 } }), conf("third")],
    },
    // Multus writes such a name into it, and hands over the rest.
    plain: { cniVersion: "1.0.0", name: "", ...conf("second", { mtu: 1500, nested: { z: 1, a: [true, null] } }) },
    bare: conf("second"),
    odd: oddLetters({ cniversion: "1.0.0", ...conf("second") }),
    oddlist: { cniVersion: "1.0.0", plugins: [oddLetters(conf("third"))] },
    nospec: "",
    nadbad: '{"cniVersion":',
    notype: '{"cniVersion":"1.0.0"}',
  };
  const table = Object.entries(texts).map(([name, config]) => ({
    name,
    namespace: networksNamespace,
    config: typeof config === "string" ? config : JSON.stringify(config),
  }));
  const home = {
    name: "home",
    namespace: "kube-system",
    config: JSON.stringify({ cniVersion: "1.0.0", ...conf("second") }),
  };
  return [...table, home];
}
