import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { consoleMetrics } from "./console-metrics.ts";
import { openConsole, testToken } from "./console-server.fixture.ts";
import { Refused } from "./refusal.ts";

/** Sends bytes as they are: fetch would tidy up an address before anybody sees it. */
function raw(host: string, lines: readonly string[], body = ""): Promise<string> {
  const [name = "", port = ""] = host.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect({ host: name, port: Number(port) });
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("utf8");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n${body}`);
  });
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/u.exec(answer)?.[1]);
}

describe("ConsoleServer lets in", () => {
  test("its own page with the token, under the strict policy, without cookies", async () => {
    await using open = await openConsole();
    const answer = await fetch(open.url);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("<title>Levee</title>");
    expect(answer.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(answer.headers.get("x-frame-options")).toBe("DENY");
    expect(answer.headers.get("referrer-policy")).toBe("same-origin");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect((await fetch(`${open.url}console.js`)).headers.get("content-type")).toContain("text/javascript");
    expect((await fetch(open.url.replace("127.0.0.1", "localhost"))).status).toBe(200);
    expect(open.server.refusals.all().size).toBe(0);
  });

  test("questions, and answers what it finds or that there is none", async () => {
    await using open = await openConsole();
    const ask = async (path: string): Promise<unknown> => await (await fetch(`${open.url}${path}`)).json();
    expect(await ask("pods?match=web")).toMatchObject({ pods: [{ pod: "web-1" }], more: 0 });
    expect(await ask("pod?namespace=shop&name=web-1")).toMatchObject({ state: "attached" });
    expect(await ask("network?name=shop/vlan42")).toMatchObject({ podsTotal: 219 });
    expect(await ask("node?name=k8s-node1")).toMatchObject({ cell: { name: "k8s-node1" } });
    expect(await ask("explain/LVE0301")).toMatchObject({ name: "LVE0301" });
    expect((await fetch(`${open.url}pod?namespace=shop&name=other`)).status).toBe(404);
    expect((await fetch(`${open.url}history?hours=24`)).status).toBe(404);
  });

  test("a verdict of its own page, with the words that were typed", async () => {
    await using open = await openConsole();
    const answer = await fetch(`${open.url}decision/stop-shop-1/approve`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Origin": `http://${open.host}` },
      body: JSON.stringify({ typedName: "stop-shop-1", planHash: "sha256:00", reason: "it burns" }),
    });
    expect(await answer.json()).toMatchObject({ approval: "stop-shop-1-x7", by: "alice" });
    const word = { typedName: "stop-shop-1", planHash: "sha256:00", reason: "it burns" };
    expect(open.viewers.words).toEqual([{ ...word, decision: "stop-shop-1", verdict: "approve" }]);
  });
});

const post = ["Content-Type: application/json", "Content-Length: 2"];
const refused = [
  ["no token", "wrong-token", 401, (host: string) => ["GET / HTTP/1.1", `Host: ${host}`]],
  ["a wrong token", "wrong-token", 401, (host: string) => [`GET /${testToken}x/ HTTP/1.1`, `Host: ${host}`]],
  [
    "a token in other letters",
    "wrong-token",
    401,
    (host: string) => [`GET /${testToken.toUpperCase()}/ HTTP/1.1`, `Host: ${host}`],
  ],
  ["another Host", "wrong-host", 421, () => [`GET /${testToken}/ HTTP/1.1`, "Host: evil.example:80"]],
  ["another port in Host", "wrong-host", 421, () => [`GET /${testToken}/ HTTP/1.1`, "Host: 127.0.0.1:1"]],
  [
    "a cross-origin GET",
    "wrong-origin",
    403,
    (host: string) => [`GET /${testToken}/events HTTP/1.1`, `Host: ${host}`, "Origin: http://evil.example"],
  ],
  [
    "a GET that a browser calls cross-site",
    "wrong-origin",
    403,
    (host: string) => [`GET /${testToken}/ HTTP/1.1`, `Host: ${host}`, "Sec-Fetch-Site: cross-site"],
  ],
  [
    "a cross-origin POST",
    "wrong-origin",
    403,
    (host: string) => [
      `POST /${testToken}/decision/stop-shop-1/approve HTTP/1.1`,
      `Host: ${host}`,
      "Origin: http://localhost.evil.example",
      ...post,
    ],
  ],
  [
    "a POST without an Origin",
    "wrong-origin",
    403,
    (host: string) => [`POST /${testToken}/decision/stop-shop-1/approve HTTP/1.1`, `Host: ${host}`, ...post],
  ],
  [
    "a POST of an opaque origin",
    "wrong-origin",
    403,
    (host: string) => [
      `POST /${testToken}/decision/stop-shop-1/approve HTTP/1.1`,
      `Host: ${host}`,
      "Origin: null",
      ...post,
    ],
  ],
  [
    "a form",
    "wrong-content",
    415,
    (host: string) => [
      `POST /${testToken}/decision/stop-shop-1/approve HTTP/1.1`,
      `Host: ${host}`,
      `Origin: http://${host}`,
      "Content-Type: text/plain",
      "Content-Length: 2",
    ],
  ],
  ["another method", "wrong-method", 405, (host: string) => [`DELETE /${testToken}/ HTTP/1.1`, `Host: ${host}`]],
  [
    "a body that is no JSON",
    "not-json",
    400,
    (host: string) => [
      `POST /${testToken}/decision/stop-shop-1/approve HTTP/1.1`,
      `Host: ${host}`,
      `Origin: http://${host}`,
      "Content-Type: application/json",
      "Content-Length: 2",
    ],
  ],
  [
    "an address of four kilobytes",
    "too-long",
    413,
    (host: string) => [`GET /${testToken}/pods?match=${"x".repeat(4_096)} HTTP/1.1`, `Host: ${host}`],
  ],
] as const;

