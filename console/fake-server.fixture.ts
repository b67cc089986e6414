/** Serves the bundled page with made-up facts: `bun console/fake-server.fixture.ts [PORT] [NODES]`. */
import { join } from "node:path";
import { bundlePage } from "../scripts/build/console-page.ts";
import type { ConsoleNetworkStory, ConsoleNodeStory, ConsolePodStory, PodMatches } from "../src/wire/console-story.ts";
import type { ConsoleSnapshot } from "../src/wire/console-view.ts";
import { manyNodes, outageSnapshot } from "./snapshot.fixture.ts";

interface Page {
  readonly html: string;
  readonly script: string;
  readonly style: string;
  readonly icon: string;
}

const csp =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const [port = "8088", nodes = "0"] = process.argv.slice(2);
const file = join(process.env["TMPDIR"] ?? "/tmp", `levee-page-${process.pid}.json`);
bundlePage(join(import.meta.dirname, ".."), file);
const page = (await Bun.file(file).json()) as Page;
await Bun.file(file).delete();

function snapshot(): ConsoleSnapshot {
  const made = outageSnapshot(Date.now());
  return nodes === "0" ? made : { ...made, nodes: manyNodes(Number(nodes), Date.now()) };
}

function story(): ConsolePodStory {
  const now = Date.now();
  const at = (ms: number): number => now - 12_000 + ms;
  return {
    namespace: "kubevirt-vms",
    pod: "virt-launcher-ci1-x8f2k",
    node: "rke2-agent2",
    state: "attached",
    sinceMs: at(2_410),
    reason: "It has its networks",
    source: "daemon",
    why: "",
    omitted: 0,
    notices: [],
    command: "levee why kubevirt-vms/virt-launcher-ci1-x8f2k",
    networks: [
      { network: "k8s-pod-network", ifname: "eth0", ips: ["10.42.1.17"], mac: "0a:58:0a:2a:01:11" },
      { network: "kubevirt-vms/prod-vlan57", ifname: "pod1a2b3c4d5e6", ips: ["10.57.0.44"], mac: "02:00:00:39:00:2c" },
    ],
    entries: [
      { atMs: at(0), what: "asked", text: "The runtime asked for its networks", isFailure: false, verb: "ADD" },
      { atMs: at(4), what: "found", text: "Found the pod and 2 networks", isFailure: false, verb: "ADD", tookMs: 4 },
      {
        atMs: at(820),
        what: "waiting",
        text: "Waited in line behind 12 calls",
        isFailure: false,
        verb: "ADD",
        tookMs: 816,
      },
      { atMs: at(835), what: "planned", text: "The plan is on disk", isFailure: false, verb: "ADD", tookMs: 15 },
      {
        atMs: at(1_430),
        what: "ran",
        text: "calico attached eth0",
        isFailure: false,
        verb: "ADD",
        plugin: "calico",
        network: "k8s-pod-network",
        tookMs: 590,
      },
      {
        atMs: at(1_500),
        what: "ran",
        text: "bandwidth did its part",
        isFailure: false,
        verb: "ADD",
        plugin: "bandwidth",
        network: "k8s-pod-network",
        tookMs: 62,
      },
      {
        atMs: at(1_950),
        what: "ran",
        text: "bridge failed: br-prod not found",
        isFailure: true,
        verb: "ADD",
        plugin: "bridge",
        network: "kubevirt-vms/prod-vlan57",
        tookMs: 440,
        detail: "Link not found",
      },
      {
        atMs: at(2_390),
        what: "ran",
        text: "bridge attached pod1a2b3c4d5e6",
        isFailure: false,
        verb: "ADD",
        plugin: "bridge",
        network: "kubevirt-vms/prod-vlan57",
        tookMs: 410,
      },
      { atMs: at(2_405), what: "committed", text: "The result is on disk", isFailure: false, verb: "ADD", tookMs: 14 },
      { atMs: at(2_410), what: "finished", text: "The runtime has the result", isFailure: false, verb: "ADD" },
    ],
  };
}

function answerOf(path: string): object | undefined {
  const { networks, nodes: cells } = snapshot();
  if (path.startsWith("/pods"))
    return {
      pods: [{ namespace: "kubevirt-vms", pod: "virt-launcher-ci1-x8f2k", node: "rke2-agent2", state: "attached" }],
      more: 3,
    } satisfies PodMatches;
  if (path.startsWith("/pod")) return story();
  if (path.startsWith("/network") && networks[0] !== undefined)
    return {
      line: networks[0],
      nodes: [{ node: "rke2-agent1", state: "not-ready", why: "the bridge br-prod does not exist" }],
      pods: [{ namespace: "kubevirt-vms", pod: "virt-launcher-ci1-x8f2k", node: "rke2-agent2", state: "attached" }],
      podsTotal: 6,
      addresses: { total: 200, used: 171 },
      addressesWhy: "",
      config: '{"cniVersion":"1.0.0","type":"bridge","bridge":"br-prod","vlan":57}',
      command: "levee check cluster",
    } satisfies ConsoleNetworkStory;
  if (path.startsWith("/node") && cells[0] !== undefined)
    return {
      cell: cells[0],
      software: "0.1.0",
      checks: [{ name: "state-folder", state: "ok", detail: "on disk, 84 % free", hint: "" }],
      networks: [{ network: "kubevirt-vms/prod-vlan57", state: "not-ready", why: "the bridge br-prod does not exist" }],
      notices: [],
      command: "levee check node",
    } satisfies ConsoleNodeStory;
  if (path.startsWith("/explain/"))
    return {
      name: path.slice(9),
      title: "cause of a Decision",
      text: "## What it means\n\nMany pods `without` an owner.\n\n## What to do\n\nApprove the plan.",
    };
  return undefined;
}

function events(): Response {
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(`event: snapshot\nid: 1\ndata: ${JSON.stringify(snapshot())}\n\n`);
      const timer = setInterval(() => {
        try {
          controller.enqueue(": still here\n\n");
        } catch {
          clearInterval(timer);
        }
      }, 5_000);
    },
  });
  return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
}

const files: Readonly<Record<string, readonly [string, string]>> = {
  "/": [page.html, "text/html; charset=utf-8"],
  "/console.js": [page.script, "text/javascript"],
  "/console.css": [page.style, "text/css"],
  "/icon.svg": [page.icon, "image/svg+xml"],
};

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  idleTimeout: 255,
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/events") return events();
    const found = files[pathname];
    if (found !== undefined)
      return new Response(found[0], { headers: { "Content-Type": found[1], "Content-Security-Policy": csp } });
    const answer = answerOf(pathname);
    if (answer !== undefined) return Response.json(answer);
    return Response.json({ code: "not-found", message: "There is nothing here", remedy: "" }, { status: 404 });
  },
});
process.stdout.write(`http://127.0.0.1:${port}/\n`);
