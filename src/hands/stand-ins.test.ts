import { expect, test } from "bun:test";
import type { PluginType } from "../base/brand.ts";
import type { BuiltinChoice } from "../cni/builtin/builtin-plugins.ts";
import { outcome } from "./outcome.fixture.ts";
import { StandIns } from "./stand-ins.ts";

const module = "github.com/containernetworking/plugins";

function told(choice: BuiltinChoice = "auto"): { standIns: StandIns; lines: string[] } {
  const lines: string[] = [];
  const info = (text: string, fields?: object): number => lines.push(`${text} ${JSON.stringify(fields)}`);
  return { standIns: new StandIns(choice, { info }), lines };
}

function wordsOf(standIns: StandIns, plugin: string, asksProgram = false): readonly string[] | undefined {
  return standIns.begin({ plugin: plugin as PluginType, env: {}, stdin: "{}", timeoutMs: 1, asksProgram }).builtins;
}

function learn(standIns: StandIns, programs: readonly string[]): void {
  standIns.end(outcome({ programs }), { plugin: "portmap" as PluginType });
}

/** A plugin has ended; returns how the built-ins stand then. */
function ended(standIns: StandIns, plugin: string, facts: Parameters<typeof outcome>[0]): readonly unknown[] {
  standIns.end(outcome(facts), { plugin: plugin as PluginType });
  return [standIns.absent(), standIns.judged().map(({ name, version }) => `${name} ${version ?? "-"}`)];
}

function upstream(name: string, identity: string, version = "v1.9.1"): string {
  const claim = `-X ${module}/pkg/utils/buildversion.BuildVersion=${version}`;
  const kind = name === "host-local" ? "ipam" : "main";
  return `${name} ${identity}\ngo\tgo1.26.8\nid\tx\npath\t${module}/plugins/${kind}/${name}\nmod\t${module}\t(devel)\t\nbuild\t-ldflags="${claim}"\n`;
}

test("StandIns lets a built-in stand in for a missing program and for one that it has judged", () => {
  const { standIns, lines } = told();
  expect(wordsOf(standIns, "loopback")).toEqual([
    "loopback absent 1.9.1",
    "host-local absent 1.9.1",
    "static absent 1.9.1",
  ]);
  learn(standIns, [upstream("bridge", "1:2:3:4"), upstream("host-local", "1:3:3:4", "v1.9.0"), "static 1:4:3:4\n"]);
  expect(wordsOf(standIns, "bridge")).toEqual([
    "bridge 1:2:3:4 1.9.1",
    "bridge absent 1.9.1",
    "host-local 1:3:3:4 -",
    "host-local absent 1.9.1",
    "static 1:4:3:4 -",
    "static absent 1.9.1",
  ]);
  expect(standIns.judged()).toEqual([
    { name: "bridge", version: "1.9.1" },
    { name: "host-local", version: undefined },
    { name: "static", version: undefined },
  ]);
  expect(lines).toHaveLength(3);
});

test("StandIns has the program answer where the question is about the program", () => {
  const { standIns } = told();
  learn(standIns, [upstream("bridge", "1:2:3:4")]);
  expect(wordsOf(standIns, "bridge", true)?.slice(0, 2)).toEqual(["bridge 1:2:3:4 -", "bridge absent 1.9.1"]);
});

test("StandIns keeps the newest files of a name only", () => {
  const { standIns } = told();
  for (let inode = 1; inode <= 9; inode += 1) learn(standIns, [upstream("bridge", `1:${inode}:3:4`)]);
  learn(standIns, [upstream("bridge", "1:7:3:4")]);
  const known = wordsOf(standIns, "bridge")?.filter((word) => /^bridge \d/u.test(word));
  expect(known).toEqual([6, 8, 9, 7].map((inode) => `bridge 1:${inode}:3:4 1.9.1`));
});

test("StandIns follows the setting", () => {
  expect(wordsOf(told("off").standIns, "bridge")).toBeUndefined();
  expect(wordsOf(told().standIns, "portmap")).toBeUndefined();
  const { standIns } = told(["bridge", "host-local"]);
  expect(wordsOf(standIns, "bridge")).toEqual(["bridge any 1.9.1", "host-local any 1.9.1"]);
  expect(wordsOf(standIns, "bridge", true)).toEqual(["bridge absent 1.9.1", "host-local absent 1.9.1"]);
  expect(wordsOf(standIns, "ptp")).toEqual(["host-local any 1.9.1"]);
});

test("StandIns learns nothing from a description of another form", () => {
  const { standIns, lines } = told();
  learn(standIns, ["", "bridge", "bridge 1:2\n", "portmap 1:2:3:4\n", "bridge 1:2:3:4", "bridge x 1:2:3:4\n"]);
  expect([standIns.judged(), lines]).toEqual([[], []]);
});

test("StandIns learns which programs are missing, until one comes", () => {
  const { standIns } = told();
  const ipams = ["host-local", "static"];
  expect(ended(standIns, "portmap", {})).toEqual([[], []]);
  expect(ended(standIns, "macvlan", {})).toEqual([[], []]);
  expect(ended(standIns, "bridge", { builtIn: "1.9.1" })).toEqual([["bridge", ...ipams], []]);
  expect(ended(standIns, "ptp", { notBuiltIn: "ipMasq is not built in" })[0]).toEqual([
    "bridge",
    "host-local",
    "ptp",
    "static",
  ]);
  const come = [upstream("bridge", "1:2:3:4", "v1.9.1"), "host-local 1:4:3:4\n"];
  expect(ended(standIns, "bridge", { programs: come })).toEqual([
    ["ptp", "static"],
    ["bridge 1.9.1", "host-local -"],
  ]);
  expect(ended(standIns, "bridge", { builtIn: "1.9.1" })[0]).toEqual(["ptp", "static"]);
});

test("StandIns sees that a judged program has gone and has come back", () => {
  const { standIns } = told();
  const old = upstream("host-device", "1:2:3:4", "v1.1.1").replace("go1.26.8", "go1.19.8");
  expect(ended(standIns, "host-device", { programs: [old, "static 1:3:3:4\n", "host-local 1:4:3:4\n"] })[0]).toEqual(
    [],
  );
  const judged = ["host-device 1.1.1", "host-local -", "static -"];
  expect(ended(standIns, "host-device", { builtIn: "1.1.1" })).toEqual([[], judged]);
  expect(ended(standIns, "host-device", { builtIn: "1.9.1" })).toEqual([["host-device"], judged.slice(1)]);
  expect(ended(standIns, "host-device", {})).toEqual([[], judged]);
});

test("StandIns takes no program for missing where the setting does not ask", () => {
  expect(ended(told(["bridge"]).standIns, "bridge", { builtIn: "1.9.1" })).toEqual([[], []]);
});
