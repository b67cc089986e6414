import { describe, expect, test } from "bun:test";
import type { Namespace } from "../base/brand.ts";
import { systemClock } from "../base/clock.ts";
import { KubeError } from "../kube/api.ts";
import { liveNetworks } from "./live-networks.ts";
import { requestOf } from "./networks.ts";
import { emptyView, type LiveView, type NetworkDefinition, type PodFacts, type View } from "./view.ts";

const namespace = "default" as Namespace;
const lan: NetworkDefinition = { namespace, name: "lan", config: "{}", annotations: {} };

/** A view with one network in it, and a server that answers as the test says. */
function viewWith(read: LiveView["readNetwork"], known?: NetworkDefinition): View {
  const live: Partial<LiveView> = { server: "https://127.0.0.1:6443", readNetwork: read, awaySinceMs: () => undefined };
  return {
    ...emptyView,
    findNetwork: (_namespace, name) => Promise.resolve(known?.name === name ? known : undefined),
    live: live as LiveView,
  };
}

function request(view: View, annotation: string): ReturnType<typeof requestOf> {
  const pod = { namespace, name: "web", annotations: { "k8s.v1.cni.cncf.io/networks": annotation } };
  return requestOf(pod as unknown as PodFacts, liveNetworks(view, systemClock, new AbortController().signal));
}

function unasked(): never {
  throw new Error("the server was asked");
}

describe("liveNetworks", () => {
  test("asks nobody for a network of the local copy", async () => {
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

  test("does not ask for an element without a name", () => {
    expect(request(viewWith(unasked, lan), "lan,")).rejects.toMatchObject({ code: "network-unknown" });
  });

  test("asks to come back later when nobody can tell whether it exists", () => {
    const read = (): Promise<never> => Promise.reject(new KubeError("api-unreachable", "connect ECONNREFUSED"));
    expect(request(viewWith(read), "wan")).rejects.toMatchObject({
      code: "try-later",
      message:
        "Cannot find the network default/wan now: it is not in the local copy, and the API server https://127.0.0.1:6443 does not answer: connect ECONNREFUSED",
    });
  });

  test("leaves a view without a server as it is", () => {
    expect(liveNetworks(emptyView, systemClock, new AbortController().signal)).toBe(emptyView);
  });
});
