import { networksAnnotation } from "../compat-cluster.ts";
import { networksNamespace, type Draft } from "./draft.ts";
import {
  blanks,
  jsonObject,
  oddInterfaces,
  oddNumbers,
  oddStrings,
  otherCase,
  plainInterfaces,
  plainPorts,
  spread,
} from "./odd-values.ts";

type Member = readonly [string, string];

const capabilities = {
  ips: true,
  mac: true,
  infinibandGUID: true,
  deviceID: true,
  portMappings: true,
  bandwidth: true,
};
const macs = [
  "02:00:00:00:00:09",
  "02-AA-00-00-00-09",
  "0200.0000.0009",
  "24:8a:07:03:00:8d:ae:2e",
  "02:00:00:00:00",
  "2:0:0:0:0:9",
  " 02:00:00:00:00:09",
  "zz",
];
const addresses = [
  "10.9.0.2",
  "10.9.0.2/24",
  "10.9.0.2/024",
  "10.09.0.2",
  "::ffff:10.0.0.1",
  "FD00::A/64",
  "fd00::a%eth0",
  "10.9.0.2/33",
  " 10.9.0.2",
  "10.9.0",
  "0.0.0.0",
  "",
];
const routes = ["10.9.0.1", "fd00::1", "10.9.0.9", "x", "", "::ffff:10.9.0.1", "10.9.0.1/24"];

/** `k8s.v1.cni.cncf.io/networks` as JSON, with every key. */
export function jsonForm(draft: Draft): void {
  const { random } = draft;
  draft.define("lan", { cniVersion: "1.0.0", type: "rec-b" });
  draft.define("caps", { cniVersion: "1.0.0", capabilities, type: "rec-c" });
  draft.define("list", {
    cniVersion: "0.4.0",
    plugins: [{ type: "rec-b" }, { type: "rec-d", capabilities, args: { cni: { a: "network", keep: 1 }, other: 1 } }],
  });
  const elements = Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () =>
    draft.chance(0.03) ? random.pick(["null", "5", '"lan"', "[]", "{}"]) : element(draft),
  );
  const text = `[${elements.join(",")}]`;
  draft.annotations[networksAnnotation] = draft.chance(0.9) ? dressed(draft, text) : broken(draft, text);
}

function element(draft: Draft): string {
  const { random } = draft;
  const word = random.pick(["lan", "caps", "caps", "list"]);
  if (word !== "lan") draft.answers(word === "caps" ? "rec-c" : "rec-d", granting);
  const head: Member[] = [
    ["name", JSON.stringify(draft.name(word))],
    ["namespace", JSON.stringify(networksNamespace)],
  ];
  const wanted = Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, () => random.pick(requests)(draft));
  // The same key twice is a case of its own.
  const members = [...new Map([...head, ...wanted])].map(([key, text]): Member => [
    draft.chance(0.06) ? otherCase(key, random.below(3)) : key,
    text,
  ]);
  if (draft.chance(0.04)) members.push(random.pick(members));
  return jsonObject(members);
}

/** Gives what is asked for most often, so that most requests are served. */
const granting = JSON.stringify({
  cniVersion: "1.0.0",
  interfaces: [{ name: "IFNAME", mac: "02:00:00:00:00:09", sandbox: "NETNS" }],
  ips: [{ address: "10.9.0.2/24", gateway: "10.9.0.1", interface: 0 }],
});

/** Mostly the first one, which the plugins give. */
function often(draft: Draft, list: readonly string[]): string {
  return draft.chance(0.6) ? (list[0] ?? "") : draft.random.pick(list);
}

const quote = (text: string): string => JSON.stringify(text);

