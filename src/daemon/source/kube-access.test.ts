import { describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { accessOf, clusterPlaceOf, type ClusterPlace } from "./kube-access.ts";
import { MetricsRegistry } from "../metrics/metrics-registry.ts";
import { openSource } from "./open-source.ts";
import type { Source } from "./source.ts";

const inPod = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "443" };

describe("clusterPlaceOf", () => {
  test("takes the node's name from Multus' variable, ours, or the host", () => {
    const nodeName = (env: Record<string, string>): string => clusterPlaceOf(env, "Host.Example").nodeName;
    expect(nodeName({ MULTUS_NODE_NAME: "a", LEVEE_NODE_NAME: "b" })).toBe("a");
    expect(nodeName({ MULTUS_NODE_NAME: "", LEVEE_NODE_NAME: "b" })).toBe("b");
    expect(nodeName({})).toBe("host.example");
  });

  test("finds no cluster without the service's address", () => {
    expect(clusterPlaceOf({ KUBERNETES_SERVICE_HOST: "127.0.0.1" }, "h").service).toBeUndefined();
  });

  test("finds the service account in the folder that the environment names", () => {
    expect(clusterPlaceOf({ ...inPod, LEVEE_SERVICE_ACCOUNT_DIR: "/sa" }, "h").service).toEqual({
      host: "127.0.0.1",
      port: "443",
      accountFolder: "/sa",
    });
    expect(clusterPlaceOf(inPod, "h").service?.accountFolder).toBe("/var/run/secrets/kubernetes.io/serviceaccount");
  });
});

test("accessOf prefers the cluster it is in to a kubeconfig, and needs neither", async () => {
  const access = await accessOf({ kubeconfig: "/nowhere" }, clusterPlaceOf(inPod, "h"), systemClock);
  expect(access?.server).toBe("https://127.0.0.1:443");
  expect(await accessOf({ kubeconfig: undefined }, clusterPlaceOf({}, "h"), systemClock)).toBeUndefined();
  expect(accessOf({ kubeconfig: "/nowhere" }, clusterPlaceOf({}, "h"), systemClock)).rejects.toThrow("/nowhere");
});

describe("openSource", () => {
  function open(cluster: ClusterPlace): Promise<Source> {
    const config = { directory: undefined, kubeconfig: undefined } as DaemonConfig;
    return openSource({ config, clock: systemClock, logger: silentLogger, metrics: new MetricsRegistry(), cluster });
  }

  test("refuses to watch a whole cluster", () => {
    expect(open(clusterPlaceOf(inPod, ""))).rejects.toMatchObject({
      code: "setting-invalid",
      message: expect.stringContaining("set MULTUS_NODE_NAME"),
    });
  });

  test("opens without waiting for the API server, and says that it is away", async () => {
    const nowhere = {
      KUBERNETES_SERVICE_HOST: "127.0.0.1",
      KUBERNETES_SERVICE_PORT: "9",
      LEVEE_SERVICE_ACCOUNT_DIR: "/nowhere",
    };
    const source = await open(clusterPlaceOf(nowhere, "node1"));
    try {
      expect(source.nodeName).toBe("node1");
      expect(source.view.pods()).toBeUndefined();
      expect(source.view.live?.isSynced()).toBe(false);
      while (source.view.live?.awaySinceMs() === undefined) await systemClock.sleep(5);
      expect(source.notices().join("\n")).toContain("has not answered since");
    } finally {
      await source.close();
    }
  });

  test("says that pods cannot be served with neither cluster nor folder", async () => {
    const source = await open(clusterPlaceOf({}, "h"));
    expect(source.notices()).toEqual([expect.stringContaining("Neither directory nor kubeconfig is set")]);
  });
});
