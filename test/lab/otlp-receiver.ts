import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { otlpProblems } from "./otlp-schema.ts";

/** A span as it came, with its attributes as an object. */
export interface SeenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number; readonly message?: string };
}

/** Answers a request in place of the receiver's `{}`. */
export type OtlpScript = (response: ServerResponse) => void;

/** A receiver of OTLP over HTTP that checks every field against the schema and keeps the spans. */
export class OtlpReceiver implements AsyncDisposable {
  readonly spans: SeenSpan[] = [];
  /** What did not fit the schema or the protocol. */
  readonly problems: string[] = [];
  requests = 0;
  script: OtlpScript | undefined;
  resource: Readonly<Record<string, unknown>> = {};
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async listen(port = 0): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(port, "127.0.0.1", resolve));
    return receiver;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  named(name: string): readonly SeenSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = `${request.method ?? ""} ${request.url ?? ""} ${request.headers["content-type"] ?? ""}`;
    if (asked !== "POST /v1/traces application/json") this.problems.push(`the request is ${asked}`);
    if (this.script !== undefined) return this.script(response);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    this.problems.push(...otlpProblems(body));
    this.#keep(body as Request);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  }

  #keep({ resourceSpans }: Request): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = plainAttributes(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans.map(seenSpan));
    }
  }
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface RawSpan extends Omit<SeenSpan, "attributes" | "startNano" | "endNano"> {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[];
  }[];
}

function seenSpan(span: RawSpan): SeenSpan {
  return {
    ...span,
    parentSpanId: span.parentSpanId ?? "",
    traceState: span.traceState ?? "",
    startNano: BigInt(span.startTimeUnixNano),
    endNano: BigInt(span.endTimeUnixNano),
    attributes: plainAttributes(span.attributes),
  };
}

function plainAttributes(attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue({ stringValue, boolValue, intValue, arrayValue }: KeyValue["value"]): unknown {
  if (intValue !== undefined) return Number(intValue);
  if (arrayValue === undefined) return stringValue ?? boolValue;
  return (arrayValue as { values: KeyValue["value"][] }).values.map(plainValue);
}
