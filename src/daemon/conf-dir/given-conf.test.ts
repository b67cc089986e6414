import { expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfSite } from "./conf-dir.fixture.ts";

const given =
  '{ "cniVersion": "0.3.1", "name": "mine", "type": "levee-shim", "clusterNetwork": "/x", "big": 9007199254740993 }\n';

async function makeSite(text: string, name = "05-mine.conf"): Promise<{ site: ConfSite; source: string }> {
  const site = await ConfSite.make();
  await mkdir(join(site.root, "source"));
  const source = join(site.root, "source", name);
  await writeFile(source, text);
  await site.start({ multusConfigFile: source });
  return { site, source };
}

test("ConfDir copies a given conf byte by byte, and follows its changes", async () => {
  const { site, source } = await makeSite(given);
  await using _site = site;
  expect(await site.text("05-mine.conf")).toBe(given);
  expect(site.facts).toEqual({
    state: "in-force",
    path: site.path("05-mine.conf"),
    primary: undefined,
    problems: [],
    writes: 1,
  });
  await site.pass(60_000);
  await writeFile(source, given.replace("mine", "yours"));
  await site.pass();
  expect(await site.conf("05-mine.conf")).toMatchObject({ name: "yours" });
  expect(site.facts.writes).toBe(2);
});

test("ConfDir keeps the last good conf while the given one is broken or gone", async () => {
  const { site, source } = await makeSite(given);
  await using _site = site;
  for (const spoil of [() => writeFile(source, ""), () => writeFile(source, '{"name":"a"}'), () => rm(source)]) {
    await spoil();
    await site.pass(30_000);
    expect(site.problems).toEqual(["given-unusable"]);
    expect(await site.text("05-mine.conf")).toBe(given);
  }
  await rm(site.path("05-mine.conf"));
  await site.pass();
  expect(await site.text("05-mine.conf")).toBe(given);
  expect(site.events).toContain("ConfGivenUnusable");
});

test.each(["multus-shim", "multus"])("ConfDir warns that a given conf of type %s does not call Levee", async (type) => {
  const { site } = await makeSite(given.replace("levee-shim", type), "00-multus.conf");
  await using _site = site;
  expect(site.facts).toMatchObject({ state: "failing", writes: 1 });
  expect(site.problems).toEqual(["foreign-shim"]);
  expect(site.events).toEqual(["ConfForeignShim"]);
});

test("ConfDir warns that runtimes do not read a file of such a name", async () => {
  const { site } = await makeSite(given, "levee.txt");
  await using _site = site;
  expect(site.problems).toContain("given-unusable");
});

test("ConfDir installs nothing before a good conf is given", async () => {
  const { site } = await makeSite("{");
  await using _site = site;
  expect(await site.names()).toEqual([]);
  expect(site.facts.state).toBe("waiting");
});

test("ConfDir leaves a given conf alone that is already in the conf directory", async () => {
  await using site = await ConfSite.make();
  await site.put("05-mine.conf", given);
  await site.start({ multusConfigFile: site.path("05-mine.conf") });
  expect(site.facts).toMatchObject({ state: "in-force", writes: 0, problems: [] });
  await site.remove("05-mine.conf");
  await site.pass();
  expect(await site.names()).toEqual([]);
  expect(site.problems).toEqual(["given-unusable"]);
});
