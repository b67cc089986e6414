/** Answers of the shim itself beside those of Multus' shim: codes and messages. Levee also tells the version. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { missingForMultus, multusShim } from "./compat/compat-multus-node.ts";

const levee = join(import.meta.dir, "../../dist/levee-shim");
const missing = missingForMultus();
if (missing !== undefined) console.warn(`compat-shim: skipped, ${missing}`);

const add = { CNI_COMMAND: "ADD", CNI_CONTAINERID: "c", CNI_NETNS: "/x", CNI_IFNAME: "eth0", CNI_PATH: "/x" };

function conf(more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ cniVersion: "1.0.0", name: "n", type: "x", daemonSocketDir: "/nowhere", ...more });
}

function call(program: string, env: Readonly<Record<string, string>>, input: string) {
  const { status, stdout, stderr } = spawnSync(program, [], { env, input, encoding: "utf8", timeout: 10_000 });
  return { status, stdout, stderr };
}

function facts({ status, stdout }: { status: number | null; stdout: string }): object {
  const { code, msg } = JSON.parse(stdout) as { code: number; msg: string };
  return { status, code, msg };
}

describe.skipIf(missing !== undefined)("levee-shim and multus-shim", () => {
  test.each([
    ["no command", {}, ""],
    ["VERSION", { CNI_COMMAND: "VERSION" }, '{"cniVersion":"0.3.1"}'],
    ["VERSION without a configuration", { CNI_COMMAND: "VERSION" }, ""],
    ["VERSION with rubbish", { CNI_COMMAND: "VERSION" }, "{{{"],
  ])("%s: the same output", (_, env, input) => {
    expect(call(levee, env, input)).toEqual(call(multusShim, env, input));
  });

  test.each([
    ["an unknown command", { ...add, CNI_COMMAND: "FLY" }, conf()],
    ["ADD without anything", { CNI_COMMAND: "ADD" }, conf()],
    ["ADD without a namespace", { ...add, CNI_NETNS: "" }, conf()],
    ["CHECK without anything", { CNI_COMMAND: "CHECK" }, conf()],
    ["GC without a path", { CNI_COMMAND: "GC" }, conf({ cniVersion: "1.1.0" })],
    ["a container ID with a slash", { ...add, CNI_CONTAINERID: "a/b" }, conf()],
    ["an interface name with a slash", { ...add, CNI_IFNAME: "a/b" }, conf()],
    ["an interface name of dots", { ...add, CNI_IFNAME: ".." }, conf()],
    ["a conf without a name", add, '{"cniVersion":"1.0.0"}'],
    ["a conf with a bad name", add, conf({ name: "a b" })],
    ["a conf of an unknown version", add, conf({ cniVersion: "5.0.0" })],
    ["CHECK with a conf of 0.3.1", { ...add, CNI_COMMAND: "CHECK" }, conf({ cniVersion: "0.3.1" })],
    ["STATUS with a conf of 1.0.0", { ...add, CNI_COMMAND: "STATUS" }, conf()],
    ["GC with a conf of 1.0.0", { ...add, CNI_COMMAND: "GC" }, conf()],
  ])("%s: the same code and message", (_, env, input) => {
    expect(facts(call(levee, env, input))).toEqual(facts(call(multusShim, env, input)));
  });

  test.each([
    ["rubbish", "{{{", 6],
    ["a conf that is cut short", '{"cniVersion":"1.0.0","name":"n"', 6],
    ["a list", "[]", 6],
  ])("%s: the same code, in words of its own", (_, input, code) => {
    for (const program of [levee, multusShim])
      expect(facts(call(program, add, input))).toMatchObject({ status: 1, code });
  });
});
