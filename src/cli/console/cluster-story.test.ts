import { expect, test } from "bun:test";
import { KubeError, type KubeApi } from "../../kube/client/api.ts";
import type { ConsolePodStory } from "../../wire/console-story.ts";
import { clusterStory } from "./cluster-story.ts";

const { signal } = new AbortController();
const at = {
  ...{ namespace: "shop", name: "web-0", uid: "u-1", daemon: "levee-system/levee-x" },
  node: { name: "n1", address: "192.0.2.1" },
};
const podObject = {
  metadata: { namespace: "shop", name: "web-0", uid: "u-1", creationTimestamp: "2026-11-18T00:00:00Z" },
  spec: { nodeName: "n1" },
  status: { phase: "Pending" },
};
const api: KubeApi = {
  call: ({ path }) =>
    Promise.resolve(
      JSON.stringify(path.includes("/events") ? { metadata: { resourceVersion: "1" }, items: [] } : podObject),
    ),
  lines: () => {
    throw new Error("nobody watches here");
  },
};
const ran = { wallMs: 9, containerId: "c", verb: "ADD", what: "ran", plugin: "bridge", network: "shop/lan", tookMs: 4 };

async function told(answer: string | Error, more: Partial<typeof at> = {}): Promise<[ConsolePodStory, string[]]> {
  const asked: string[] = [];
  const story = await clusterStory(
    { api, signal },
    ({ name }, path) => {
      asked.push(`${name}${path}`);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    { ...at, ...more },
  );
  if (story === undefined) throw new Error("no story");
  return [story, asked];
}

const answerOf = (entries: readonly object[]): string =>
  JSON.stringify({ timeline: { namespace: "shop", name: "web-0", entries }, attachments: [] });

test("clusterStory has each plugin from the daemon of the pod's node, and the way there", async () => {
  const [story, asked] = await told(answerOf([{ ...ran, what: "asked" }, ran]));
  expect(asked).toEqual(["n1/podz/shop/web-0/u-1"]);
  expect(story).toMatchObject({ source: "daemon", node: "n1", why: "", state: "waiting" });
  expect(story.entries.at(-1)).toMatchObject({ plugin: "bridge", tookMs: 4, atMs: 9 });
  expect(story.command).toBe("kubectl -n levee-system exec levee-x -- levee why shop/web-0");
});

test("clusterStory tells what the API server knows where the daemon tells nothing, and why", async () => {
  const refused = new KubeError("api-refused", "nodes/proxy is forbidden", { status: 403 });
  const [forbidden] = await told(refused);
  expect(forbidden).toMatchObject({ source: "api", why: expect.stringContaining("nodes/proxy is forbidden") });
  expect((await told("<html>"))[0].why).toContain("it does not tell");
  expect((await told('{"timeline":{}}'))[0].why).toContain("none of ours");
  const [empty] = await told(answerOf([]));
  expect(empty.source).toBe("api");
  const [story, asked] = await told(answerOf([ran]), { daemon: "" });
  expect([story.source, story.command, asked]).toEqual(["api", "levee why shop/web-0", []]);
});
