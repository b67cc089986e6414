import { createHash, timingSafeEqual } from "node:crypto";
import { consoleRoute, type ConsoleRoute } from "./console-route.ts";
import { Refused } from "./refusal.ts";

/** The parts of a request by which it is let in. */
export interface SeenHead {
  readonly method: string;
  /** As it was sent. */
  readonly target: string;
  readonly host: string;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`, which browsers set and pages cannot. */
  readonly fetchSite: string | undefined;
  /** `Sec-Fetch-Mode`: `navigate` when a person follows a link or opens a bookmark. */
  readonly fetchMode: string | undefined;
  readonly contentType: string | undefined;
}

export interface GateRules {
  /** Behind the first slash of every address; undefined in a cluster, where each viewer has a token of his own. */
  readonly token: string | undefined;
  /** Whether the console answers under this Host. */
  readonly isOwnHost: (host: string) => boolean;
  /** Schemes that its page may have been loaded by: a proxy in front of it may speak TLS. */
  readonly schemes: readonly ("http" | "https")[];
}

/** Longer than any address of the page. */
const targetCharsMax = 2_048;

/**
 * Lets a request in or throws why not. The Host comes first: a name that leads here by a trick of DNS learns nothing, not
 * even whether its token is right.
 */
export function letIn(head: SeenHead, rules: GateRules): ConsoleRoute {
  if (!rules.isOwnHost(head.host)) throw new Refused("wrong-host");
  if (head.target.length > targetCharsMax) throw new Refused("too-long");
  const address = addressOf(head.target, rules.token);
  // The page has nothing of the cluster in it, and cannot be framed: a link to it may stand anywhere.
  const isLink = head.method === "GET" && address.path === "" && head.fetchMode === "navigate";
  if (!isLink) requireOwnPage(head, rules);
  if (!["GET", "HEAD", "POST"].includes(head.method)) throw new Refused("wrong-method");
  const route = consoleRoute(head.method, address.path, new URLSearchParams(address.query));
  if (route === undefined) throw new Refused("wrong-address");
  if (head.method === "POST" && !isJson(head.contentType)) throw new Refused("wrong-content");
  return route;
}

/** The address behind the token. A wrong token is told before a wrong address, so nothing can be found by trying. */
function addressOf(target: string, token: string | undefined): { readonly path: string; readonly query: string } {
  const [whole = "", ...rest] = target.split("?");
  const query = rest.join("?");
  if (!whole.startsWith("/")) throw new Refused(token === undefined ? "wrong-address" : "wrong-token");
  if (token === undefined) return { path: whole.slice(1), query };
  const [given = "", ...path] = whole.slice(1).split("/");
  // Without the slash after it the page's relative addresses would lead outside.
  if (!isSame(given, token)) throw new Refused("wrong-token");
  if (path.length === 0) throw new Refused("wrong-address");
  return { path: path.join("/"), query };
}

/**
 * A browser sends its page's Origin with every POST and with every request to another origin. A request without one is a
 * plain GET, or no browser's.
 */
function requireOwnPage({ method, host, origin, fetchSite }: SeenHead, { schemes }: GateRules): void {
  const isOwn =
    origin !== undefined && schemes.some((scheme) => origin.toLowerCase() === `${scheme}://${host.toLowerCase()}`);
  if (origin === undefined ? method === "POST" : !isOwn) throw new Refused("wrong-origin");
  // `none`: typed into the address bar, or opened by a program.
  if (fetchSite !== undefined && fetchSite !== "same-origin" && !(fetchSite === "none" && method !== "POST"))
    throw new Refused("wrong-origin");
}

function isJson(contentType: string | undefined): boolean {
  return /^application\/json(?:\s*;.*)?$/iu.test(contentType ?? "");
}

/** Takes the same time wherever the two differ. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}
