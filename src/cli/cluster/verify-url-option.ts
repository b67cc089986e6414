import { parseKeyedSetting } from "../../base/keyed-setting.ts";
import type { VerifyUrl } from "../../guard/facts/guard-settings.ts";
import { usageFailure, type CommandFailure } from "../failure.ts";
import { plainProblem, fileProblem } from "./alertmanager-option.ts";

const form = { keys: ["status", "ca", "server-name"] } as const;
const example = "--verify-url https://update.example/,status=200,ca=/etc/levee-verify/ca.crt";
/** What the definition of a Decision takes. */
const urlCharsMax = 1_024;

/** Parses `URL[,status=CODE][,ca=FILE][,server-name=NAME]`. Everybody may read a plan, so a URL holds no password. */
export function parseVerifyUrl(text: string): VerifyUrl {
  const [head = ""] = text.split(",");
  const url = urlOf(head);
  const wrong = (why: string): CommandFailure => usageFailure(`Cannot use --verify-url ${url.href}: ${why}`, example);
  const setting = parseKeyedSetting(text, form);
  if ("problem" in setting) throw wrong(setting.problem);
  const [status, ca, serverName] = form.keys.map((key) => setting.values.get(key)?.[0]);
  const problem =
    statusProblem(status) ?? certificateProblem(url, "ca", ca) ?? certificateProblem(url, "server-name", serverName);
  if (problem !== undefined) throw wrong(problem);
  return {
    url: url.href,
    status: status === undefined ? 200 : Number(status),
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.hash === "" && url.username === "" && url.password === "" && url.href.length <= urlCharsMax;
  if (isPlain && (url.protocol === "http:" || url.protocol === "https:")) return url;
  const shown = text.replace(/\/\/[^/]*@/u, "//…@");
  throw usageFailure(
    `Cannot use --verify-url as it must be a URL of http or https without user and fragment, of at most ${urlCharsMax} characters: current value is ${JSON.stringify(shown)}`,
    example,
  );
}

function statusProblem(status: string | undefined): string | undefined {
  if (status === undefined || /^[1-5]\d\d$/u.test(status)) return undefined;
  return `status= must be a status of HTTP from 100 to 599: current value is ${JSON.stringify(status)}`;
}

function certificateProblem(url: URL, key: "ca" | "server-name", value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return url.protocol === "https:" ? fileProblem(key, value) : plainProblem(key);
}
