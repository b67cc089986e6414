import { expect, test } from "bun:test";
import { blobSha } from "./blob-sha.ts";
import { editMemoryLimit, type FieldOfFile } from "./yaml-field.ts";

const field: FieldOfFile = {
  kind: "DaemonSet",
  namespace: "kube-system",
  name: "kube-multus-ds",
  container: "kube-multus",
  to: "1Gi",
};

const manifest = `# ====================
# Multus CNI — "thick"
# ====================
apiVersion: v1
kind: ConfigMap
metadata: {name: multus-daemon-config, namespace: kube-system}
data:
  text: |
    memory: 50Mi
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: kube-multus-ds
  namespace: kube-system   # not ours
spec:
  template:
    spec:
      containers:
        - name: sidecar
          resources: {limits: {memory: "50Mi"}}
        - name: kube-multus
          # 50Mi was too little on 2026-05-10.
          resources:
            requests: {cpu: 100m, memory: 50Mi}
            limits:
              cpu:    "100m"
              memory: "50Mi"   # keep in step
          image: x@sha256:1
...
---
# the end
kind: Service
metadata: {name: kube-multus-ds}
`;

function edited(text: string, changes: Partial<FieldOfFile> = {}): string {
  const result = editMemoryLimit(new TextEncoder().encode(text), { ...field, ...changes });
  return "problem" in result
    ? `problem: ${result.problem}`
    : new TextDecoder("utf-8", { ignoreBOM: true }).decode(result.bytes);
}

test("editMemoryLimit changes the one value and leaves every other byte as it is", () => {
  const result = editMemoryLimit(new TextEncoder().encode(manifest), field);
  expect(result).toMatchObject({
    document: 1,
    pointer: "/spec/template/spec/containers/1/resources/limits/memory",
    from: "50Mi",
  });
  expect(edited(manifest)).toBe(manifest.replace('memory: "50Mi"   # keep', 'memory: "1Gi"   # keep'));
});

test("editMemoryLimit keeps a byte order mark, line ends of Windows and letters beyond ASCII before the value", () => {
  const text = `\ufeff${manifest.replaceAll("\n", "\r\n").replace("Multus CNI", "Мультус 😀")}`;
  expect(edited(text)).toBe(text.replace('memory: "50Mi"   # keep', 'memory: "1Gi"   # keep'));
});

test("editMemoryLimit writes a plain value and a number as plain values", () => {
  const plain = manifest.replace('memory: "50Mi"   # keep', "memory: 52428800 # keep");
  expect(edited(plain)).toBe(plain.replace("52428800 #", "1Gi #"));
});

test("editMemoryLimit accepts a document without a namespace", () => {
  const text = manifest.replace("  namespace: kube-system   # not ours\n", "");
  expect(edited(text)).toContain('memory: "1Gi"');
});

for (const [what, text, problem] of [
  ["a template", manifest.replace("x@sha256:1", "{{ .Values.image }}:1 {{ end }}"), "it is not plain YAML"],
  ["the same document twice", `${manifest}---\n${manifest.split("---\n")[1]}`, "it has 2 documents for"],
  ["no such document", manifest.replace("kind: DaemonSet", "kind: Deployment"), "it has 0 documents for"],
  [
    "no such container",
    manifest.replace("- name: kube-multus\n", "- name: other\n"),
    "it has no /spec/template/spec/containers/kube-multus",
  ],
  [
    "no such field",
    manifest.replace('memory: "50Mi"   # keep', "# keep"),
    "it has no /spec/template/spec/containers/1/resources/limits/memory",
  ],
  [
    "an anchor on the way",
    manifest.replace("limits:\n", "limits: &limits\n"),
    "/spec/template/spec/containers/1/resources/limits has an anchor",
  ],
  [
    "an alias as the value",
    manifest
      .replace("requests: {cpu: 100m, memory: 50Mi}", "requests: {memory: &m 50Mi}")
      .replace('"50Mi"   #', "*m #"),
    "limits/memory is not a plain value",
  ],
  [
    "a value over several lines",
    manifest.replace('memory: "50Mi"   # keep in step', 'memory: "50\\\n                Mi"'),
    "the notation of the value",
  ],
  [
    "a key that is there twice",
    manifest.replace('memory: "50Mi"   # keep', 'memory: "50Mi"\n              memory: 1Gi # keep'),
    "it is not plain YAML",
  ],
  ["nothing", "", "it has no YAML document"],
] as const) {
  test(`editMemoryLimit refuses a file with ${what}`, () => {
    expect(edited(text)).toStartWith(`problem: `);
    expect(edited(text)).toContain(problem);
  });
}

test("editMemoryLimit refuses a value that is not a quantity, bytes that are not text, and a large file", () => {
  expect(edited(manifest, { to: "1Gi\nprivileged: true" })).toContain("is not a quantity");
  expect(editMemoryLimit(Uint8Array.of(0xff, 0xfe), field)).toEqual({ problem: "it is not UTF-8 text" });
  expect(edited(`#${" ".repeat(300_000)}\n${manifest}`)).toContain("more than 262144");
});

test("editMemoryLimit changes nothing that is expanded from an alias", () => {
  const bomb = `a: &a [1,1]\nb: &b [*a,*a]\nkind: X\n---\n${manifest}`;
  expect(edited(bomb)).toBe(bomb.replace('memory: "50Mi"   # keep', 'memory: "1Gi"   # keep'));
});

test("blobSha is git's own hash", () => {
  // From: printf 'hello\n' | git hash-object --stdin
  expect(blobSha(new TextEncoder().encode("hello\n"), 40)).toBe("ce013625030ba8dba906f756967f9e9ca394464a");
  expect(blobSha(new TextEncoder().encode("hello\n"), 64)).toHaveLength(64);
});