const tricks = [
  `/${testToken}`,
  `//${testToken}/`,
  `/./${testToken}/`,
  `/x/../${testToken}/events`,
  `/${testToken}/../${testToken}/events`,
  `/${testToken}//events`,
  `/${testToken}/./events`,
  `/${testToken}/%65vents`,
  `/${testToken}/events/`,
  `/${testToken}/events%00`,
  `/${testToken}/console.js%2f..%2fevents`,
  `/${testToken}/../../etc/passwd`,
  `/${testToken}/..%2f..%2fetc%2fpasswd`,
  `/${testToken}\\events`,
  `/%74${testToken.slice(1)}/`,
  `/${testToken}/explain/..%2f..`,
  `/${testToken}/pod?namespace=../x&name=web-1`,
  `/${testToken}/decision/stop-shop-1/approve`,
  `http://evil.example/${testToken}/`,
  `http://127.0.0.1/${testToken}/events`,
  "*",
];

describe("ConsoleServer refuses, counts and logs once", () => {
  test.each(refused)("%s: %s", async (_what, code, status, lines) => {
    await using open = await openConsole();
    for (let times = 0; times < 3; times += 1) {
      const answer = await raw(open.host, lines(open.host), "xx");
      expect(statusOf(answer)).toBe(status);
      expect(answer).toContain(`"code":"${code}"`);
      expect(answer).toContain("frame-ancestors 'none'");
      expect(answer).not.toContain(testToken);
    }
    expect([...open.server.refusals.all()]).toEqual([[code, 3]]);
    expect(open.logged.length).toBe(1);
    expect(open.logged[0]).toContain(`"code":"${code}"`);
    expect(open.logged[0]).not.toContain(testToken);
    expect(open.viewers.words).toEqual([]);
  });

  test.each(tricks)("the path trick %s", async (target) => {
    await using open = await openConsole();
    const answer = await raw(open.host, [`GET ${target} HTTP/1.1`, `Host: ${open.host}`]);
    expect([400, 401, 404]).toContain(statusOf(answer));
    expect(answer).not.toContain("event: snapshot");
    expect(answer).not.toContain("<title>");
  });

  test("two hosts, of which one is its own", async () => {
    await using open = await openConsole();
    const hosts = [`Host: ${open.host}`, "Host: evil.example"];
    for (const [first = "", second = ""] of [hosts, hosts.toReversed()])
      expect(statusOf(await raw(open.host, [`GET /${testToken}/ HTTP/1.1`, first, second]))).toBe(421);
    expect(open.server.refusals.all().get("wrong-host")).toBe(2);
  });

  test("nothing of a peer that hangs up in the middle of its words: no line in the log", async () => {
    await using open = await openConsole();
    for (let times = 0; times < 3; times += 1) {
      const socket = connect({ host: "127.0.0.1", port: Number(open.host.split(":")[1]) });
      const head = [
        `POST /${testToken}/decision/x/approve HTTP/1.1`,
        ...[`Host: ${open.host}`, `Origin: http://${open.host}`, "Content-Type: application/json"],
      ];
      socket.write(`${[...head, "Content-Length: 20"].join("\r\n")}\r\n\r\n{`);
      await Bun.sleep(50);
      socket.destroy();
    }
    expect((await fetch(open.url)).status).toBe(200);
    await Bun.sleep(50);
    expect(open.logged).toEqual([]);
  });

  test("and tells how many it refused", async () => {
    await using open = await openConsole();
    await fetch(`http://${open.host}/`);
    await fetch(`http://${open.host}/other/`);
    expect(consoleMetrics(open.server)).toContain('levee_console_refused_total{code="wrong-token"} 2\n');
    expect(consoleMetrics(open.server)).toContain("levee_console_tabs 0\n");
  });

  test("nobody because of 300 others who say nothing", async () => {
    await using open = await openConsole();
    const port = Number(open.host.split(":")[1]);
    const idle = Array.from({ length: 300 }, () => connect({ host: "127.0.0.1", port }));
    await Bun.sleep(100);
    expect((await fetch(open.url)).status).toBe(200);
    for (const socket of idle) socket.destroy();
  });

  test("a body that is longer than any verdict", async () => {
    await using open = await openConsole();
    const answer = await fetch(`${open.url}decision/stop-shop-1/approve`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Origin": `http://${open.host}` },
      body: JSON.stringify({ reason: "x".repeat(20_000) }),
    });
    expect(answer.status).toBe(413);
    expect(open.viewers.words).toEqual([]);
  });

  test("a viewer without a valid token: one answer, nothing of the cluster in it", async () => {
    await using open = await openConsole();
    open.viewers.refusal = new Refused("sign-in-needed");
    const answer = await fetch(`${open.url}events`);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: "sign-in-needed" });
    // The page itself is served, so that he can sign in.
    expect((await fetch(open.url)).status).toBe(200);
    expect([...open.server.refusals.all()]).toEqual([["sign-in-needed", 1]]);
  });
});
