import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import {
  answer,
  refuse,
  ScriptedServer,
  writeLine,
  type SeenRequest,
} from "../../src/kube/client/scripted-server.fixture.ts";
import type { Lab } from "./lab.ts";

interface KubeObject {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

type Kind = "pods" | "network-attachment-definitions";

/** How a request is treated before it is served: refused, left without an answer, or served. */
export type Mood = (request: SeenRequest) => number | "silent" | undefined;

/** As much of an API server as the daemon asks for, for failures that no real one can be asked for. It says yes to everybody. */
export class ApiDouble {
  readonly patches: { readonly pod: string; readonly body: Readonly<Record<string, unknown>> }[] = [];
  readonly events: Readonly<Record<string, unknown>>[] = [];
  /** Before each answer. */
  latencyMs = 0;
  mood: Mood = () => undefined;
  /** Whether patches change the pods, as they do on a real server. */
  keepsPatches = false;
  /** Objects that the watch has not told of yet: only a read finds them. */
  readonly hidden = new Set<string>();
  readonly #server: ScriptedServer;
  readonly #objects: Record<Kind, Map<string, KubeObject>> = {
    "pods": new Map(),
    "network-attachment-definitions": new Map(),
  };
  readonly #watches = new Map<ServerResponse, Kind>();
  #version = 1;

  private constructor(server: ScriptedServer) {
    this.#server = server;
  }

  static async start(): Promise<ApiDouble> {
    const server = await ScriptedServer.listen((_request, response) => refuse(response, 503, "Starting"));
    const double = new ApiDouble(server);
    server.script = (request, response) => setTimeout(() => double.#serve(request, response), double.latencyMs);
    return double;
  }

  /** Tells the lab's daemon where this server is; the folder is not used any more. */
  async serve(lab: Lab, settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const path = lab.path("kubeconfig");
    await writeFile(path, JSON.stringify(this.#kubeconfig()));
    const netd = lab.path("netd");
    const folders = { cniConfigDir: netd, multusAutoconfigDir: netd, deviceInfoDir: lab.path("devinfo") };
    await lab.configure({ directory: undefined, kubeconfig: path, ...folders, ...settings });
  }

  get url(): string {
    return this.#server.url;
  }

  get requests(): readonly string[] {
    return this.#server.requests.map(({ method, url }) => `${method} ${url.pathname}`);
  }

  pod(name: string, annotations: Readonly<Record<string, string>> = {}, uid = `uid-of-${name}`): void {
    this.#put("pods", { metadata: { namespace: "default", name, uid, annotations }, spec: {}, status: {} });
  }

  /** A pod of the host's network, or one that ends. */
  podWith(
    name: string,
    annotations: Readonly<Record<string, string>>,
    { spec = {}, deletionTimestamp }: { readonly spec?: object; readonly deletionTimestamp?: string },
  ): void {
    const times = deletionTimestamp === undefined ? {} : { deletionTimestamp };
    const metadata = { namespace: "default", name, uid: `uid-of-${name}`, annotations, ...times };
    this.#put("pods", { metadata, spec, status: {} });
  }

  network(name: string, config: unknown): void {
    const metadata = { namespace: "default", name, uid: `uid-of-${name}` };
    this.#put("network-attachment-definitions", { metadata, spec: { config: JSON.stringify(config) } });
  }

  /** Whether a watch of this kind is open. */
  isWatched(kind: Kind): boolean {
    return [...this.#watches.values()].includes(kind);
  }

  /** Cuts all watches, as a server that ends does. */
  cut(): void {
    for (const response of this.#watches.keys()) response.destroy();
    this.#watches.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
  }

  #put(kind: Kind, object: KubeObject & Readonly<Record<string, unknown>>): void {
    const { namespace, name } = object.metadata;
    this.#version += 1;
    const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    this.#objects[kind].set(`${namespace}/${name}`, stamped);
    if (this.hidden.has(name)) return;
    for (const [response, watched] of this.#watches) {
      if (watched === kind) writeLine(response, { type: "ADDED", object: stamped });
    }
  }

  #serve(request: SeenRequest, response: ServerResponse): void {
    const mood = this.mood(request);
    if (mood === "silent") return;
    if (mood !== undefined) return refuse(response, mood, "Moody");
    const { pathname } = request.url;
    if (request.method === "PATCH") return this.#patch(request, response);
    if (pathname.includes("/events")) return this.#event(request, response);
    const [, kind, name] = /\/(pods|network-attachment-definitions)(?:\/([^/]+))?$/.exec(pathname) ?? [];
    if (kind === undefined) return refuse(response, 404, "NotFound");
    if (name === undefined) return this.#list(kind as Kind, request, response);
    const object = this.#objects[kind as Kind].get(`default/${name}`);
    if (object === undefined) return refuse(response, 404, "NotFound");
    answer(response, object);
  }

  #list(kind: Kind, { url }: SeenRequest, response: ServerResponse): void {
    // As a server before 1.34 answers.
    if (url.searchParams.has("sendInitialEvents")) return refuse(response, 422, "Invalid");
    if (url.searchParams.get("watch") !== null) {
      const from = Number(url.searchParams.get("resourceVersion"));
      response.writeHead(200, { "Content-Type": "application/json" });
      response.flushHeaders();
      this.#watches.set(response, kind);
      response.on("close", () => this.#watches.delete(response));
      // What came between the list and its watch must be told, as a real server does.
      for (const object of this.#shown(kind)) {
        if (Number(object.metadata.resourceVersion) > from) writeLine(response, { type: "ADDED", object });
      }
      return;
    }
    const items = this.#shown(kind);
    answer(response, { metadata: { resourceVersion: String(this.#version) }, items });
  }

  #patch({ url, body }: SeenRequest, response: ServerResponse): void {
    const pod = /\/pods\/([^/]+)(?:\/status)?$/.exec(url.pathname)?.[1] ?? "";
    const known = this.#objects.pods.get(`default/${pod}`);
    const patch = JSON.parse(body) as { metadata: { uid?: string; annotations?: Readonly<Record<string, string>> } };
    if (known === undefined) return refuse(response, 404, "NotFound");
    const { uid = known.metadata.uid } = patch.metadata;
    if (uid !== known.metadata.uid) return refuse(response, 409, "Precondition failed: UID in precondition");
    this.patches.push({ pod, body: patch });
    if (this.keepsPatches) this.pod(pod, { ...known.metadata.annotations, ...patch.metadata.annotations }, uid);
    answer(response, known);
  }

  #event({ method, body }: SeenRequest, response: ServerResponse): void {
    if (method === "GET") return answer(response, { items: this.events });
    this.events.push(JSON.parse(body) as Record<string, unknown>);
    answer(response, {}, 201);
  }

  #shown(kind: Kind): readonly KubeObject[] {
    return [...this.#objects[kind].values()].filter(({ metadata }) => !this.hidden.has(metadata.name));
  }

  #kubeconfig(): unknown {
    return {
      "apiVersion": "v1",
      "kind": "Config",
      "current-context": "lab",
      "clusters": [{ name: "lab", cluster: { server: this.url } }],
      "contexts": [{ name: "lab", context: { cluster: "lab", user: "" } }],
      "users": [],
    };
  }
}
