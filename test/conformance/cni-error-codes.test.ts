// CNI 1.1, errors: a failed call exits with 1 and prints version, code, msg and details; codes below 100 mean what the specification says.
import { expect, test } from "bun:test";
import { Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, networksAnnotation, startNode } from "./node.ts";

test("code 4 names every missing variable at once", async () => {
  await using lab = await startNode();
  const error = errorOf(await lab.cni("ADD", { containerId: "", netns: "", ifname: "" }));
  expect(error.code).toBe(4);
  for (const name of ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"]) expect(error.msg).toContain(name);
});

for (const [what, call] of [
  ["a container ID with a slash", { containerId: "../etc", ifname: "eth0" }],
  ["an interface name with a slash", { containerId: "good", ifname: "a/b" }],
  ["an interface name that is too long", { containerId: "good", ifname: "abcdefghijklmnop" }],
  ["an unknown command", { containerId: "good", ifname: "eth0" }],
] as const) {
  test(`code 4 refuses ${what}`, async () => {
    await using lab = await startNode();
    const verb = what === "an unknown command" ? "ATTACH" : "ADD";
    expect(errorOf(await lab.cni(verb, { ...call, netns: lab.netns("a") }))).toMatchObject({ code: 4 });
    expect(await lab.calls()).toEqual([]);
    expect(await leftovers(lab)).toEqual([]);
  });
}

for (const [conf, code, what] of [
  ["", 6, "nothing on stdin"],
  ["{", 6, "truncated JSON"],
  ["[]", 6, "no object"],
  ['{"cniVersion":"1.1.0"}', 7, "no name"],
  ['{"cniVersion":"1.1.0","name":"a/b"}', 7, "a name with a slash"],
  ['{"cniVersion":"3.0.0","name":"n"}', 1, "an unknown version"],
] as const) {
  test(`a configuration with ${what} is answered with code ${code}`, async () => {
    await using lab = await Lab.make();
    expect(errorOf(await lab.cni("ADD", { containerId: "good", netns: "/proc/self/ns/net", conf }))).toMatchObject({
      code,
    });
  });
}

for (const version of ["0.3.1", "1.0.0"]) {
  test(`errors bear the version of a configuration of ${version}`, async () => {
    await using lab = await startNode();
    await lab.pod("lost", { [networksAnnotation]: "nowhere" });
    const call = {
      containerId: containerId("v"),
      netns: lab.netns("a"),
      args: lab.podArgs("lost"),
      conf: lab.shimConf({ cniVersion: version }),
    };
    expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ cniVersion: version, code: 101 });
    expect(errorOf(await lab.cni("ADD", { ...call, containerId: "no/good" }))).toMatchObject({
      cniVersion: version,
      code: 4,
    });
  });
}

for (const [verb, version] of [
  ["CHECK", "0.3.1"],
  ["STATUS", "1.0.0"],
  ["GC", "1.0.0"],
] as const) {
  test(`${verb} with a configuration of ${version} is answered with code 1`, async () => {
    await using lab = await startNode();
    const call = {
      containerId: containerId("old"),
      netns: lab.netns("a"),
      conf: lab.shimConf({ cniVersion: version }),
    };
    expect(errorOf(await lab.cni(verb, call))).toMatchObject({ code: 1, cniVersion: version });
  });
}

test("a delegate's own code, message and details go through, with network and interface in front", async () => {
  await using lab = await startNode();
  await lab.script(
    "first.ADD",
    `echo '{"cniVersion":"1.1.0","code":42,"msg":"no addresses left","details":"range 10.9.0.0/30"}'; exit 1`,
  );
  const error = errorOf(await lab.cni("ADD", { containerId: containerId("own"), netns: lab.netns("a") }));
  expect(error).toEqual({
    cniVersion: "1.1.0",
    code: 42,
    msg: "primary (eth0): no addresses left",
    details: "range 10.9.0.0/30",
  });
});

for (const [what, script, code] of [
  ["dies without a word", "exit 3", 104],
  ["prints no JSON", "echo panic; echo trace >&2; exit 2", 104],
  ["is killed", "kill -9 $$", 104],
] as const) {
  test(`a delegate that ${what} is an error that names it`, async () => {
    await using lab = await startNode();
    await lab.script("first.ADD", script);
    const error = errorOf(await lab.cni("ADD", { containerId: containerId("dead"), netns: lab.netns("a") }));
    expect(error).toMatchObject({ code });
    expect(error.msg).toStartWith("primary (eth0): first ");
    expect(await leftovers(lab)).toEqual([]);
  });
}

for (const [what, answer] of [
  ["nothing", ""],
  ["no JSON", "hello"],
  ["an array", "[]"],
  ["an address without prefix", '{"cniVersion":"1.1.0","ips":[{"address":"10.0.0.1"}]}'],
] as const) {
  test(`a delegate that succeeds and prints ${what} fails the ADD and is undone`, async () => {
    await using lab = await startNode();
    await lab.answer("first.ADD", answer);
    const outcome = await lab.cni("ADD", { containerId: containerId("odd"), netns: lab.netns("a") });
    expect(errorOf(outcome).msg).toContain("primary");
    expect((await lab.calls()).map((call) => call.command)).toEqual(["ADD", "DEL"]);
    expect(await leftovers(lab)).toEqual([]);
  });
}

test("a result that is not UTF-8 and one in an unknown version fail the ADD, and the ADD is undone", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("odd"), netns: lab.netns("a") };
  await lab.script("first.ADD", `printf '{"cniVersion":"1.1.0","x":"\\377"}'; exit 0`);
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ code: 6, msg: expect.stringContaining("primary") });
  await lab.script("first.ADD", `echo '{"cniVersion":"5.0.0"}'; exit 0`);
  expect(errorOf(await lab.cni("ADD", call)).msg).toContain("5.0.0");
  expect((await lab.calls()).map((seen) => seen.command)).toEqual(["ADD", "DEL", "ADD", "DEL"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a plugin that is not installed is named with the folders that were searched", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [{ cniVersion: "1.1.0", name: "primary", type: "nosuchplugin" }] }),
  });
  const error = errorOf(await lab.cni("ADD", { containerId: containerId("none"), netns: lab.netns("a") }));
  expect(error.code).toBe(106);
  expect(error.msg).toContain("nosuchplugin");
  expect(error.msg).toContain(lab.path("bin"));
  expect(await leftovers(lab)).toEqual([]);
});
