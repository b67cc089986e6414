import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Namespace } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import type { NetConf } from "../../config/net-conf.ts";
import { KubeError } from "../../kube/client/api.ts";
import { ConfCache } from "./conf-cache.ts";
import { liveNetworks } from "./live-networks.ts";
import { primaryNetwork } from "./networks.ts";
import { requestOf } from "./pod-request.ts";
import { emptyView, type LiveView, type View } from "../../view/view.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const namespace = "default" as Namespace;
const lan: NetworkDefinition = { namespace, name: "lan", config: "{}", annotations: {} };

/** A view with one network, and a server that answers as the test sets it. */
function viewWith(read: LiveView["readNetwork"], known?: NetworkDefinition, isSynced = true): View {
  const live: Partial<LiveView> = {
    server: "https://127.0.0.1:6443",
    readNetwork: read,
    awaySinceMs: () => undefined,
    isSynced: () => isSynced,
  };
  return {
    ...emptyView,
    findNetwork: (_namespace, name) => Promise.resolve(known?.name === name ? known : undefined),
    live: live as LiveView,
  };
}

function request(view: View, annotation: string): ReturnType<typeof requestOf> {
  const pod = { namespace, name: "web", annotations: { "k8s.v1.cni.cncf.io/networks": annotation } };
  return requestOf(pod as unknown as PodFacts, liveNetworks(view, systemClock, new AbortController()));
}

async function primaryType(view: View, conf: Pick<NetConf, "clusterNetwork" | "confDir">): Promise<string> {
  const all = { defaultNetworks: [], systemNamespaces: [], multusNamespace: "kube-system", ...conf };
  const networks = liveNetworks(view, systemClock, new AbortController());
  const source = await primaryNetwork(all as unknown as NetConf, { confs: new ConfCache(), view: networks });
  return source.conf.plugins[0]?.type ?? "";
}

async function makeFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "levee-networks-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

function unasked(): never {
  throw new Error("the server was asked");
}

describe("liveNetworks", () => {
  test("does not ask the server for a network of the local copy", async () => {
    const { definitions } = await request(viewWith(unasked, lan), "lan");
    expect([...definitions.values()]).toEqual([lan]);
  });

  test("reads a network that the local copy lacks, once", async () => {
    let asked = 0;
    const read = (): Promise<NetworkDefinition> => {
      asked += 1;
      return Promise.resolve(lan);
    };
    const { definitions } = await request(viewWith(read), "lan,lan@net7");
    expect([...definitions.values()]).toEqual([lan]);
    expect(asked).toBe(1);
  });

  test("reads a network that is too long for the local copy", async () => {
    const { definitions } = await request(
      viewWith(() => Promise.resolve(lan), { ...lan, config: '"too long"', isElided: true }),
      "lan",
    );
    expect([...definitions.values()]).toEqual([lan]);
  });

  test("fails with Multus' words when there is no such network", () => {
    expect(
      request(
        viewWith(() => Promise.resolve(undefined)),
        "wan",
      ),
    ).rejects.toMatchObject({
      code: "network-unknown",
      message:
        'cannot find a network-attachment-definition (wan) in namespace (default): networkattachmentdefinition.k8s.cni.cncf.io "wan" not found',
    });
  });

  test.each([
    ["without a name", "lan,"],
    ["with a name that no object can have", "a".repeat(254)],
  ])("does not ask for an element %s", async (_what, annotation) => {
    const error = await request(viewWith(unasked, lan), annotation).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "network-unknown" });
  });

  test("shortens an endless name in its error", async () => {
    const error = await request(
      viewWith(() => Promise.resolve(undefined)),
      "a".repeat(250_000),
    ).catch((thrown: unknown) => thrown);
    expect(String(error).length).toBeLessThan(1_000);
  });

  test("does not ask the server for a network that is a file of the node, unless the view may lack a definition with its name", async () => {
    await using folder = await makeFolder();
    await writeFile(join(folder.path, "10-mgmt.conf"), '{"cniVersion":"1.0.0","name":"mgmt","type":"bridge"}');
    const definition: NetworkDefinition = { ...lan, name: "mgmt", config: '{"cniVersion":"1.0.0","type":"macvlan"}' };
    const unseen = viewWith(() => Promise.resolve(definition), undefined, false);
    const typeOf = (view: View): Promise<string> => primaryType(view, { clusterNetwork: "mgmt", confDir: folder.path });
    let asked = 0;
    const counted = (): Promise<undefined> => {
      asked += 1;
      return Promise.resolve(undefined);
    };
    expect(await typeOf(viewWith(counted))).toBe("bridge");
    expect(asked).toBe(0);
    expect(await typeOf(unseen)).toBe("macvlan");
    expect(await typeOf(viewWith(unasked, definition))).toBe("macvlan");
  });

  test("does not ask the server for a network of the node whose name no object can have", async () => {
    await using folder = await makeFolder();
    const asked = primaryType(viewWith(unasked), { clusterNetwork: "My_Net", confDir: folder.path });
    expect(await asked.catch((thrown: unknown) => thrown)).toMatchObject({ code: "network-unknown" });
  });

  test("answers try-later when the server is away and the network may exist", () => {
    const read = (): Promise<never> => Promise.reject(new KubeError("api-unreachable", "connect ECONNREFUSED"));
    expect(request(viewWith(read), "wan")).rejects.toMatchObject({
      code: "try-later",
      message:
        "Cannot find the network default/wan now: it is not in the local copy, and the API server https://127.0.0.1:6443 does not answer: connect ECONNREFUSED",
    });
  });

  test("leaves a view without a server as it is", () => {
    expect(liveNetworks(emptyView, systemClock, new AbortController())).toBe(emptyView);
  });
});
