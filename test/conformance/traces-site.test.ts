// Traces at a site: a collector that wants a token, what the resident hand does for a pod, and what a check says.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";
import { OtlpReceiver } from "../lab/otlp-receiver.ts";
import { containerId, expectSilence, networksAnnotation, resultOf, startNode } from "./node.ts";

const uid = "6fa459ea-ee8a-3ca4-894e-db77e160355e";

async function attach(lab: Lab): Promise<Parameters<Lab["cni"]>[1]> {
  await lab.network("lan", { cniVersion: "1.1.0", name: "lan", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  const args = `${lab.podArgs("web")};K8S_POD_UID=${uid}`;
  const call = { containerId: containerId("web"), netns: lab.netns("web"), args };
  resultOf(await lab.cni("ADD", call));
  return call;
}

test("what the resident hand undoes of a pod is in the pod's trace, with each failed try", async () => {
  await using receiver = await OtlpReceiver.listen();
  const settings = { tracesEndpoint: receiver.endpoint, tracesOneIn: 1, delAttemptsMax: 1 };
  await using lab = await startNode({ settings });
  const call = await attach(lab);
  await lab.script("second.DEL", 'echo \'{"code":7,"msg":"switch is away"}\'; exit 1');
  expectSilence(await lab.cni("DEL", call));
  await lab.startHand();
  await levee(lab, "leaks", "--retry");
  await lab.unscript("second.DEL");
  await levee(lab, "leaks", "--retry");
  const ofHand = (): typeof receiver.spans =>
    receiver.spans.filter(({ attributes }) => attributes["levee.hand"] === "resident");
  await lab.until("the collector has both tries", () => Promise.resolve(ofHand().length >= 2 || undefined));
  expect(receiver.problems).toEqual([]);
  const [failed, last] = [ofHand()[0], ofHand().at(-1)];
  expect(failed).toMatchObject({ name: "DEL second", traceId: uid.replaceAll("-", ""), parentSpanId: "" });
  expect(failed?.status).toMatchObject({ code: 2, message: expect.stringContaining("switch is away") });
  expect(last).toMatchObject({ name: "DEL second", status: {}, attributes: { "k8s.pod.name": "web" } });
  // The same span in the pod's story, and given to the plugin.
  expect((await levee(lab, "why", "web", "-o", "wide")).out).toContain(`span=${last?.spanId ?? "none"}`);
  const del = (await lab.calls()).findLast(({ command }) => command === "DEL");
  expect(del?.env["TRACEPARENT"]).toBe(`00-${uid.replaceAll("-", "")}-${last?.spanId ?? ""}-01`);
});

test("a collector that wants a token gets it from a file; until then a check says why nothing arrives", async () => {
  await using receiver = await OtlpReceiver.listen();
  let seen: string | undefined;
  receiver.script = (response) => {
    seen = response.req.headers.authorization;
    response.writeHead(seen === "Bearer right" ? 200 : 401).end(seen === "Bearer right" ? "{}" : "no");
  };
  const headers = join(await mkdtemp(join(tmpdir(), "headers-")), "headers");
  await writeFile(headers, "Authorization: Bearer wrong\n");
  const settings = { tracesEndpoint: receiver.endpoint, tracesOneIn: 1, tracesHeadersFile: headers };
  await using lab = await startNode({ settings });
  const call = await attach(lab);
  await lab.until("the collector refused", () => Promise.resolve(seen));
  const checked = await lab.until("the check knows", async () => {
    const { out } = await levee(lab, "check", "node");
    return out.includes("status 401") ? out : undefined;
  });
  expect(checked).toContain("1 dropped");
  expect(checked).toContain("check the token in tracesHeadersFile; pods start without it");
  expect(`${checked}${lab.daemonLog}`).not.toContain("wrong");
  await writeFile(headers, "Authorization: Bearer right\n");
  expectSilence(await lab.cni("DEL", call));
  await lab.until("the check passes again", async () =>
    (await levee(lab, "check", "node")).out.includes("takes traces: 1 sent, 1 dropped") ? true : undefined,
  );
});
