import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfPath } from "./conf-files.ts";

test("loadConfPath never uses a conf that calls this daemon as a network, whatever its name", async () => {
  const folder = await mkdtemp(join(tmpdir(), "levee-conf-files-"));
  try {
    const put = (name: string, conf: object): Promise<void> => writeFile(join(folder, name), JSON.stringify(conf));
    await put("00-any.conf", { name: "a", type: "levee-shim" });
    await put("01-any.conflist", { name: "b", plugins: [{ type: "tuning" }, { type: "multus" }] });
    expect(await refusal(loadConfPath(folder))).toContain("it holds no .conf, .conflist or .json file of a network");
    await put("10-net.conf", { name: "net", type: "bridge" });
    expect((await loadConfPath(folder)).name).toBe("net");
    expect(await refusal(loadConfPath(join(folder, "01-any.conflist")))).toContain(
      "its plugin multus calls a daemon like this one",
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

function refusal(loading: Promise<unknown>): Promise<string> {
  return loading.then(() => "", String);
}
