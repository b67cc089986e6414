// Traces as a real OpenTelemetry collector reads them: the daemon's JSON, and every field of it.
import { spawn, type ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import { freePort } from "../lab/free-port.ts";
import type { Lab } from "../lab/lab.ts";
import { builtCollector } from "../peers/collector/opentelemetry-collector.ts";
import { containerId, errorOf, networksAnnotation, onlyCall, resultOf, startNode } from "./node.ts";

const program = builtCollector();
if (program === undefined)
  process.stderr.write(
    "test/conformance/traces-collector.test.ts: skipped, as no collector is built; npm run e2e -- --peers builds one\n",
  );

const traceId = "0af7651916cd43dd8448eb211c80319c";
const runtimeSpan = "b7ad6b7169203331";
const env = { TRACEPARENT: `00-${traceId}-${runtimeSpan}-01`, TRACESTATE: "vendor=x" };

/** A span as the collector prints it. */
class PrintedSpan {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  field(name: string): string {
    return new RegExp(`^ +${name} +: (.*)$`, "mu").exec(this.text)?.[1] ?? "";
  }

  timeMs(name: string): number {
    return Date.parse(this.field(name).replace(" +0000 UTC", "Z"));
  }
}

class RunningCollector implements AsyncDisposable {
  readonly #process: ChildProcess;
  #output = "";

  private constructor(running: ChildProcess) {
    this.#process = running;
    running.stderr?.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
  }

  static async start(lab: Lab, port: number): Promise<RunningCollector> {
    const config = [
      `receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }`,
      "exporters: { debug: { verbosity: detailed } }",
      "service:",
      "  telemetry: { metrics: { level: none } }",
      "  pipelines: { traces: { receivers: [otlp], exporters: [debug] } }",
    ].join("\n");
    await writeFile(lab.path("collector.yaml"), config);
    const running = spawn(program ?? "", ["--config", lab.path("collector.yaml")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const collector = new RunningCollector(running);
    await lab.until("the collector is ready", () =>
      Promise.resolve(collector.#output.includes("Everything is ready") || undefined),
    );
    return collector;
  }

  get output(): string {
    return this.#output;
  }

  /** The spans that are printed whole, as the output comes in pieces. The earliest is first. */
  named(name: string): readonly PrintedSpan[] {
    const spans = this.#output.split(/^Span #\d+$/mu).slice(1);
    return spans
      .filter((text) => /^ +Status message +:.*\n/mu.test(text))
      .map((text) => new PrintedSpan(text))
      .filter((span) => span.field("Name") === name)
      .toSorted((one, other) => one.timeMs("Start time") - other.timeMs("Start time"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await ended;
  }
}

async function tracedNode(port: number): Promise<Lab> {
  const lab = await startNode({ settings: { tracesEndpoint: `http://127.0.0.1:${port}`, tracesOneIn: 1 } });
  await lab.network("lan", { cniVersion: "1.1.0", name: "lan", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  return lab;
}

function add(lab: Lab, name: string): ReturnType<Lab["cni"]> {
  return lab.cni("ADD", { containerId: containerId(name), netns: lab.netns(name), args: lab.podArgs("web"), env });
}

test.skipIf(program === undefined)(
  "a collector takes the spans of a call, and those from while it was away",
  async () => {
    const port = await freePort();
    await using lab = await tracedNode(port);
    // The collector is away: the call does not notice, and the log says it once.
    resultOf(await add(lab, "one"));
    const isSaid = (): boolean => lab.daemonLog.includes("The collector does not take traces");
    await lab.until("the daemon says so", () => Promise.resolve(isSaid() || undefined));
    const { env: given } = await onlyCall(lab, "ADD", "second");

    await using collector = await RunningCollector.start(lab, port);
    await lab.script("second.ADD", 'echo \'{"code":7,"msg":"no room"}\'; exit 1');
    errorOf(await add(lab, "two"));
    const [good, bad] = await lab.until(
      "both calls are there",
      () => Promise.resolve(pairOf(collector.named("CNI ADD"))),
      90_000,
    );
    await lab.until(
      "both calls' plugins are there",
      () => Promise.resolve(pairOf(collector.named("ADD second"))),
      90_000,
    );
    expectCall(good);
    expect(bad.field("Status code")).toBe("Error");
    expect(bad.field("Status message")).toContain("no room");
    const [plugin] = collector.named("ADD second").filter((span) => span.field("Parent ID") === good.field("ID"));
    expectPlugin(plugin, given["TRACEPARENT"]);
    expect(collector.output).toContain("-> service.name: Str(levee)");
    // The collector prints spans before it answers.
    const isSaidAgain = (): boolean => lab.daemonLog.includes("The collector takes traces again");
    await lab.until("the daemon says that it is back", () => Promise.resolve(isSaidAgain() || undefined));
  },
  120_000,
);

function pairOf([one, other]: readonly PrintedSpan[]): readonly [PrintedSpan, PrintedSpan] | undefined {
  return one === undefined || other === undefined ? undefined : [one, other];
}

function expectCall(call: PrintedSpan): void {
  const fields = ["Trace ID", "Parent ID", "TraceState", "Kind", "Status code"];
  expect(fields.map((name) => call.field(name))).toEqual([traceId, runtimeSpan, "vendor=x", "Server", "Unset"]);
  expect(call.text).toContain(`-> container.id: Str(${containerId("one")})`);
  expect(call.text).toContain("-> levee.attempt: Int(1)");
  expect(call.text).toContain('-> cni.networks: Slice(["default/lan"])');
}

function expectPlugin(plugin: PrintedSpan | undefined, traceParent: string | undefined): void {
  if (plugin === undefined) throw new Error("the collector has no span of the plugin");
  expect(traceParent).toBe(`00-${traceId}-${plugin.field("ID")}-01`);
  expect(Math.abs(plugin.timeMs("Start time") - Date.now())).toBeLessThan(300_000);
  expect(plugin.timeMs("End time")).toBeGreaterThanOrEqual(plugin.timeMs("Start time"));
}
