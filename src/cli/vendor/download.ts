import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { deadline, type Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import { oneLine } from "../../base/plain-text.ts";
import { software } from "../../base/version.ts";
import { CommandFailure, interruptedFailure } from "../failure.ts";
import { redirectedUrl } from "./source-url.ts";

/** The largest manifests that people vendor, operators with all their definitions, have 4 MiB. */
export const vendoredBytesMax = 16 * 1024 * 1024;
/** For the whole download, with its redirects. */
const downloadMs = 120_000;
/** A release of a forge takes two. */
const redirectsMax = 5;
const redirectCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Forges send YAML as text or as bytes of no kind. */
const goodTypes =
  /^(?:application\/(?:x-|vnd\.)?yaml|text\/(?:x-|vnd\.)?yaml|text\/plain|(?:application|binary)\/octet-stream)(?:\s*;.*)?$/iu;

export interface DownloadOptions {
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  /** Authorities, as PEM, in place of the machine's. */
  readonly ca?: string;
}

/** The whole file in memory, or an error: nothing is written before everything was judged. */
export async function download(from: URL, options: DownloadOptions): Promise<Uint8Array> {
  const tooLate = (): Error => failed(from, `it took more than ${downloadMs / 1000} s`);
  using limit = deadline(options.clock, downloadMs, tooLate, options.interrupted);
  let url = from;
  for (let hop = 0; hop <= redirectsMax; hop += 1) {
    const answer = await ask(url, options, limit.signal);
    if (!("location" in answer)) return answer.content;
    url = redirectedUrl(url, answer.location);
  }
  throw failed(from, `it was redirected more than ${redirectsMax} times`);
}

type Answer = { readonly location: string } | { readonly content: Uint8Array };

function ask(url: URL, options: DownloadOptions, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (thrown: unknown): void => reject(reasonOf(url, thrown, { limit: signal, ...options }));
    const request = url.protocol === "https:" ? httpsRequest : httpRequest;
    const headers = {
      "accept": "application/yaml, text/plain, */*",
      "accept-encoding": "identity",
      "user-agent": software,
    };
    const sent = request(
      url,
      { headers, signal, ...(options.ca === undefined ? {} : { ca: options.ca }) },
      (answer) => {
        void readAnswer(url, answer)
          .then(resolve, fail)
          .finally(() => sent.destroy());
      },
    );
    sent.once("error", fail);
    sent.end();
  });
}

async function readAnswer(url: URL, answer: IncomingMessage): Promise<Answer> {
  const { statusCode = 0, headers } = answer;
  if (redirectCodes.has(statusCode)) {
    if (headers.location === undefined)
      throw failed(url, `the server answered ${statusCode} without saying where to go`);
    return { location: headers.location };
  }
  if (statusCode !== 200) throw failed(url, `the server answered ${statusCode}`, remedyFor(statusCode));
  const type = headers["content-type"];
  if (type !== undefined && !goodTypes.test(type)) throw failed(url, `it is ${oneLine(type)} and not YAML`, rawRemedy);
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity")
    throw failed(url, `the server compressed it (${oneLine(encoding)}), which was not asked for`);
  return { content: await readBody(url, answer) };
}

async function readBody(url: URL, answer: IncomingMessage): Promise<Uint8Array> {
  const promised = answer.headers["content-length"];
  if (promised !== undefined && Number(promised) > vendoredBytesMax) throw tooLong(url);
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > vendoredBytesMax) throw tooLong(url);
    parts.push(part);
  }
  const isWhole = promised === undefined ? answer.complete : Number(promised) === bytes;
  if (!isWhole)
    throw failed(url, `it ended after ${bytes} of ${promised ?? "an unknown number of"} bytes`, "try again");
  return Buffer.concat(parts);
}

const rawRemedy = "give the address of the raw file, as a forge's Raw or Download button has it";

function remedyFor(status: number): string {
  if (status === 404) return "look for the version and the file name in the browser; both are often in the address";
  if (status === 401 || status === 403) return "give the address of a public file, or fetch it yourself: --from FILE";
  return "try again later, or fetch it yourself: --from FILE";
}

function tooLong(url: URL): CommandFailure {
  return failed(url, `it has more than ${vendoredBytesMax} bytes`, "vendor the manifest alone, without archives");
}

interface Ends extends Pick<DownloadOptions, "interrupted"> {
  readonly limit: AbortSignal;
}

function reasonOf(url: URL, thrown: unknown, { limit, interrupted }: Ends): Error {
  if (interrupted.aborted) return interruptedFailure(`fetching ${url.href}`);
  if (limit.aborted) return limit.reason as Error; // ours, from `tooLate`
  if (thrown instanceof CommandFailure) return thrown;
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const why = errnoOf(thrown) ?? "";
  // Most messages have the code already.
  const words = said.includes(why) ? said : `${why} ${said}`;
  return new CommandFailure("vendor-download", `Cannot fetch ${url.href}: ${oneLine(words)}`, {
    remedy: "check the network; a proxy is not used: behind one, fetch the file yourself and use --from FILE",
    cause: thrown,
  });
}

function failed(url: URL, why: string, remedy = ""): CommandFailure {
  return new CommandFailure("vendor-download", `Cannot fetch ${url.href}: ${why}`, { remedy });
}
