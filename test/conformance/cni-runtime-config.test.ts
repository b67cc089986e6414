// CNI 1.1, section 3 and conventions: each plugin gets the runtime's values for the capabilities it declares, at ADD, CHECK and DEL.
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { containerId, expectSilence, networksAnnotation, onlyCall, resultOf, startNode, stdinOf } from "./node.ts";

const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }];

function primary(lab: Lab): Promise<void> {
  return lab.configure({
    delegates: [
      {
        cniVersion: "1.1.0",
        name: "primary",
        plugins: [
          { ...lab.conf("first"), capabilities: { "portMappings": true, "example.com/own": true, "mac": false } },
          { ...lab.conf("second"), capabilities: { bandwidth: true } },
          lab.conf("third"),
        ],
      },
    ],
  });
}

const runtimeConfig = {
  portMappings,
  "example.com/own": { deep: [1] },
  "mac": "02:00:00:00:00:09",
  "bandwidth": { ingressRate: 1000 },
  "dns": { servers: ["10.0.0.1"] },
};

test("runtimeConfig is what the plugin declares and the runtime gave, at ADD, CHECK and DEL alike", async () => {
  await using lab = await startNode({ prepare: primary });
  const call = { containerId: containerId("caps"), netns: lab.netns("a"), conf: lab.shimConf({ runtimeConfig }) };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("CHECK", { ...call, conf: lab.shimConf() }));
  expectSilence(await lab.cni("DEL", { ...call, conf: lab.shimConf() }));
  for (const verb of ["ADD", "CHECK", "DEL"]) {
    expect(stdinOf(await onlyCall(lab, verb, "first"))["runtimeConfig"]).toEqual({
      portMappings,
      "example.com/own": { deep: [1] },
    });
    expect(stdinOf(await onlyCall(lab, verb, "second"))["runtimeConfig"]).toEqual({ bandwidth: { ingressRate: 1000 } });
    expect(stdinOf(await onlyCall(lab, verb, "third"))["runtimeConfig"]).toBeUndefined();
  }
});

test("numbers in runtimeConfig are not printed anew", async () => {
  await using lab = await startNode({ prepare: primary });
  const conf = lab.shimConf({ runtimeConfig: { "example.com/own": "HERE" } }).replace('"HERE"', "9007199254740993");
  resultOf(await lab.cni("ADD", { containerId: containerId("big"), netns: lab.netns("a"), conf }));
  expect((await onlyCall(lab, "ADD", "first")).stdin).toContain('"example.com/own":9007199254740993');
});

test("the runtime's values are for the default network only (NPWG 7.5)", async () => {
  await using lab = await startNode({ prepare: primary });
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("fourth"), capabilities: { portMappings: true } });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  const call = {
    containerId: containerId("only"),
    netns: lab.netns("a"),
    args: lab.podArgs("web"),
    conf: lab.shimConf({ runtimeConfig }),
  };
  resultOf(await lab.cni("ADD", call));
  expect(stdinOf(await onlyCall(lab, "ADD", "fourth"))["runtimeConfig"]).toBeUndefined();
  expect(stdinOf(await onlyCall(lab, "ADD", "first"))["runtimeConfig"]).toMatchObject({ portMappings });
});

test("without a matching capability there is no runtimeConfig at all", async () => {
  await using lab = await startNode();
  resultOf(
    await lab.cni("ADD", {
      containerId: containerId("none"),
      netns: lab.netns("a"),
      conf: lab.shimConf({ runtimeConfig }),
    }),
  );
  expect(stdinOf(await onlyCall(lab, "ADD", "first"))["runtimeConfig"]).toBeUndefined();
});
