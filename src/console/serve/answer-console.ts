import type { IncomingMessage, ServerResponse } from "node:http";
import { isObject, textOf } from "../../kube/client/json-fields.ts";
import type { VerdictRequestBody } from "../../wire/console-decision.ts";
import type { ConsoleRoute } from "./console-route.ts";
import type { ConsoleServerOptions } from "./server-options.ts";
import { letIn, type GateRules, type SeenHead } from "./gatekeeper.ts";
import { contentTypeOf } from "./page-files.ts";
import { readBody } from "./read-body.ts";
import type { RefusalCounts } from "./refusal-counts.ts";
import { Refused } from "./refusal.ts";
import { securityHeaders } from "./security-headers.ts";
import type { TabStreams } from "./tab-streams.ts";
import type { Viewer, ViewerHead } from "./viewer.ts";

interface AnswerNeeds extends Omit<ConsoleServerOptions, "rules"> {
  readonly rules: GateRules;
  readonly refusals: RefusalCounts;
  readonly streams: TabStreams;
}

/** Answers one request: let in, find out who asks, look up, answer. Every refusal and error ends here. */
export async function answerConsole(
  request: IncomingMessage,
  response: ServerResponse,
  needs: AnswerNeeds,
): Promise<void> {
  const head = headOf(request);
  // Gone once the peer hangs up.
  const peer = request.socket.remoteAddress ?? "";
  try {
    const route = letIn(head, needs.rules);
    // The page itself has nothing of the cluster in it; without it nobody could sign in.
    if (route.to === "file") return sendFile(response, route.name, needs);
    const asking = viewerHead(request, peer, needs.proxyHeader);
    const viewer = await needs.viewers.of(asking);
    if (route.to === "events") return needs.streams.open(response, viewer, asking);
    if (route.to === "verdict") return await sendVerdict(request, response, viewer, route);
    sendFound(response, await find(route, needs));
  } catch (thrown) {
    sendFailure(response, thrown, { head, peer, needs });
  }
}

type Question = Exclude<ConsoleRoute, { readonly to: "file" | "events" | "verdict" }>;

async function find(route: Question, { desk }: AnswerNeeds): Promise<unknown> {
  switch (route.to) {
    case "pods":
      return desk.pods(route.match);
    case "pod":
      return await desk.pod(route.namespace, route.name);
    case "network":
      return desk.network(route.name);
    case "node":
      return await desk.node(route.name);
    case "explain":
      return desk.explain(route.code);
    case "history":
      return await desk.history(route.hours);
  }
}

function sendFound(response: ServerResponse, found: unknown): void {
  if (found !== undefined) return sendJson(response, 200, found);
  sendJson(response, 404, { code: "unknown", message: "The console knows nothing of that name", remedy: "" });
}

function sendFile(response: ServerResponse, name: string, { files }: AnswerNeeds): void {
  const text = files.get(name);
  if (text === undefined) throw new Refused("wrong-address");
  response.writeHead(200, { ...securityHeaders, "Content-Type": contentTypeOf(name) });
  response.end(text);
}

async function sendVerdict(
  request: IncomingMessage,
  response: ServerResponse,
  viewer: Viewer,
  { decision, verdict }: Extract<ConsoleRoute, { readonly to: "verdict" }>,
): Promise<void> {
  const body = verdictBody(await readBody(request));
  sendJson(response, 200, await viewer.say({ ...body, decision, verdict }));
}

function verdictBody(text: string): VerdictRequestBody {
  const body = parsed(text);
  if (!isObject(body)) throw new Refused("not-json");
  const reason = textOf(body["reason"]);
  return {
    typedName: textOf(body["typedName"]),
    planHash: textOf(body["planHash"]),
    ...(reason === "" ? {} : { reason }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused("not-json");
  }
}

interface Failed {
  readonly head: SeenHead;
  readonly peer: string;
  readonly needs: AnswerNeeds;
}

function sendFailure(response: ServerResponse, thrown: unknown, { head, peer, needs }: Failed): void {
  // The peer hung up in the middle of its request: nobody waits for an answer, and it is no failure of ours.
  if (isHangUp(thrown)) return void response.destroy();
  if (!(thrown instanceof Refused)) {
    const { status, problem } = needs.explainFailure(thrown);
    if (status >= 500) needs.logger.warn("A request to the console failed", { ...problem });
    return sendJson(response, status, problem);
  }
  needs.refusals.add(thrown.code, { peer, seen: seenText(thrown, head) });
  sendJson(response, thrown.status, thrown.problem, thrown.code === "wrong-method" ? { Allow: "GET, HEAD, POST" } : {});
}

function isHangUp(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ECONNRESET" && thrown.message === "aborted";
}

/** What was wrong, without the address: it may hold a token that is nearly right. */
function seenText({ code }: Refused, { host, origin, fetchSite, method }: SeenHead): string {
  if (code === "wrong-host") return host;
  if (code === "wrong-origin") return origin ?? `no Origin, Sec-Fetch-Site ${fetchSite ?? "not sent"}`;
  return method;
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  more: Readonly<Record<string, string>> = {},
): void {
  // A failure after the stream has begun has no head any more.
  if (response.headersSent) return void response.destroy();
  const body = `${JSON.stringify(value)}\n`;
  response.writeHead(status, { ...securityHeaders, "Content-Type": "application/json; charset=utf-8", ...more });
  response.end(body);
}

function headOf({ method = "", url = "", headers, rawHeaders }: IncomingMessage): SeenHead {
  // Of two hosts a proxy may mean one and we the other; then there is none.
  const hosts = rawHeaders.filter((word, at) => at % 2 === 0 && word.toLowerCase() === "host").length;
  return {
    method,
    target: url,
    host: hosts === 1 ? (headers.host ?? "") : "",
    origin: headers.origin,
    fetchSite: oneOf(headers["sec-fetch-site"]),
    fetchMode: oneOf(headers["sec-fetch-mode"]),
    contentType: headers["content-type"],
  };
}

function viewerHead({ headers }: IncomingMessage, peer: string, proxyHeader: string | undefined): ViewerHead {
  return {
    authorization: headers.authorization,
    proxyToken: proxyHeader === undefined ? undefined : oneOf(headers[proxyHeader]),
    isLoopback: isLoopback(peer),
  };
}

/** Two of the same header are one too many: which one counts would depend on the proxy. */
function oneOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isLoopback(address: string): boolean {
  return /^(?:::ffff:)?127\./u.test(address) || address === "::1";
}
