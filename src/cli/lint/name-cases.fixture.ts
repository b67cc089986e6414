import { ipam, plugin, type LintCase } from "./lint-cases.fixture.ts";

const good = plugin('"type": "bridge"');

/** Of names that are misspelt, or there twice. */
export const nameCases: readonly LintCase[] = [
  {
    code: "LVN0104",
    what: "one name twice",
    broken: `${good}---\n${good}`,
    near: `${good}---\n${good.replace("prod", "live")}---\n${good.replace("name: lan", "name: wan")}`,
    at: "11:18",
  },
  {
    code: "LVN0301",
    what: "a misspelt key of spec",
    broken: good.replace("config:", "confg:"),
    near: good.replace("config:", "confg: x\n  config:"),
    at: "5:10",
  },
  {
    code: "LVN0305",
    what: "a misspelt plugin",
    broken: plugin('"type": "macvlna", "master": "eth1"'),
    near: plugin('"type": "macvtap", "master": "eth1"'),
    at: "7:13",
  },
  {
    code: "LVN0305",
    what: "a misspelt plugin of addresses",
    broken: ipam('"type": "host-loacl", "subnet": "10.1.0.0/24"'),
    near: ipam('"type": "our-own-ipam", "subnet": "10.1.0.0/24"'),
    at: "7:40",
  },
];
