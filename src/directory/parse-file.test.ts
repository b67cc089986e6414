import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { limits } from "./limits.ts";
import type { Manifest } from "./manifest.ts";
import { loadParser, type ParseFile } from "./parse-file.ts";
import type { FileProblem } from "./directory-problem.ts";

let parse: ParseFile;
beforeAll(async () => {
  parse = await loadParser();
});

const network = `apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: lan
  namespace: prod
  annotations:
    k8s.v1.cni.cncf.io/resourceName: intel.com/sriov
spec:
  config: |
    {"cniVersion":"1.0.0","type":"bridge","mtu":1500.0,"id":9007199254740993}
`;

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: web.0
  uid: 11111111-2222-3333-4444-555555555555
  annotations:
    k8s.v1.cni.cncf.io/networks: lan
spec:
  priority: 2000000000
  containers: []
status:
  phase: Running
`;

function good(text: string | Uint8Array): Manifest {
  const parsed = parse(bytesOf(text));
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.manifest;
}

function bad(text: string | Uint8Array): readonly FileProblem[] {
  const parsed = parse(bytesOf(text));
  if ("manifest" in parsed) throw new Error("no problem was found");
  return parsed.problems;
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}

describe("parseFile reads", () => {
  test("a network with its config text untouched", () => {
    expect(good(network).networks).toEqual([
      {
        namespace: "prod" as never,
        name: "lan",
        config: '{"cniVersion":"1.0.0","type":"bridge","mtu":1500.0,"id":9007199254740993}\n',
        annotations: { "k8s.v1.cni.cncf.io/resourceName": "intel.com/sriov" },
      },
    ]);
  });

  test("a pod, taking the namespace default when none is given", () => {
    expect(good(pod).pods).toEqual([
      {
        namespace: "default" as never,
        name: "web.0" as never,
        uid: "11111111-2222-3333-4444-555555555555" as never,
        annotations: { "k8s.v1.cni.cncf.io/networks": "lan" },
        priority: 2_000_000_000,
        isStatic: false,
        phase: "Running",
      },
    ]);
  });

  test("several documents in their order, skipping empty ones", () => {
    const manifest = good(`---\n${network}---\n---\n${pod}---\n# nothing\n`);
    expect(manifest.networks.map(({ name }) => name)).toEqual(["lan"]);
    expect(manifest.pods.map(({ name }) => String(name))).toEqual(["web.0"]);
  });

  test("JSON, an empty file and a byte order mark", () => {
    expect(good('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}').pods).toHaveLength(1);
    expect(good("")).toEqual({ pods: [], networks: [] });
    expect(good(`\u{feff}${pod}`).pods).toHaveLength(1);
  });

  test("a pod without uid, annotations and spec", () => {
    const [minimal] = good("apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: null}\n").pods;
    expect(minimal).toEqual({
      namespace: "default" as never,
      name: "a" as never,
      uid: "" as never,
      annotations: {},
      priority: undefined,
      isStatic: false,
    });
  });

  test.each([
    ["file", true],
    ["http", true],
    ["api", false],
  ])("a pod with config.source %s as static: %p", (source, isStatic) => {
    const text = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations: {kubernetes.io/config.source: ${source}}\n`;
    expect(good(text).pods[0]?.isStatic).toBe(isStatic);
  });

  test.each(["", "spec: {}\n", "spec: {config: ''}\n", "spec:\n"])(
    "a network without config (%j) as one that a file describes",
    (spec) => {
      const text = `apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\n${spec}`;
      expect(good(text).networks[0]?.config).toBeUndefined();
    },
  );

  test("anchors and aliases in modest numbers", () => {
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: &n a, annotations: {x: *n}}\n`;
    expect(good(text).pods[0]?.annotations).toEqual({ x: "a" });
  });

  test("__proto__ as a key like any other", () => {
    const [odd] = good(
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations: {__proto__: x, constructor: y}\n  __proto__: {name: b}\n",
    ).pods;
    expect(String(odd?.name)).toBe("a");
    expect(Object.entries(odd?.annotations ?? {})).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(({} as Record<string, unknown>)["name"]).toBeUndefined();
  });

  test("objects that cannot be changed afterwards", () => {
    const manifest = good(pod);
    expect(
      Object.isFrozen(manifest.pods) &&
        Object.isFrozen(manifest.pods[0]) &&
        Object.isFrozen(manifest.pods[0]?.annotations),
    ).toBe(true);
  });
});

