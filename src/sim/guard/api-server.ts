import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { apiRefusal } from "../api/api-errors.ts";
import { placeKey, resourcePlace, type ResourcePlace } from "../api/resource-place.ts";
import { selectedBy } from "../api/selected-by.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { SimTime } from "../time/sim-time.ts";
import { refusedWrite, type AdmittedWrite } from "./admission.ts";
import type { ApiUser, ServedRequest } from "./api-user.ts";
import { jsonPatched, mergedInto } from "./patch-object.ts";

/** A write that the server has accepted. */
export interface AcceptedWrite extends Omit<AdmittedWrite, "labelsOfNamespace" | "deleteUid"> {
  /** `namespace/name`. */
  readonly key: string;
  readonly subresource: string;
  readonly isDryRun: boolean;
  /** Whether something is different now. */
  readonly isChange: boolean;
  readonly sentMs: number;
}

interface ServerOptions {
  readonly api: SimApi;
  readonly time: SimTime;
  /** Called after each accepted write, before anybody hears of it. */
  readonly onWrite: (write: AcceptedWrite) => void;
}

/** The grace period of a pod. Whoever runs it removes it sooner. */
const graceSeconds = 30;
/** Resources whose status has a path of its own: a write without it leaves the status alone. */
const withStatus: ReadonlySet<string> = new Set(["decisions"]);

interface DeleteAsked {
  readonly uid: string;
  readonly isForced: boolean;
}

