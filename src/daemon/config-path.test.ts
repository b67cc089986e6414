import { expect, test } from "bun:test";
import { configPath, withPorts } from "./config-path.ts";

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

test("configPath accepts the ports, which the manifest sets and Multus' settings lack", () => {
  expect(configPath(["--health-port", "9809", "--metrics-port", "9810"])).toEqual({
    path: "/etc/cni/net.d/multus.d/daemon-config.json",
    healthPort: 9809,
    metricsPort: 9810,
  });
  expect(configPath(["--health-port=1", "--config=/a"])).toEqual({ path: "/a", healthPort: 1 });
  for (const flag of ["--health-port", "--metrics-port"])
    for (const wrong of ["0", "65536", "x", "", "-1"])
      expect(configPath([`${flag}=${wrong}`])).toEqual({
        wrong: `Cannot use ${flag} without a port from 1 to 65535`,
      });
});

test("withPorts adds missing ports, and uses no port twice", () => {
  const given = { healthPort: 9809, metricsPort: 9810 };
  const ports = (healthPort?: number, metricsPort?: number): unknown => {
    const chosen = withPorts({ healthPort, metricsPort }, given);
    return [chosen.healthPort, chosen.metricsPort];
  };
  expect(ports()).toEqual([9809, 9810]);
  expect(ports(1, 2)).toEqual([1, 2]);
  expect(ports(undefined, 9091)).toEqual([9809, 9091]);
  expect(ports(9810)).toEqual([9810, undefined]);
  expect(ports(undefined, 9809)).toEqual([undefined, 9809]);
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
