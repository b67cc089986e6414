import { existsSync } from "node:fs";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findGo } from "../go-tool.ts";
import { buildInto, peerFolder, type Peer } from "../peer.ts";

/** Of its newer versions, public proxies of modules lack a part. */
const version = "v0.160.0";
/** Of the same release; its stable parts count by themselves. */
const stableVersion = "v1.66.0";
const program = "otelcol";
const module = "go.opentelemetry.io/collector";

/** The collector's own program is generated from a list of parts. Ours has a receiver and an exporter. */
const goMod = [
  "module levee.test/otelcol",
  "go 1.25.0",
  ...["exporter/debugexporter", "otelcol", "receiver/otlpreceiver", "service"].map(
    (part) => `require ${module}/${part} ${version}`,
  ),
  `require ${module}/confmap/provider/fileprovider ${stableVersion}`,
  "",
].join("\n");

/** The OpenTelemetry collector, built once. */
export async function openTelemetryCollector(): Promise<Peer> {
  const folder = peerFolder("opentelemetry-collector", version);
  if (builtCollector() !== undefined) return { folder: join(folder, "bin") };
  const go = findGo();
  if (go === undefined) return { missing: "Go is not installed, so the OpenTelemetry collector could not be built" };
  process.stdout.write(`Building the OpenTelemetry collector ${version} from its Go modules (once, a minute)…\n`);
  const source = join(folder, `source.${process.pid}`);
  await mkdir(source, { recursive: true });
  await copyFile(join(import.meta.dir, "main.go"), join(source, "main.go"));
  await writeFile(join(source, "go.mod"), goMod);
  const build = { go, cwd: source, packages: [], named: { ".": program }, ldflags: "" };
  const complaint = await buildInto(join(folder, "bin"), build);
  await rm(source, { recursive: true, force: true });
  if (complaint === undefined) return { folder: join(folder, "bin") };
  return { missing: `the OpenTelemetry collector ${version} could not be built: ${complaint}` };
}

/** The program when it is there already, or undefined: the ordinary tests build nothing. */
export function builtCollector(): string | undefined {
  const path = join(peerFolder("opentelemetry-collector", version), "bin", program);
  return existsSync(path) ? path : undefined;
}
