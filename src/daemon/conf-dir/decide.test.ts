import { describe, expect, test } from "bun:test";
import { asJsonText } from "../../cni/json-text.ts";
import { decide, type Situation } from "./decide.ts";
import type { OwnConf } from "./look-at-folder.ts";

const fileName = "00-levee.conf";
const wanted = '{"cniVersion":"0.3.1","name":"n","type":"levee-shim","clusterNetwork":"/b"}\n';
const absent: OwnConf = { kind: "absent", renamedTo: undefined };

function decided(situation: Partial<Situation>): unknown {
  return decide({ fileName, own: absent, wanted, before: undefined, ...situation });
}

function plain(text: string): OwnConf {
  return { kind: "plain", text, callsUs: true };
}

function chained(element: string): OwnConf & { readonly text: string } {
  const text = asJsonText(`{ "name":"k", "plugins":[${element}, {"type":"istio-cni","x":1500.0}] }`, "a list");
  const list = `${fileName}list`;
  return { kind: "chained", fileName: list, text, element: asJsonText(element, "ours"), others: ["istio-cni"] };
}

describe("decide", () => {
  test("does nothing while there is nothing to write, or when it is there already", () => {
    const nothing = { act: "nothing" };
    expect(decided({ wanted: undefined })).toEqual(nothing);
    expect(decided({ own: plain(wanted) })).toEqual(nothing);
    expect(decided({ own: plain("{}"), wanted: undefined, before: "x" })).toEqual(nothing);
  });

  test("distinguishes our own change from another program's", () => {
    const write = { act: "write", fileName, text: wanted };
    expect(decided({})).toEqual({ ...write, tampering: undefined });
    expect(decided({ own: plain("old") })).toEqual({ ...write, tampering: undefined });
    expect(decided({ own: plain("old"), before: "old" })).toEqual({ ...write, tampering: undefined });
    expect(decided({ own: plain("other"), before: "old" })).toEqual({ ...write, tampering: "was changed" });
    expect(decided({ before: wanted })).toEqual({ ...write, tampering: "was removed" });
    expect(decided({ own: { kind: "absent", renamedTo: "x.bak" } })).toEqual({
      ...write,
      tampering: "was renamed to x.bak",
    });
  });

  test("keeps a list whose first element has our content, in any order and under any name", () => {
    expect(decided({ own: chained('{"clusterNetwork":"/b","type":"levee-shim"}'), before: wanted })).toEqual({
      act: "nothing",
    });
  });

  test("brings our element of the list up to date and keeps every other byte", () => {
    const own = chained('{"type":"levee-shim","clusterNetwork":"/a"}');
    const text = `{ "name":"k", "plugins":[${wanted.trim()},{"type":"istio-cni","x":1500.0}] }`;
    expect(decided({ own, before: own.text })).toEqual({
      act: "write",
      fileName: `${fileName}list`,
      text,
      tampering: undefined,
    });
    expect(decided({ own, before: "another list" })).toMatchObject({ tampering: "was changed" });
  });
});
