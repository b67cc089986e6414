import { mkdir, rm } from "node:fs/promises";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { dirname } from "node:path";
import { protoMessages, protoTexts } from "../../../src/kube/kubelet/protobuf.ts";
import { protoMessage, respond } from "../../../src/kube/kubelet/kubelet.fixture.ts";
import { slice } from "../../../src/kube/claims/slices.fixture.ts";
import type { Api } from "../api.ts";
import { nodeName } from "../machine.ts";
import { applyAll, pathOf } from "../manifests.ts";
import { until } from "../until.ts";

export const networkDriver = "vf.example";
const registration = `/var/lib/kubelet/plugins_registry/${networkDriver}-reg.sock`;
const endpoint = `/var/lib/kubelet/plugins/${networkDriver}/dra.sock`;
const service = "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin";

/** A claim as far as the driver and the tests look at it. */
export interface AllocatedClaim {
  readonly status: { readonly allocation: { readonly devices: { readonly results: readonly AllocatedResult[] } } };
}

interface AllocatedResult {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/**
 * A DRA driver in small: it registers with the real kubelet, publishes devices with Multus' attributes, and prepares
 * nothing, as its devices do not exist.
 */
export class NetworkDraDriver implements AsyncDisposable {
  /** The UIDs of the claims that the kubelet had prepared. */
  readonly prepared: string[] = [];
  readonly #api: Api;
  readonly #servers: Http2Server[] = [];
  #isRegistered = false;

  private constructor(api: Api) {
    this.#api = api;
  }

  static async start(api: Api, devices: Parameters<typeof slice>[1]): Promise<NetworkDraDriver> {
    const driver = new NetworkDraDriver(api);
    await applyAll(api, objects(devices));
    await driver.#listen(endpoint);
    await driver.#listen(registration);
    await until("the kubelet knows the driver", () => Promise.resolve(driver.#isRegistered || undefined));
    return driver;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of [registration, endpoint]) await rm(path, { force: true });
    for (const server of this.#servers) server.close();
    await this.#api.delete(pathOf("ResourceSlice", "", "vfs-of-test"));
    await this.#api.delete(pathOf("DeviceClass", "", networkDriver));
  }

  async #listen(path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    const server = createServer();
    server.on("stream", (stream, headers) => {
      stream.on("error", () => undefined);
      // The types forget that a server sent it.
      void this.#serve(stream as ServerHttp2Stream, String(headers[":path"]));
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
  }

  async #serve(stream: ServerHttp2Stream, method: string): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer); // no encoding is set
    const request = Buffer.concat(chunks).subarray(5);
    respond(stream, await this.#answer(method, request));
  }

  async #answer(method: string, request: Buffer): Promise<Buffer> {
    if (method === "/pluginregistration.Registration/GetInfo") return info();
    if (method === "/pluginregistration.Registration/NotifyRegistrationStatus") {
      this.#isRegistered = true;
      return Buffer.alloc(0);
    }
    const claims = protoMessages(request, 1).map((claim) => {
      const [[namespace = ""], [uid = ""], [name = ""]] = [
        protoTexts(claim, 1),
        protoTexts(claim, 2),
        protoTexts(claim, 3),
      ];
      return { namespace, uid, name };
    });
    if (method !== `${service}/NodePrepareResources`)
      return protoMessage(claims.map(({ uid }) => [1, entry(uid, Buffer.alloc(0))] as const));
    const prepared = await Promise.all(claims.map(async (claim) => entry(claim.uid, await this.#prepare(claim))));
    return protoMessage(prepared.map((one) => [1, one] as const));
  }

  async #prepare({ namespace, uid, name }: { namespace: string; uid: string; name: string }): Promise<Buffer> {
    const { status } = await this.#api.get<AllocatedClaim>(pathOf("ResourceClaim", namespace, name));
    this.prepared.push(uid);
    const own = status.allocation.devices.results.filter(({ driver }) => driver === networkDriver);
    return protoMessage(
      own.map(({ request, pool, device }) => [
        1,
        protoMessage([
          [1, request],
          [2, pool],
          [3, device],
        ]),
      ]),
    );
  }
}

function info(): Buffer {
  return protoMessage([
    [1, "DRAPlugin"],
    [2, networkDriver],
    [3, endpoint],
    [4, "v1.DRAPlugin"],
  ]);
}

/** An entry of a map in protobuf. */
function entry(key: string, value: Buffer): Buffer {
  return protoMessage([
    [1, key],
    [2, value],
  ]);
}

function objects(devices: Parameters<typeof slice>[1]): Parameters<typeof applyAll>[1] {
  const made = slice("vfs-of-test", devices, { driver: networkDriver, pool: nodeName }) as { spec: object };
  const head = { apiVersion: "resource.k8s.io/v1" };
  return [
    {
      ...head,
      kind: "DeviceClass",
      metadata: { name: networkDriver },
      spec: { selectors: [{ cel: { expression: `device.driver == '${networkDriver}'` } }] },
    },
    { ...head, kind: "ResourceSlice", metadata: { name: "vfs-of-test" }, spec: { ...made.spec, nodeName } },
  ];
}