const requests: readonly ((draft: Draft) => Member)[] = [
  (draft) => [
    "interface",
    draft.chance(0.6)
      ? quote(draft.random.pick(plainInterfaces))
      : draft.random.pick([...oddStrings, ...oddInterfaces.map(quote)]),
  ],
  (draft) => ["interfaceRequest", quote(draft.random.pick(plainInterfaces))],
  (draft) => ["mac", draft.chance(0.85) ? quote(often(draft, macs)) : draft.random.pick(oddStrings)],
  (draft) => ["infiniband-guid", quote(draft.random.pick(macs))],
  (draft) => [
    "ips",
    draft.chance(0.85)
      ? `[${quote(often(draft, addresses))}]`
      : draft.random.pick(["[]", "[]", "[]", "null", "[null]", "[5]", '"10.9.0.2"', "{}", '["10.9.0.2","10.9.0.2"]']),
  ],
  (draft) => ["deviceID", draft.chance(0.8) ? quote("0000:00:1f.6") : draft.random.pick(oddStrings)],
  (draft) => [
    "default-route",
    draft.chance(0.85)
      ? `[${quote(draft.random.pick(routes))}]`
      : draft.random.pick(["[]", "null", '["10.9.0.1","10.9.0.2"]', "[5]", '"10.9.0.1"']),
  ],
  (draft) => [
    "cni-args",
    draft.random.pick([
      '{"a":"pod"}',
      '{"a":{"b":[1,null,1e3]}}',
      "{}",
      "null",
      "[1]",
      '"x"',
      '{"a":9007199254740993}',
    ]),
  ],
  (draft) => ["portMappings", portMappings(draft)],
  (draft) => ["bandwidth", bandwidth(draft)],
  () => ["ips", "[]"],
  () => ["ipam-claim-reference", quote("claim")],
  (draft) => ["later", draft.random.pick(oddStrings)],
];

function portMappings(draft: Draft): string {
  const { random } = draft;
  if (draft.chance(0.1)) return random.pick(["[]", "null", "{}", "[5]", "[null]", '"80"']);
  const number = (): string => (draft.chance(0.8) ? random.pick(plainPorts) : random.pick(oddNumbers));
  const members: Member[] = [
    ["hostPort", number()],
    ["containerPort", number()],
  ];
  if (draft.chance(0.5))
    members.push([
      "protocol",
      draft.chance(0.7) ? random.pick(['"tcp"', '"udp"', '"sctp"']) : random.pick(['"TCP"', '"icmp"', ...oddStrings]),
    ]);
  if (draft.chance(0.3)) members.push(["hostIP", draft.chance(0.6) ? '"127.0.0.1"' : random.pick(oddStrings)]);
  return `[${jsonObject(members.map(([key, text]) => [draft.chance(0.06) ? otherCase(key, random.below(3)) : key, text]))}]`;
}

function bandwidth(draft: Draft): string {
  const { random } = draft;
  if (draft.chance(0.1)) return random.pick(["{}", "null", "[]", "5"]);
  const number = (): string => (draft.chance(0.8) ? random.pick(["1000000", "2048"]) : random.pick(oddNumbers));
  const keys = ["ingressRate", "ingressBurst", "egressRate", "egressBurst"].filter(() => draft.chance(0.75));
  return jsonObject(keys.map((key) => [draft.chance(0.06) ? otherCase(key, random.below(3)) : key, number()]));
}

/** JSON as people write it. */
function dressed(draft: Draft, text: string): string {
  const blank = draft.random.pick(blanks);
  if (draft.chance(0.85)) return text;
  try {
    return draft.random.pick([() => `${blank}${text}${blank}`, () => spread(text)])();
  } catch {
    // A number with a leading zero, say: there is nothing to spread.
    return text;
  }
}

/** A text that is no JSON any more, or other JSON. */
function broken(draft: Draft, text: string): string {
  const { random } = draft;
  const place = random.below(text.length);
  return random.pick([
    () => text.slice(0, place),
    () => text.slice(0, place) + text.slice(place + 1),
    () => `${text}${random.pick(["x", "]", ",", "[]"])}`,
    () => text.replace(",", ",,"),
    () => text.replaceAll('"', "'"),
    () => text.slice(1, -1),
    () => random.pick(["{}", "[]", "[ ]", '""', "[[]]", "[,]", "[{}]", "[{}", "null", '"x"']),
  ])();
}
