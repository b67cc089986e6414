/** What a request asks for, once it was let in. */
export type ConsoleRoute =
  | { readonly to: "file"; readonly name: string }
  | { readonly to: "events" }
  | { readonly to: "pods"; readonly match: string }
  | { readonly to: "pod"; readonly namespace: string; readonly name: string }
  | { readonly to: "network"; readonly name: string }
  | { readonly to: "node"; readonly name: string }
  | { readonly to: "explain"; readonly code: string }
  | { readonly to: "history"; readonly hours: number }
  | { readonly to: "verdict"; readonly decision: string; readonly verdict: ConsoleVerdict };

export type ConsoleVerdict = (typeof consoleVerdicts)[number];

const consoleVerdicts = ["approve", "reject", "pause", "resume"] as const;

/** A name of the API server, which is 253 characters at most; a code of ours has no more. */
const name = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/u;
/** `NAMESPACE/NAME`, or a name of the node's own, which CNI lets begin with a letter or digit. */
const networkName = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,316}$/u;
const matchCharsMax = 253;
/** Two weeks: longer than a plot can show by the minute. */
const hoursMax = 336;

/**
 * Reads the part of the address behind the token, exactly as it was sent: nothing is decoded or made canonical before it
 * is compared, so there is no second spelling of an address. Undefined for everything that is not in the table.
 */
export function consoleRoute(method: string, path: string, query: URLSearchParams): ConsoleRoute | undefined {
  if (method === "POST") return verdictRoute(path);
  if (method !== "GET" && method !== "HEAD") return undefined;
  const [, code = ""] = /^explain\/(.+)$/u.exec(path) ?? [];
  if (name.test(code)) return { to: "explain", code };
  if (fileName.test(path)) return { to: "file", name: path === "" ? "index.html" : path };
  return questionRoute(path, query);
}

const fileName = /^(?:|console\.(?:js|css)|icon\.svg)$/u;

function questionRoute(path: string, query: URLSearchParams): ConsoleRoute | undefined {
  const given = (key: string): string => query.get(key) ?? "";
  switch (path) {
    case "events":
      return { to: "events" };
    case "pods":
      return { to: "pods", match: given("match").slice(0, matchCharsMax) };
    case "pod":
      return podRoute(given("namespace"), given("name"));
    case "network":
      return networkName.test(given("name")) ? { to: "network", name: given("name") } : undefined;
    case "node":
      return name.test(given("name")) ? { to: "node", name: given("name") } : undefined;
    case "history":
      return { to: "history", hours: hoursOf(given("hours")) };
    default:
      return undefined;
  }
}

function podRoute(namespace: string, pod: string): ConsoleRoute | undefined {
  return name.test(namespace) && name.test(pod) ? { to: "pod", namespace, name: pod } : undefined;
}

function hoursOf(text: string): number {
  const hours = /^\d{1,4}$/u.test(text) ? Number(text) : 0;
  return Math.min(hoursMax, Math.max(1, hours));
}

function verdictRoute(path: string): ConsoleRoute | undefined {
  const [, decision = "", word] = /^decision\/([^/]+)\/([a-z]+)$/u.exec(path) ?? [];
  const verdict = consoleVerdicts.find((one) => one === word);
  return verdict === undefined || !name.test(decision) ? undefined : { to: "verdict", decision, verdict };
}
