// levee why and levee top of pods that are not attached: in line, held, hung, behind a network that fails.
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";
import { containerId, errorOf, networksAnnotation, resultOf, startNode } from "./node.ts";

async function why(lab: Lab, pod: string): Promise<string> {
  const { status, out, err } = await levee(lab, "why", pod);
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return out;
}

test("a pod in a full line: how long it has waited, its position, and the pods before it", async () => {
  await using lab = await startNode({ settings: { attachCeiling: 1 } });
  for (const name of ["a", "b", "c", "d"]) await lab.pod(name, {}, "desktop");
  await lab.pod("e", {}, "shop");
  await lab.script("first.ADD", `while [ ! -e ${lab.path("go")} ]; do sleep 0.05; done`);
  const add = (name: string, namespace: string): ReturnType<Lab["cni"]> =>
    lab.cni("ADD", { containerId: containerId(name), netns: lab.netns(name), args: lab.podArgs(name, namespace) });
  const calls = [add("a", "desktop")];
  await lab.until("the first runs", async () => ((await lab.calls()).length === 1 ? true : undefined));
  for (const name of ["b", "c", "d"]) calls.push(add(name, "desktop"));
  await lab.until("three wait", async () => ((await why(lab, "desktop/d")).includes("of 3") ? true : undefined));
  calls.push(add("e", "shop"));
  const text = await lab.until("the fourth waits", async () => {
    const { status, out } = await levee(lab, "why", "shop/e");
    return status === 0 && out.includes("is waiting") ? out : undefined;
  });
  expect(text).toMatch(
    /^shop\/e is waiting [\d.]+ m?s, position 2 of 4 \(class ordinary\), in line with 3 of desktop; all slots are taken \(1 of 1 slots\)/,
  );
  const top = (await levee(lab, "top")).out;
  expect(top).toMatch(/^ordinary +1 +4 +[\d.]+ m?s$/m);
  expect(top).toMatch(/IN LINE BY NAMESPACE\ndesktop +3\nshop +1\n/);
  expect(top).toContain("ADD 1 of 1 (ceiling 1)");
  await writeFile(lab.path("go"), "");
  for (const call of calls) resultOf(await call);
  expect(await why(lab, "shop/e")).toMatch(/permitted +took [\d.]+ (m?s|s)/);
});

test("a pod that fails by its own request is held, and why says until when and what would help", async () => {
  await using lab = await startNode();
  const metadata = { name: "web", namespace: "shop", uid: "1-2-3", annotations: { [networksAnnotation]: "nowhere" } };
  await writeFile(lab.path("directory/pods/web.json"), JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata }));
  const args = `${lab.podArgs("web", "shop")};K8S_POD_UID=1-2-3`;
  const netns = lab.netns("web");
  for (const name of ["one", "two"]) errorOf(await lab.cni("ADD", { containerId: containerId(name), netns, args }));
  const text = await why(lab, "shop/web");
  expect(text).toMatch(
    /^shop\/web failed (once|\d times in a row), next try in [\d.]+ m?s; a change of the pod or its networks ends the wait; last: /,
  );
  expect((await levee(lab, "top")).out).toMatch(/, 1 held$/m);
  expect((await levee(lab, "top")).out).toMatch(/LAST FAILURES[^]*ADD shop\/web {2}/);
});

test("a plugin that hangs is named, with its network, while it hangs", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.1.0", name: "lan", ...lab.conf("second") }, "shop");
  await lab.pod("warm", { [networksAnnotation]: "lan" }, "shop");
  await lab.pod("web", { [networksAnnotation]: "lan" }, "shop");
  const add = (name: string): ReturnType<Lab["cni"]> =>
    lab.cni("ADD", { containerId: containerId(name), netns: lab.netns(name), args: lab.podArgs(name, "shop") });
  resultOf(await add("warm"));
  await lab.script("second.ADD", `[ -e ${lab.path("go")} ] || exec sleep 600`);
  const call = lab.start("ADD", {
    containerId: containerId("web"),
    netns: lab.netns("hung"),
    args: lab.podArgs("web", "shop"),
  });
  const text = await lab.until("why says that it hangs", async () => {
    const { status, out } = await levee(lab, "why", "shop/web");
    return status === 0 && out.includes("hangs for") ? out : undefined;
  });
  expect(text).toMatch(/^shop\/web hangs for [\d.]+ s: second of shop\/lan uses no CPU and does not end/);
  const top = (await levee(lab, "top")).out;
  expect(top).toMatch(/HANGING\nshop\/web +shop\/lan +second +[\d.]+ s/);
  call.process.kill("SIGKILL");
  await lab.until("nothing hangs", async () => ((await levee(lab, "top")).out.includes("HANGING") ? undefined : true));
});
