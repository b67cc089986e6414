import { parseKeyedSetting } from "../../base/keyed-setting.ts";
import type { PrometheusServer } from "../../guard/facts/guard-settings.ts";
import type { Alertmanager } from "../../guard/observe/ask-alertmanager.ts";
import { usageFailure, type CommandFailure } from "../failure.ts";

const form = { keys: ["token", "ca", "server-name"] } as const;
type Key = (typeof form.keys)[number];

const examples = {
  "--alertmanager": "http://alertmanager.example:9093",
  "--prometheus": "http://prometheus.example:9090",
} as const;
type Option = keyof typeof examples;

/** Parses `URL[,token=FILE][,ca=FILE][,server-name=NAME]`. An error never repeats a possible secret. */
export function parseAlertmanager(text: string): Alertmanager {
  return parseMonitor("--alertmanager", text);
}

export function parsePrometheus(text: string): PrometheusServer {
  return parseMonitor("--prometheus", text);
}

function parseMonitor(option: Option, text: string): Alertmanager & PrometheusServer {
  const [head = ""] = text.split(",");
  const url = urlOf(option, head);
  const wrong = (why: string): CommandFailure =>
    usageFailure(`Cannot use ${option} ${plain(url)}: ${why}`, exampleOf(option));
  const setting = parseKeyedSetting(text, form);
  if ("problem" in setting) throw wrong(setting.problem);
  const values = new Map([...setting.values].map(([key, [value = ""]]) => [key, value]));
  for (const [key, value] of values) {
    const problem = url.protocol === "https:" ? fileProblem(key, value) : plainProblem(key);
    if (problem !== undefined) throw wrong(problem);
  }
  const [token, ca, serverName] = form.keys.map((key) => values.get(key));
  return {
    url: plain(url),
    ...(token === undefined ? {} : { token }),
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

function exampleOf(option: Option): string {
  const url = examples[option].replace("http:", "https:");
  return `${option} ${url},token=/etc/levee-monitoring/token,ca=/etc/levee-monitoring/ca.crt,server-name=NAME-IN-ITS-CERTIFICATE`;
}

function urlOf(option: Option, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (isPlain && (url.protocol === "http:" || url.protocol === "https:")) return url;
  const shown = text.replace(/\/\/[^/]*@/u, "//…@").replace(/([?#]).*$/su, "$1…");
  throw usageFailure(
    `Cannot use ${option} as it must be a URL of http or https without user, query or fragment: current value is ${JSON.stringify(shown)}`,
    `${option} ${examples[option]}`,
  );
}

export function plainProblem(key: Key): string {
  return key === "token"
    ? "a token over http can be read on the way. Use https, or remove token="
    : `${key}= concerns a certificate, and http has none. Use https, or remove it`;
}

export function fileProblem(key: Key, value: string): string | undefined {
  if (key === "token" && !isAbsolute(value))
    return "token= must be the absolute path of a file that holds the token, not the token itself";
  if (key === "ca" && !isAbsolute(value)) return "ca= must be the absolute path of a file with certificates";
  if (key === "server-name" && !isDnsName(value)) return "server-name= must be a DNS name of the certificate";
  return undefined;
}

/** An IP address has no letters, or has colons; it needs no server-name. */
function isDnsName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/iu.test(text) && /[a-z]/iu.test(text);
}

function isAbsolute(path: string): boolean {
  return /^\/[^/\s]/u.test(path);
}

function plain(url: URL): string {
  return url.href.replace(/\/+$/u, "");
}
