import { describe, expect, test } from "bun:test";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfSite, primaryList } from "./conf-dir.fixture.ts";

describe("ConfDir with multusConfigFile auto", () => {
  test("makes the conf from the primary network's", async () => {
    await using site = await ConfSite.make();
    await site.put("10-calico.conflist", primaryList());
    await site.start({ stateDir: "/var/lib/levee" });
    expect(await site.conf()).toEqual({
      cniVersion: "0.3.1",
      name: "multus-cni-network",
      type: "levee-shim",
      capabilities: { "io.kubernetes.cri.pod-annotations": true, "portMappings": true },
      daemonSocketDir: "/run/levee",
      stateDir: "/var/lib/levee",
      addBudgetMs: 110_000,
      addUndoMs: 8_000,
      delBudgetMs: 50_000,
      delPatienceMs: 2_000,
      clusterNetwork: site.path("10-calico.conflist"),
    });
    expect((await stat(site.path())).mode & 0o777).toBe(0o600);
    expect(site.facts).toEqual({
      state: "in-force",
      path: site.path(),
      primary: site.path("10-calico.conflist"),
      problems: [],
      writes: 1,
    });
  });

  test("writes nothing and warns while there is no primary, then writes at once", async () => {
    await using site = await ConfSite.make();
    await site.start();
    expect(site.facts.state).toBe("waiting");
    await site.pass(120_000);
    expect(await site.names()).toEqual([]);
    expect(site.events).toEqual(["ConfMissingPrimary"]);
    expect(site.log.length).toBe(3);
    await site.put("87-podman.json", { cniVersion: "1.0.0", name: "podman", type: "bridge" });
    await site.pass();
    expect(site.facts).toMatchObject({ state: "in-force", problems: [] });
    expect(await site.conf()).toMatchObject({ cniVersion: "1.0.0" });
  });

  test("writes only when the content changes, and drops capabilities that are gone", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start();
    const { ino } = await stat(site.path());
    await site.pass(60_000);
    await site.start();
    await site.put("10-a.conflist", { ...primaryList(), comment: "the facts are the same" });
    await site.pass();
    expect((await stat(site.path())).ino).toBe(ino);
    await site.put("10-a.conflist", primaryList("k8s-pod-network", "calico"));
    await site.pass();
    expect(await site.conf()).toMatchObject({ capabilities: { "io.kubernetes.cri.pod-annotations": true } });
    expect(site.facts.writes).toBe(1);
  });

  test.each([
    ["", "empty"],
    ['{"name":"a","plug', "half"],
    ['{"name":"a"}', "no type"],
    ["[]", "no object"],
  ])("keeps the last good conf when the primary's is %j (%s)", async (text) => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start();
    const good = await site.text();
    await site.put("10-a.conflist", text);
    await site.pass(1_000);
    expect(site.events).toEqual([]);
    await site.pass(30_000);
    expect(await site.text()).toBe(good);
    expect(site.facts).toMatchObject({ state: "in-force", writes: 1 });
    expect(site.problems).toEqual(["primary-unusable"]);
    expect(site.events).toEqual(["ConfPrimaryUnusable"]);
    await rm(site.path());
    await site.pass();
    expect(await site.text()).toBe(good);
  });
});

