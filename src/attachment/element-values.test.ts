import { expect, test } from "bun:test";
import { isMacAddress } from "./element-values.ts";

const twenty = Array.from({ length: 20 }, () => "0a").join(":");

test.each([
  "00:00:5e:00:53:01",
  "02-00-5E-10-00-00",
  "0000.5e00.5301",
  "02:00:5e:10:00:00:00:01",
  "0200.5e10.0000.0001",
  twenty,
])("isMacAddress accepts %s", (text) => {
  expect(isMacAddress(text)).toBe(true);
});

test.each([
  "",
  "badmac",
  "00:00:5e:00:53",
  "00:00:5e:00:53:0",
  "00:00:5e:00:53:001",
  "00:00-5e:00:53:01",
  "0000:5e00:5301",
  "00005e005301",
  "00:00:5e:00:53:0g",
  ` ${twenty}`,
  `${twenty}:0a`,
])("isMacAddress refuses %j", (text) => {
  expect(isMacAddress(text)).toBe(false);
});
