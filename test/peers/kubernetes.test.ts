import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const all = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet"];
let folder: string;
let cache: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-kubernetes-"));
  cache = join(folder, "cache/levee/k8s-v1.34.5");
  mkdirSync(join(cache, "bin"), { recursive: true });
  mkdirSync(join(folder, "source"));
  writeFileSync(join(folder, "source/go.sum"), "");
  // The versions of the staging modules were found by an earlier build.
  writeFileSync(join(cache, "picks"), "k8s.io/api v0.34.5\n");
});

afterEach(() => rmSync(folder, { recursive: true }));

/** A Go that writes down what it is asked to build, and makes an empty file of each. */
function fakeGo(build: string): void {
  const script = `#!/bin/sh
case "$1" in
  version) ;;
  mod) [ "$2" = tidy ] || echo '{"Dir": "${folder}/source"}' ;;
  build) ${build} ;;
esac
`;
  mkdirSync(join(folder, "go-bin"));
  writeFileSync(join(folder, "go-bin/go"), script, { mode: 0o755 });
}

const obedient = `shift 5
    part="$1"; shift
    for package in "$@"; do echo "$package" >> "$FAKE_LOG"; echo built > "$part$(basename "$package")"; done`;

function kubernetesPeer(): unknown {
  const program = `import { kubernetes } from "${join(import.meta.dir, "kubernetes.ts")}";
    console.log(JSON.stringify(await kubernetes()));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], {
    encoding: "utf8",
    env: {
      ...process.env,
      XDG_CACHE_HOME: join(folder, "cache"),
      FAKE_LOG: join(folder, "built"),
      PATH: `${join(folder, "go-bin")}:${process.env["PATH"] ?? ""}`,
    },
  });
  const last = stdout.trimEnd().split("\n").at(-1);
  if (last === undefined || last === "") throw new Error(stderr);
  return JSON.parse(last) as unknown;
}

function built(): readonly string[] {
  const file = join(folder, "built");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

test("kubernetes builds only the programs that an older cache lacks, and leaves the others as they are", () => {
  fakeGo(obedient);
  for (const program of all.filter((name) => name !== "kube-scheduler"))
    writeFileSync(join(cache, "bin", program), "old");
  expect(kubernetesPeer()).toEqual({ folder: join(cache, "bin") });
  expect(built()).toEqual(["k8s.io/kubernetes/cmd/kube-scheduler"]);
  expect(all.map((name) => readFileSync(join(cache, "bin", name), "utf8").trim())).toEqual([
    ...["old", "old", "built", "old", "old"],
  ]);
  expect(readdirSync(cache).toSorted()).toEqual(["bin", "picks"]);
  // Once more: nothing is missing.
  rmSync(join(folder, "built"));
  expect(kubernetesPeer()).toEqual({ folder: join(cache, "bin") });
  expect(built()).toEqual([]);
});

test("kubernetes whose build fails leaves nothing that counts as built", () => {
  fakeGo("echo 'no room' >&2; exit 1");
  expect(kubernetesPeer()).toEqual({ missing: "Kubernetes could not be built: no room" });
  expect(readdirSync(join(cache, "bin"))).toEqual([]);
  expect(readdirSync(cache).toSorted()).toEqual(["bin", "picks"]);
});