describe("ConfDir with multusConfigFile auto when the primary's conf changes", () => {
  test("keeps the last good conf when the primary's is removed, also over a restart", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start();
    const good = await site.text();
    await site.remove("10-a.conflist");
    await site.pass();
    await site.start();
    await site.pass();
    expect(await site.text()).toBe(good);
    expect(site.facts.state).toBe("in-force");
    expect(site.problems).toEqual(["missing-primary"]);
  });

  test("follows a primary that another file replaces", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start();
    await site.remove("10-a.conflist");
    await site.put("10-b.conf", { cniVersion: "0.3.1", name: "b", type: "flannel" });
    await site.pass();
    expect(await site.conf()).toMatchObject({ clusterNetwork: site.path("10-b.conf") });
  });

  test("does not take a leftover for the primary while its agent may be replaced", async () => {
    await using site = await ConfSite.make();
    await site.put("05-cilium.conflist", primaryList("cilium", "cilium-cni"));
    await site.put("87-podman.conflist", primaryList("podman", "bridge"));
    await site.start();
    await site.remove("05-cilium.conflist");
    await site.pass(30_000);
    expect(await site.conf()).toMatchObject({ clusterNetwork: site.path("05-cilium.conflist") });
    expect(site.problems).toEqual(["missing-primary"]);
    await site.pass(60_000);
    expect(await site.conf()).toMatchObject({ clusterNetwork: site.path("87-podman.conflist") });
  });

  test("does not take a leftover for the primary after a restart either, unless it is newer than the conf", async () => {
    await using site = await ConfSite.make();
    await site.put("05-cilium.conflist", primaryList("cilium", "cilium-cni"));
    await site.put("87-podman.conflist", primaryList("podman", "bridge"));
    await site.start();
    await site.remove("05-cilium.conflist");
    await site.start();
    await site.pass(30_000);
    expect(await site.conf()).toMatchObject({ clusterNetwork: site.path("05-cilium.conflist") });
    expect(site.problems).toEqual(["missing-primary"]);
    await site.pass(60_000);
    expect(await site.conf()).toMatchObject({ clusterNetwork: site.path("87-podman.conflist") });
    await site.remove("87-podman.conflist");
    await site.put("10-flannel.conf", { cniVersion: "0.3.1", name: "b", type: "flannel" });
    await site.start();
    expect(await site.conf()).toMatchObject({ clusterNetwork: site.path("10-flannel.conf") });
  });

  test("takes the name from the primary or from the configuration when told to", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start({ name: "mine", cniVersion: "1.0.0", capabilities: { bandwidth: true, ips: false } });
    expect(await site.conf()).toMatchObject({
      name: "mine",
      cniVersion: "1.0.0",
      capabilities: { "bandwidth": true, "portMappings": true, "io.kubernetes.cri.pod-annotations": true },
    });
    expect(site.facts.problems[0]?.message).toBe("delegate cni version is 0.3.1 while top level cni version is 1.0.0");
    await site.start({ name: "mine", overrideNetworkName: true });
    expect(await site.conf()).toMatchObject({ name: "k8s-pod-network" });
  });
});

describe("ConfDir and others", () => {
  test("puts the conf back when it is removed, renamed or changed, and names a likely culprit", async () => {
    await using site = await ConfSite.make();
    await site.put("05-cilium.conflist", primaryList("cilium", "cilium-cni"));
    await site.start();
    const good = await site.text();
    await rename(site.path(), site.path("00-levee.conf.cilium_bak"));
    await site.pass();
    expect(site.facts.problems[0]?.message).toContain("was renamed to 00-levee.conf.cilium_bak, and was put back once");
    await site.put("00-levee.conf", "{}");
    await site.pass();
    expect(await site.text()).toBe(good);
    expect(site.facts).toMatchObject({ state: "in-force", writes: 3 });
    expect(site.events).toEqual(["ConfTampered", "ConfTampered"]);
    await site.pass(700_000);
    expect(site.problems).toEqual([]);
  });

  test("stops a fight after five times, leaves the conf alone for an hour, then tries again", async () => {
    await using site = await ConfSite.make();
    await site.put("05-cilium.conflist", primaryList("cilium", "cilium-cni"));
    await site.start();
    for (let round = 0; round < 20; round += 1) {
      await rm(site.path(), { force: true });
      await site.pass(20_000);
    }
    expect(site.facts).toMatchObject({ state: "contested", writes: 6 });
    expect(site.events.at(-1)).toBe("ConfContested");
    expect(await site.names()).not.toContain("00-levee.conf");
    await site.pass(3_600_000);
    expect(site.facts).toMatchObject({ state: "in-force", writes: 7 });
  });

  test("limits writes for a primary that keeps changing, warns, and catches up", async () => {
    await using site = await ConfSite.make();
    for (let round = 0; round < 40; round += 1) {
      await site.put("10-a.conflist", primaryList("a", "calico", ...(round % 2 === 0 ? [] : ["portmap"])));
      if (round === 0) await site.start();
      await site.pass();
    }
    // Five at once, and 22 in eleven minutes.
    expect(site.facts.writes).toBeLessThan(30);
    expect(site.events).toContain("ConfUnsteady");
    await site.pass(60_000);
    expect(await site.conf()).toMatchObject({ capabilities: { portMappings: true } });
    expect(site.problems).toEqual([]);
  });

  test("stops a fight with a program that keeps editing the conf", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start();
    for (let round = 0; round < 20; round += 1) {
      await site.put("00-levee.conf", `{"name":"a","type":"other","round":${round}}`);
      await site.pass(20_000);
    }
    expect(site.facts).toMatchObject({ state: "contested", writes: 6 });
    expect(site.events.at(-1)).toBe("ConfContested");
  });

  test("warns that the runtime reads a file that sorts first", async () => {
    await using site = await ConfSite.make();
    await site.put("00-foo.conf", { cniVersion: "0.3.1", name: "foo", type: "bridge" });
    await site.start();
    expect(site.facts.state).toBe("shadowed");
    expect(site.events).toEqual(["ConfShadowed"]);
    await rename(site.path("00-foo.conf"), site.path("10-foo.conf"));
    await site.pass();
    expect(site.facts).toMatchObject({ state: "in-force", problems: [] });
  });

  test("warns that the runtime cannot find the shim; looks once a minute, and more often while it is missing", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start();
    site.hasShim = false;
    await site.pass(45_000);
    expect(site.problems).toEqual([]);
    await site.pass(15_000);
    expect(site.problems).toEqual(["shim-missing"]);
    expect(site.events).toEqual(["ShimMissing"]);
    site.hasShim = true;
    await site.pass(15_000);
    expect(site.problems).toEqual([]);
  });

  test("notes Multus' conf beside ours", async () => {
    await using site = await ConfSite.make();
    await site.put("00-multus.conf", { cniVersion: "0.3.1", name: "multus-cni-network", type: "multus-shim" });
    await site.put("10-a.conflist", primaryList());
    await site.start();
    expect(site.facts).toMatchObject({ state: "in-force", problems: [{ kind: "multus-beside", severity: "note" }] });
    expect(site.events).toEqual([]);
  });
});

