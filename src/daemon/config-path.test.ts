import { expect, test } from "bun:test";
import { configPath } from "./config-path.ts";

test.each([
  [["--config", "/etc/a.json"], "/etc/a.json"],
  [["--config=/etc/a.json"], "/etc/a.json"],
  [["-config", "/etc/a.json"], "/etc/a.json"],
  [["-config=/etc/a.json"], "/etc/a.json"],
  [["--config=/etc/a=b.json"], "/etc/a=b.json"],
  [["--config", "/etc/a.json", "--config=/etc/b.json"], "/etc/b.json"],
  [[], "/etc/cni/net.d/multus.d/daemon-config.json"],
])("configPath takes %j", (argv: string[], path) => {
  expect(configPath(argv)).toEqual({ path });
});

test("configPath takes the port of the probes, which the manifest knows and Multus' settings do not", () => {
  expect(configPath(["--health-port", "9809"])).toEqual({
    path: "/etc/cni/net.d/multus.d/daemon-config.json",
    healthPort: 9809,
  });
  expect(configPath(["--health-port=1", "--config=/a"])).toEqual({ path: "/a", healthPort: 1 });
  for (const wrong of ["0", "65536", "x", "", "-1"])
    expect(configPath([`--health-port=${wrong}`])).toEqual({
      wrong: "Cannot use --health-port without a port from 1 to 65535",
    });
});

test.each([
  [["--config"], "Cannot use --config without the name of a file"],
  [["-config"], "Cannot use -config without the name of a file"],
  [["--config="], "Cannot use --config without the name of a file"],
  [["--config", ""], "Cannot use --config without the name of a file"],
  [["--config", "--verbose"], "Cannot use --config without the name of a file"],
  [["--confg", "/etc/a.json"], "Cannot understand the flag --confg"],
  [["--configs=/etc/a.json"], "Cannot understand the flag --configs"],
  [["---config=/etc/a.json"], "Cannot understand the flag ---config"],
  [["--config=/etc/a.json", "-v"], "Cannot understand the flag -v"],
  [["--config", "/etc/a.json", "now"], 'Cannot understand the word "now"'],
  [["/etc/a.json"], 'Cannot understand the word "/etc/a.json"'],
  [["--"], "Cannot understand the flag --"],
  [[""], 'Cannot understand the word ""'],
])("configPath refuses %j and names what it does not take", (argv: string[], wrong) => {
  expect(configPath(argv)).toEqual({ wrong });
});
