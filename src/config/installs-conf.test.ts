import { expect, test } from "bun:test";
import { parseDaemonConfig } from "./daemon-config.ts";
import { installsConf } from "./installs-conf.ts";

test.each([
  [{}, true],
  [{ directory: "/d" }, false],
  [{ directory: "/d", cniConfigDir: null }, false],
  [{ directory: "/d", cniconfigdir: "/c" }, true],
  [{ directory: "/d", multusConfigFile: "auto" }, true],
  [{ directory: "/d", multusAutoconfigDir: "/c" }, true],
])(
  "installsConf of %j is %p: without a cluster it changes the host only when a setting asks for it",
  (settings, isWanted) => {
    expect(installsConf(parseDaemonConfig(JSON.stringify(settings), "daemon-config.json"))).toBe(isWanted);
  },
);