/** The API server of a simulated cluster as its writers see it: conflicts, preconditions, dry runs and admission. */
export class ApiServer {
  readonly #options: ServerOptions;
  #uids = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** The body of the answer. Throws the `KubeError` of a refusal. */
  answer(user: ApiUser, request: ServedRequest): string {
    const url = new URL(request.path, "http://localhost");
    const place = resourcePlace(url.pathname);
    if (this.#options.api.absent.has(place.resource)) throw apiRefusal(404, "NotFound");
    if (place.resource === "selfsubjectaccessreviews") return JSON.stringify({ status: { allowed: true } });
    if (request.method === "GET") return JSON.stringify(place.name === undefined ? this.#list(url) : this.#get(place));
    const body = objectOrList(request.body);
    const isDryRun = url.searchParams.has("dryRun") || objectOf(body)["dryRun"] !== undefined;
    return JSON.stringify(this.#write(user, place, { ...request, parsed: body, isDryRun }));
  }

  /** A write of the cluster itself, without conflicts. */
  change(user: ApiUser, resource: string, key: string, patch: object): void {
    const before = this.#options.api.get(resource, key);
    if (before === undefined) return;
    const after = mergedInto(before, patch) as JsonObject;
    this.#commit({ user, operation: "UPDATE", resource, before, after: generated(before, after), key });
  }

  #list(url: URL): object {
    const { api } = this.#options;
    const { resource, namespace } = resourcePlace(url.pathname);
    const isWanted = selectedBy(url);
    const items = api
      .objects(resource)
      .filter((object) => (namespace === "" || metadataOf(object)["namespace"] === namespace) && isWanted(object));
    return { metadata: { resourceVersion: String(api.version) }, items };
  }

  #get(place: ResourcePlace): JsonObject {
    const found = this.#options.api.get(place.resource, placeKey(place));
    if (found === undefined) throw apiRefusal(404, "NotFound");
    return found;
  }

  #write(
    user: ApiUser,
    place: ResourcePlace,
    request: ServedRequest & { readonly parsed: unknown; readonly isDryRun: boolean },
  ): JsonObject {
    const { resource } = place;
    const { parsed, isDryRun, sentMs } = request;
    const common = { user, resource, isDryRun, sentMs, subresource: place.subresource };
    if (request.method === "POST") {
      const after = this.#born(place, objectOf(parsed));
      const key = placeKey({ namespace: place.namespace, name: textOf(metadataOf(after)["name"]) });
      if (this.#options.api.get(resource, key) !== undefined) throw apiRefusal(409, "AlreadyExists");
      return this.#commit({ ...common, operation: "CREATE", before: undefined, after, key });
    }
    const before = this.#get(place);
    const key = placeKey(place);
    if (request.method === "DELETE") return this.#delete({ ...common, before, key }, deleteAsked(parsed));
    mustMatch(before, request.method === "PUT" || !Array.isArray(parsed) ? metadataOf(objectOf(parsed)) : {});
    const after = changed(before, parsed, request);
    if (after === undefined) throw apiRefusal(422, "Invalid", undefined, "a test of the patch does not hold");
    const kept = keptParts(before, after, place);
    return this.#commit({ ...common, operation: "UPDATE", before, after: generated(before, kept), key });
  }

  #born({ namespace, resource }: ResourcePlace, asked: JsonObject): JsonObject {
    const metadata = metadataOf(asked);
    const { [withStatus.has(resource) ? "status" : ""]: _status, ...kept } = asked;
    this.#uids += 1;
    const suffix = this.#uids.toString(36).padStart(5, "0");
    const name = textOf(metadata["name"]) || `${textOf(metadata["generateName"])}${suffix}`;
    const uid = `00000000-0000-4000-8000-${String(this.#uids).padStart(12, "0")}`;
    const creationTimestamp = new Date(this.#options.time.wallMs).toISOString().replace(/\.\d+Z$/u, "Z");
    const place = namespace === "" ? {} : { namespace };
    return { ...kept, metadata: { ...metadata, ...place, name, uid, creationTimestamp, generation: 1 } };
  }

  /** A pod goes when its node has ended it; everything else goes at once. */
  #delete(
    common: Omit<Commit, "operation" | "after"> & { before: JsonObject },
    { uid, isForced }: DeleteAsked,
  ): JsonObject {
    const { before, resource } = common;
    if (uid !== "" && uid !== metadataOf(before)["uid"]) throw apiRefusal(409, "Conflict");
    const isGraceful = resource === "pods" && !isForced;
    const deletionTimestamp =
      metadataOf(before)["deletionTimestamp"] ?? new Date(this.#options.time.wallMs).toISOString();
    const leaving = { metadata: { deletionTimestamp, deletionGracePeriodSeconds: graceSeconds } };
    const after = isGraceful ? (mergedInto(before, leaving) as JsonObject) : undefined;
    return this.#commit({ ...common, operation: "DELETE", after, deleteUid: uid });
  }

  #commit(asked: Commit): JsonObject {
    const usual = { isDryRun: false, deleteUid: "", sentMs: this.#options.time.nowMs, subresource: "" };
    const { isDryRun, deleteUid, sentMs, subresource, ...write } = { ...usual, ...asked };
    const { api, onWrite } = this.#options;
    const { resource, key, before, after } = write;
    const namespace = key.slice(0, key.indexOf("/"));
    const labelsOfNamespace = objectOf(metadataOf(api.get("namespaces", `/${namespace}`))["labels"]);
    mustBeAdmitted({ ...write, deleteUid, labelsOfNamespace });
    const isChange = JSON.stringify(before) !== JSON.stringify(after);
    if (!isDryRun && isChange && after === undefined) api.remove(resource, key);
    if (!isDryRun && isChange && after !== undefined) api.put(resource, after);
    onWrite({ ...write, subresource, isDryRun, isChange, sentMs });
    return api.get(resource, key) ?? after ?? before ?? {};
  }
}

function mustBeAdmitted(write: AdmittedWrite): void {
  const refused = refusedWrite(write);
  if (refused === undefined) return;
  throw apiRefusal(refused.status, refused.status === 403 ? "Forbidden" : "Invalid", undefined, refused.why);
}

type Commit = Omit<AcceptedWrite, "isChange" | "isDryRun" | "sentMs" | "subresource"> &
  Partial<Pick<AcceptedWrite, "isDryRun" | "sentMs" | "subresource">> & { readonly deleteUid?: string };

function objectOrList(body: string | undefined): unknown {
  return body === undefined || body === "" ? {} : JSON.parse(body);
}

/** An object or a resourceVersion that the writer did not mean. */
function mustMatch(before: JsonObject, { uid, resourceVersion }: JsonObject): void {
  const now = metadataOf(before);
  if (uid !== undefined && uid !== now["uid"]) throw apiRefusal(409, "Conflict");
  if (resourceVersion !== undefined && resourceVersion !== now["resourceVersion"]) throw apiRefusal(409, "Conflict");
}

function changed(before: JsonObject, parsed: unknown, { method }: ServedRequest): JsonObject | undefined {
  if (Array.isArray(parsed)) return jsonPatched(before, parsed);
  const object = objectOf(parsed);
  if (method !== "PUT") return mergedInto(before, object) as JsonObject;
  return { ...object, metadata: { ...metadataOf(before), ...metadataOf(object) } };
}

/** The status changes by its own path only, and nothing else does by that. */
function keptParts(before: JsonObject, after: JsonObject, { resource, subresource }: ResourcePlace): JsonObject {
  const metadata = { ...metadataOf(after), resourceVersion: metadataOf(before)["resourceVersion"] };
  if (subresource === "status") return { ...before, metadata, status: after["status"] };
  return withStatus.has(resource) ? { ...after, metadata, status: before["status"] } : { ...after, metadata };
}

/** Counts changes of the spec. */
function generated(before: JsonObject, after: JsonObject): JsonObject {
  if (JSON.stringify(before["spec"]) === JSON.stringify(after["spec"])) return after;
  const generation = Number(metadataOf(before)["generation"] ?? 1) + 1;
  return { ...after, metadata: { ...metadataOf(after), generation } };
}

function deleteAsked(body: unknown): DeleteAsked {
  const options = objectOf(body);
  return { uid: textOf(objectOf(options["preconditions"])["uid"]), isForced: options["gracePeriodSeconds"] === 0 };
}

function metadataOf(object: JsonObject | undefined): JsonObject {
  return objectOf(object?.["metadata"]);
}
