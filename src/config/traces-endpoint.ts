import { urlKnobs } from "./word-knobs.ts";
import type { SettingsReader } from "./settings-reader.ts";

/** Where a receiver of OTLP over HTTP listens unless it is told otherwise. */
const usualPath = "/v1/traces";
/** The usual port of OTLP over gRPC, which takes no HTTP/1.1. */
const grpcPort = "4317";

const remedy = "set the URL of a receiver of OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces";

/** The collector's URL with its path; undefined when traces are off. */
export function readTracesEndpoint(from: SettingsReader, notices: string[]): string | undefined {
  const text = from.word("tracesEndpoint", (url) => endpointOf(url) !== undefined, remedy);
  const url = text === undefined ? undefined : endpointOf(text);
  if (url?.port === grpcPort)
    notices.push(
      `tracesEndpoint names port ${grpcPort}, which usually takes OTLP over gRPC; Levee sends OTLP over HTTP, usually to port 4318`,
    );
  return url?.href;
}

function endpointOf(text: string): URL | undefined {
  const { bytesMax } = urlKnobs.tracesEndpoint;
  if (Buffer.byteLength(text) > bytesMax || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!["http:", "https:"].includes(url.protocol) || url.hostname === "" || !isPlain) return undefined;
  if (url.pathname === "/") url.pathname = usualPath;
  return url;
}
