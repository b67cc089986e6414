// CNI 1.1, CNI_ARGS: pairs of key and value reach every plugin, the pod's five first and in Multus' order, values untouched.
import { expect, test } from "bun:test";
import { containerId, errorOf, expectSilence, networksAnnotation, onlyCall, resultOf, startNode } from "./node.ts";

test("the pod's five come first, then the runtime's others in their order, values with = included", async () => {
  await using lab = await startNode();
  await lab.pod("web", {});
  const args =
    "FOO=bar=baz;K8S_POD_NAME=web;IgnoreUnknown=1;EMPTY=;K8S_POD_INFRA_CONTAINER_ID=c1;K8S_POD_NAMESPACE=default;LAST=1";
  const call = { containerId: containerId("args"), netns: lab.netns("a"), args };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("CHECK", call));
  expectSilence(await lab.cni("DEL", { ...call, args: "" }));
  const expected =
    "IgnoreUnknown=true;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=c1;K8S_POD_UID=;FOO=bar=baz;EMPTY=;LAST=1";
  for (const verb of ["ADD", "CHECK", "DEL"])
    expect((await onlyCall(lab, verb, "first")).env["CNI_ARGS"]).toBe(expected);
});

test("the element's mac and ips are added for its own network, at DEL too", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second"), capabilities: { mac: true, ips: true } });
  await lab.pod("web", {
    [networksAnnotation]: JSON.stringify([{ name: "lan", mac: "02:11:22:33:44:55", ips: ["10.1.1.5/24", "fd00::5"] }]),
  });
  const call = { containerId: containerId("mac"), netns: lab.netns("a"), args: `${lab.podArgs("web")};IP=192.0.2.9` };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  for (const verb of ["ADD", "DEL"]) {
    const second = (await onlyCall(lab, verb, "second")).env["CNI_ARGS"] ?? "";
    expect(second).toEndWith(";MAC=02:11:22:33:44:55;IP=10.1.1.5/24,fd00::5");
    expect(second).not.toContain("192.0.2.9");
    expect((await onlyCall(lab, verb, "first")).env["CNI_ARGS"]).toEndWith(";IP=192.0.2.9");
  }
});

test("no CNI_ARGS at all is no error: the call is for no pod", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("bare"), netns: lab.netns("a"), args: "" };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await lab.calls()).toHaveLength(2);
});

for (const args of [
  "novalue",
  "=x",
  "K8S_POD_NAMESPACE=../x;K8S_POD_NAME=web",
  "K8S_POD_NAMESPACE=default",
  "K8S_POD_NAMESPACE=default;K8S_POD_NAME=",
  "K8S_POD_NAME=web;K8S_POD_UID=u-1",
  "K8S_POD_UID=u-1",
]) {
  test(`${args} is code 4, and nothing runs`, async () => {
    await using lab = await startNode();
    expect(
      errorOf(await lab.cni("ADD", { containerId: containerId("bad"), netns: lab.netns("a"), args })),
    ).toMatchObject({ code: 4 });
    expect(await lab.calls()).toEqual([]);
  });
}

test("half a pod does not stop a DEL", async () => {
  await using lab = await startNode();
  await lab.pod("web", {});
  const call = { containerId: containerId("half"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", { ...call, args: "K8S_POD_NAMESPACE=default" }));
  await onlyCall(lab, "DEL", "first");
});

test("plugins get the CNI_ variables and PATH, and nothing else of the runtime's environment", async () => {
  await using lab = await startNode();
  const call = {
    containerId: containerId("env"),
    netns: lab.netns("a"),
    env: { SECRET: "x", LD_PRELOAD: "", HTTP_PROXY: "p" },
  };
  resultOf(await lab.cni("ADD", call));
  const names = Object.keys((await onlyCall(lab, "ADD", "first")).env).filter(
    (name) => !["PWD", "OLDPWD", "_", "SHLVL"].includes(name),
  );
  expect(names.toSorted()).toEqual([
    "CNI_ARGS",
    "CNI_COMMAND",
    "CNI_CONTAINERID",
    "CNI_IFNAME",
    "CNI_NETNS",
    "CNI_PATH",
    "PATH",
  ]);
});