describe("ConfDir with plugins of others in our conf", () => {
  test("leaves a list that begins with our shim, as Istio makes it, and keeps its own part current", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start();
    const { cniVersion: _cniVersion, ...ours } = await site.conf();
    const istio = { type: "istio-cni", log_level: "info" };
    await site.put("00-levee.conflist", { name: "k8s-pod-network", cniVersion: "0.3.1", plugins: [ours, istio] });
    await site.remove("00-levee.conf");
    await site.pass(60_000);
    expect(site.facts).toMatchObject({ state: "chained", writes: 1, problems: [{ kind: "chained" }] });
    expect(await site.names()).not.toContain("00-levee.conf");
    await site.put("10-a.conflist", primaryList("k8s-pod-network", "calico", "istio-cni"));
    await site.pass(60_000);
    const list = await site.conf("00-levee.conflist");
    expect(list).toMatchObject({ name: "k8s-pod-network", plugins: [{ type: "levee-shim" }, istio] });
    expect(JSON.stringify(list)).not.toContain("portMappings");
    expect(site.facts).toMatchObject({ state: "chained", writes: 2 });
    expect(site.problems).toEqual(["chained", "chained-twice"]);
  });

  test("accepts a list in the conf's place, and replaces one that no longer begins with our shim", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    await site.start();
    const plugins = [await site.conf(), { type: "istio-cni" }];
    await site.put("00-levee.conf", { name: "a", cniVersion: "0.3.1", plugins });
    await site.pass();
    expect(site.facts).toMatchObject({ state: "chained", writes: 1 });
    await site.put("00-levee.conf", { name: "a", cniVersion: "0.3.1", plugins: plugins.toReversed() });
    await site.pass();
    expect(site.facts).toMatchObject({ state: "in-force", writes: 2 });
  });
});

describe("ConfDir and the folder", () => {
  test("waits for a missing folder", async () => {
    await using site = await ConfSite.make();
    await rm(site.folder, { recursive: true });
    await site.start();
    expect(site.facts.state).toBe("failing");
    expect(site.problems).toContain("unwritable");
    await mkdir(site.folder);
    await site.put("10-a.conflist", primaryList());
    await site.pass();
    expect(site.facts).toMatchObject({ state: "in-force", problems: [] });
  });

  test("removes what a killed daemon left in the work folder, and leaves nothing there itself", async () => {
    await using site = await ConfSite.make();
    await mkdir(site.path(".levee"));
    await writeFile(join(site.path(".levee"), "00-levee.conf"), '{"half":');
    await chmod(join(site.path(".levee"), "00-levee.conf"), 0o644);
    await site.put("10-a.conflist", primaryList());
    await site.start();
    expect(await readdir(site.path(".levee"))).toEqual([]);
    expect((await stat(site.path())).mode & 0o777).toBe(0o600);
  });

  test("leaves the conf when it stops", async () => {
    await using site = await ConfSite.make();
    await site.put("10-a.conflist", primaryList());
    const confDir = await site.start();
    await confDir.stop();
    await site.pass();
    expect(await site.names()).toContain("00-levee.conf");
  });
});

test("ConfDir lets calls in line hurry whenever a file of the runtime's folder changes", async () => {
  await using site = await ConfSite.make();
  await site.put("10-calico.conflist", primaryList());
  await site.start();
  await site.pass(1_000);
  const before = site.hurries;
  await site.put("calico-kubeconfig", "token");
  while (site.hurries === before) await Bun.sleep(5);
});
