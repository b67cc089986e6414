import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { Sandbox } from "./sandbox.ts";
import { binary } from "./shim-process.ts";

let sandbox: Sandbox;
let passthru: string;

beforeEach(() => {
  sandbox = new Sandbox();
  passthru = sandbox.path("bin/passthru");
  symlinkSync(binary, passthru);
});

afterEach(() => sandbox.clean());

function call(verb: string, cniVersion: string): { status: number | null; stdout: string; stderr: string } {
  const env = {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: "c1",
    CNI_NETNS: "/run/netns/none",
    CNI_IFNAME: "net1",
    CNI_PATH: "/x",
  };
  const input = JSON.stringify({ cniVersion, name: "chain", type: "passthru" });
  const { status, stdout, stderr } = spawnSync(passthru, [], { env, input, encoding: "utf8" });
  return { status, stdout, stderr };
}

test.each([["0.3.0"], ["0.3.1"], ["0.4.0"], ["1.0.0"], ["1.1.0"]])(
  "ADD prints an empty result of version %s",
  (version) => {
    const stdout = `{\n    "cniVersion": "${version}"\n}`;
    expect(call("ADD", version)).toEqual({ status: 0, stdout, stderr: "" });
  },
);

test.each([
  ["DEL", "0.3.1"],
  ["CHECK", "1.0.0"],
  ["STATUS", "1.1.0"],
  ["GC", "1.1.0"],
])("%s of version %s succeeds and prints nothing", (verb, version) => {
  expect(call(verb, version)).toEqual({ status: 0, stdout: "", stderr: "" });
});

test("VERSION names the versions that know an empty result, and an older one is refused", () => {
  expect(call("VERSION", "1.1.0").stdout).toBe(
    '{"cniVersion":"1.1.0","supportedVersions":["0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}\n',
  );
  const { status, stdout } = call("ADD", "0.2.0");
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ code: 1, msg: "incompatible CNI versions" });
});

test("under another name it is the shim", () => {
  const other = sandbox.path("bin/passthru-2");
  symlinkSync(binary, other);
  const { stderr } = spawnSync(other, [], { env: {}, encoding: "utf8" });
  expect(stderr).toStartWith("meta-plugin that delegates");
  expect(spawnSync(passthru, ["--version"], { env: {}, encoding: "utf8" }).stdout).toStartWith("levee-shim ");
});