describe("parseFile reports", () => {
  test("a syntax error with its line", () => {
    const [problem] = bad("apiVersion: v1\nkind: Pod\nmetadata: [\n");
    expect(problem?.line).toBeGreaterThanOrEqual(3);
    expect(problem?.reason).toStartWith("Cannot parse the file as YAML: ");
  });

  test("every wrong field of every document, each with its line", () => {
    const text = `apiVersion: v1
kind: Pod
metadata:
  name: Bad_Name
  uid: "a;K8S_POD_NAME=b"
  annotations:
    answer: 42
spec:
  priority: high
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: ok
  namespace: not.a.label
spec:
  config: {type: bridge}
`;
    expect(bad(text).map(({ line, reason }) => [line, reason])).toEqual([
      [
        4,
        'Cannot use a document as metadata.name must be a DNS-1123 name of at most 253 characters: current value is "Bad_Name"',
      ],
      [7, "Cannot use a document as metadata.annotations.answer must be a string (quote it): current value is 42"],
      [9, 'Cannot use a document as spec.priority must be a 32-bit integer: current value is "high"'],
      [
        5,
        `Cannot use a pod as metadata.uid must consist of letters, digits, '-', '_' and '.': current value is "a;K8S_POD_NAME=b"`,
      ],
      [
        15,
        'Cannot use a document as metadata.namespace must be a DNS-1123 label of at most 63 characters: current value is "not.a.label"',
      ],
      [17, "Cannot use a document as spec.config must be a string: current value is an object"],
    ]);
  });

  test.each([
    "../../etc/passwd",
    "/abs",
    "a/b",
    "a..b",
    ".a",
    "a.",
    "-a",
    "a-",
    "A",
    "a b",
    "a\u0000b",
    "",
    "ü",
    "a".repeat(64),
    `${"a.".repeat(126)}ab`,
  ])("the name %j as invalid", (name) => {
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: ${JSON.stringify(name)}}\n`;
    expect(bad(text)[0]?.reason).toContain("metadata.name must be a DNS-1123 name");
  });

  test.each([
    ["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", '"v1 ConfigMap"'],
    ["apiVersion: apps/v1\nkind: Pod\nmetadata: {name: a}\n", '"apps/v1 Pod"'],
    [
      "apiVersion: k8s.cni.cncf.io/v2\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\n",
      '"k8s.cni.cncf.io/v2 NetworkAttachmentDefinition"',
    ],
    ["metadata: {name: a}\n", '""'],
  ])("the wrong kind in %j", (text, seen) => {
    expect(bad(text)[0]?.reason).toEndWith(`current value is ${seen}`);
  });
});

describe("parseFile reports of whole documents and keys", () => {
  test.each(["- a\n- b\n", "just words\n", "42\n", "true\n"])("the document %j as no object", (text) => {
    expect(bad(text)[0]?.reason).toBe("Cannot use a document as it must be an object with apiVersion and kind");
  });

  test("fields of the wrong type on the way to another", () => {
    expect(bad("apiVersion: v1\nkind: Pod\nmetadata: x\n")[0]).toEqual({
      line: 3,
      reason: 'Cannot use a document as metadata must be an object: current value is "x"',
    });
    expect(bad("apiVersion: [v1]\nkind: Pod\n")[0]?.reason).toContain(
      "apiVersion must be a string: current value is a list",
    );
    expect(bad("apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: [x]}\n")[0]?.reason).toContain(
      "must be an object of strings",
    );
  });

  test("a key that occurs twice", () => {
    expect(bad("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n")).toEqual([
      { line: 5, reason: 'Cannot use a document as each key must occur once: "name" is repeated' },
    ]);
  });

  test("at most twenty problems", () => {
    expect(bad("---\nkind: x\n".repeat(100))).toHaveLength(limits.problemsPerFileMax);
  });
});

describe("parseFile survives", () => {
  test("bytes that are not text", () => {
    expect(bad(Uint8Array.from({ length: 4_096 }, (_unused, index) => (index * 7_919) % 256))[0]?.reason).toContain(
      "must be UTF-8 text",
    );
    expect(bad(Uint8Array.of(0x61, 0xff, 0xfe))[0]?.reason).toContain("must be UTF-8 text");
    expect(bad("apiVersion: v1\0")[0]?.reason).toContain("must be UTF-8 text");
  });

  test("aliases that multiply", () => {
    const levels = [..."bcdefghi"].map(
      (name, index) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcdefghi"[index]}`).join(",")}]`,
    );
    expect(bad(`a: &a [x,x,x,x,x,x,x,x,x]\n${levels.join("\n")}\n`)[0]?.reason).toContain("alias");
  });

  test("an alias of itself, which is endless", () => {
    expect(bad("apiVersion: v1\nkind: Pod\nmetadata: &m {name: *m}\n")[0]?.reason).toContain("metadata.name must be");
  });

  // With the parser's default settings several of these take ten seconds to a minute.
  test.each([
    ["open lists", "[", ""],
    ["nested lists", "- ", ""],
    ["commas", ",", "["],
    ["closing brackets", "]", ""],
    ["bad escapes", "\\x", '"'],
    ["tags", "!a ", ""],
    ["anchors", "&a ", ""],
    ["directives", "%a\n", ""],
    ["documents", "---\n", ""],
    ["flow pairs", "a: b,", "["],
  ])(
    "a file full of %s in bounded time",
    (_what, unit, start) => {
      const text = start + unit.repeat(Math.floor(limits.fileBytesMax / unit.length) - 1);
      // CPU time: on a busy machine the wall clock says nothing about the parser.
      const before = process.cpuUsage();
      parse(bytesOf(text));
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(10_000);
    },
    60_000,
  );

  test("very many different keys in bounded time", () => {
    const keys = Array.from({ length: 25_000 }, (_unused, index) => `k${index}: 1`).join("\n");
    expect(bad(keys)[0]?.reason).toContain("kind must be");
  });

  test("a thousand random mutations, with objects or problems as the answer", () => {
    const source = bytesOf(`${network}---\n${pod}`);
    let state = 42;
    const next = (below: number): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
    for (let round = 0; round < 1_000; round += 1) {
      const mutated = Uint8Array.from(source);
      for (let change = 0; change < 4; change += 1) mutated[next(mutated.length)] = next(256);
      const parsed = parse(mutated.subarray(0, next(mutated.length)));
      expect("manifest" in parsed || parsed.problems.length > 0).toBe(true);
    }
  });
});

test("loadParser is the only way to the yaml package: nothing imports it statically", () => {
  const files = ["parse-file", "directory", "contents", "manifest", "fields", "listing", "catalogue"];
  for (const file of files) {
    const imports = readFileSync(`${import.meta.dir}/${file}.ts`, "utf8").match(/^import (?!type).* from "yaml"/mu);
    expect(imports).toBeNull();
  }
});
