import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { attachPod, splitNetworks } from "../node/attach-pod.ts";
import type { Context } from "../context.ts";
import { FakeShim } from "../node/fake-shim.fixture.ts";
import { failureOf } from "../failure-of.fixture.ts";
import { netnsName, parseNetworks } from "../node/names.ts";
import { addNetns, ip, netnsExists, removeNetns } from "../node/netns.ts";
import { hasLink, removeBridges } from "./bridges.ts";
import { cleanedText, cleanSite, leftovers } from "./clean.ts";
import { prepareSite, refuseTakenNames, requireMachine } from "./prepare.ts";
import { testSite } from "./site.fixture.ts";
import { sitePaths } from "./site.ts";

let shim: FakeShim;
let site: ReturnType<typeof testSite>;
let context: Context;

beforeEach(() => {
  shim = new FakeShim();
  site = testSite();
  const { shell, settings } = shim.context();
  context = { shell, settings: { ...settings, directory: sitePaths(site).directory } };
});
afterEach(async () => {
  await removeBridges(context.shell, site);
  await removeNetns(context.shell, netnsName(site.pod));
  site.remove();
  shim.remove();
});

describe("prepareSite", () => {
  test("makes private folders, the configuration, the networks and the bridges with their addresses", async () => {
    await prepareSite(context, site, "/usr/lib/cni");
    expect([site.runDir, site.stateDir].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(readdirSync(sitePaths(site).networks)).toEqual(["dmz.yaml", "lan.yaml"]);
    expect(JSON.parse(readFileSync(sitePaths(site).config, "utf8"))).toMatchObject({
      binDir: "/usr/lib/cni",
      clusterNetwork: "lan",
    });
    const addresses = (await ip(context.shell, ["-br", "addr", "show", site.networks[1]?.bridge ?? ""])).stdout;
    expect(addresses).toContain("10.203.78.1/24");
    expect(addresses).toContain("fd00:203:78::1/64");
  });

  test("refuses a network that this machine uses already", async () => {
    const [lan] = site.networks;
    await ip(context.shell, ["link", "add", lan?.bridge ?? "", "type", "bridge"]);
    await ip(context.shell, ["addr", "add", "10.203.77.9/25", "dev", lan?.bridge ?? ""]);
    await ip(context.shell, ["link", "set", lan?.bridge ?? "", "up"]);
    expect(await failureOf(prepareSite(context, site, "/x"))).toMatchObject({
      code: "subnet-taken",
      message: expect.stringContaining("10.203.77.0/24"),
    });
    expect(site.networks.slice(1).some(({ bridge }) => hasLink(bridge))).toBe(false);
  });
});

describe("requireMachine", () => {
  const thrown = (change: Partial<Context["settings"]>, isRoot = true): unknown => {
    try {
      return requireMachine({ shell: { ...context.shell, isRoot }, settings: { ...context.settings, ...change } });
    } catch (error) {
      return error;
    }
  };

  test("returns the folder that has the plugins", () => {
    mkdirSync(`${shim.folder}/bin`);
    for (const plugin of ["bridge", "host-local"]) mkdirSync(`${shim.folder}/bin/${plugin}`);
    expect(thrown({ cniPath: `/nowhere:${shim.folder}/bin` })).toBe(`${shim.folder}/bin`);
  });

  test("says what is missing: root, shim, plugins", () => {
    expect(thrown({}, false)).toMatchObject({ code: "not-root" });
    expect(thrown({ shim: "/nowhere/levee-shim" })).toMatchObject({
      code: "shim-missing",
      remedy: expect.stringContaining("npm run build"),
    });
    expect(thrown({ cniPath: "/nowhere" })).toMatchObject({
      code: "plugins-missing",
      remedy: expect.stringContaining("containernetworking-plugins"),
    });
    expect(thrown({ cniPath: "" })).toMatchObject({ message: expect.stringContaining("/opt/cni/bin, /usr/lib/cni") });
  });
});

describe("refuseTakenNames", () => {
  test("makes nothing when the namespace or a bridge already exists", async () => {
    refuseTakenNames(site);
    await addNetns(context.shell, netnsName(site.pod));
    expect(() => refuseTakenNames(site)).toThrow(`the network namespace ${netnsName(site.pod)} already exists`);
    await removeNetns(context.shell, netnsName(site.pod));
    const bridge = site.networks[0]?.bridge ?? "";
    await ip(context.shell, ["link", "add", bridge, "type", "bridge"]);
    expect(() => refuseTakenNames(site)).toThrow(`the interface ${bridge} already exists`);
  });
});

describe("cleanSite", () => {
  test("finds nothing where nothing was made", async () => {
    expect(await cleanSite(context, site)).toEqual({ removed: [], left: [] });
  });

  test("removes namespaces, bridges and folders of a killed demonstration, in one go", async () => {
    await prepareSite(context, site, "/usr/lib/cni");
    const networks = splitNetworks(parseNetworks("lan", "default"), undefined);
    await attachPod(context, { pod: site.pod, ...networks, conf: "{}" });
    const other = { namespace: "default", name: `${site.pod.name}b` };
    await attachPod(context, { pod: other, ...networks, conf: "{}" });
    const cleaned = await cleanSite(context, site);
    expect(cleaned.left).toEqual([]);
    expect(cleaned.removed).toEqual([
      `/var/run/netns/${netnsName(site.pod)}`,
      `/var/run/netns/${netnsName(other)}`,
      ...site.networks.map(({ bridge }) => bridge),
      site.runDir,
      site.stateDir,
    ]);
    expect(await leftovers(site, [netnsName(site.pod), netnsName(other)])).toEqual([]);
    expect(cleanedText(site, cleaned)).toStartWith("Nothing is left");
  });

  test("removes the pod's namespace even when its file was never written", async () => {
    mkdirSync(site.stateDir);
    await addNetns(context.shell, netnsName(site.pod));
    expect((await cleanSite(context, site)).removed).toContain(`/var/run/netns/${netnsName(site.pod)}`);
    expect(netnsExists(netnsName(site.pod))).toBe(false);
  });

  test("leaves bridge and namespace of the same name alone when no demonstration has run", async () => {
    await addNetns(context.shell, netnsName(site.pod));
    const bridge = site.networks[0]?.bridge ?? "";
    await ip(context.shell, ["link", "add", bridge, "type", "bridge"]);
    expect(await cleanSite(context, site)).toEqual({ removed: [], left: [] });
    expect([netnsExists(netnsName(site.pod)), hasLink(bridge)]).toEqual([true, true]);
  });

  test("keeps the folders, with the list of what to remove, when something could not be removed", async () => {
    await prepareSite(context, site, "/usr/lib/cni");
    const broken = { ...context, shell: { ...context.shell, env: { PATH: "/nowhere" } } };
    const cleaned = await cleanSite(broken, site);
    expect(cleaned.left.join()).toContain("Cannot remove the bridge");
    expect(existsSync(site.stateDir)).toBe(true);
    expect(cleanedText(site, cleaned)).toStartWith("Left behind, please remove by hand: ");
    expect((await cleanSite(context, site)).left).toEqual([]);
  });
});
