import { describe, expect, test } from "bun:test";
import { failureOf } from "../failure-of.fixture.ts";
import { parseSiteConf, readSiteConf, requirePlugins } from "./site-confs.ts";

describe("parseSiteConf", () => {
  test("knows the plugins of a conflist, and where host-local books addresses", () => {
    const conf = {
      name: "site",
      plugins: [{ type: "bridge", ipam: { type: "host-local" } }, { type: "portmap" }, { type: "tuning" }],
    };
    expect(parseSiteConf(JSON.stringify(conf), "/f")).toEqual({
      plugins: ["bridge", "host-local", "portmap", "tuning"],
      leases: ["/var/lib/cni/networks/site"],
    });
  });

  test("takes a single conf, and the folder it names", () => {
    const conf = { name: "vlan57", type: "macvlan", ipam: { type: "host-local", dataDir: "/leases" } };
    expect(parseSiteConf(JSON.stringify(conf), "/f").leases).toEqual(["/leases/vlan57"]);
    expect(parseSiteConf('{"name":"x","type":"ptp","ipam":{"type":"dhcp"}}', "/f").leases).toEqual([]);
  });

  test.each(["", "[]", '{"name":"x"}', '{"type":"x"}', '{"name":"x","plugins":[]}', "not json"])(
    "refuses %j",
    (content) => {
      expect(() => parseSiteConf(content, "/etc/x.conf")).toThrow("Cannot use /etc/x.conf as a CNI configuration");
    },
  );
});

describe("readSiteConf", () => {
  test("says which file cannot be read", async () => {
    expect(await failureOf(readSiteConf("/nowhere/x.conf"))).toMatchObject({
      code: "ENOENT",
      message: "Cannot read the configuration /nowhere/x.conf",
    });
  });
});

describe("requirePlugins", () => {
  test("names the plugin, the folders and the remedy", () => {
    expect(() => requirePlugins(["bridge-of-nowhere"], "/tmp:/usr")).toThrow(
      "Cannot find the plugin bridge-of-nowhere in /tmp, /usr",
    );
    requirePlugins(["sh"], "/nowhere:/bin");
  });
});
