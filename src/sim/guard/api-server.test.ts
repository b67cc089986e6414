import { beforeEach, expect, test } from "bun:test";
import { kubeStatusOf } from "../../kube/client/api.ts";
import { objectOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { SimApi } from "../api/sim-api.ts";
import { SimTime } from "../time/sim-time.ts";
import { ApiServer, type AcceptedWrite } from "./api-server.ts";
import type { ApiUser } from "./api-user.ts";

const guard: ApiUser = { account: "guard", name: "guard-0-1" };
const tenant: ApiUser = { account: "tenant", name: "operator" };
const person: ApiUser = { account: "person", name: "alice" };
const pods = "/api/v1/namespaces/shop/pods";
const decisions = "/apis/levee.dev/v1alpha1/namespaces/levee-system/decisions";

let server: ApiServer;
let writes: AcceptedWrite[];

beforeEach(() => {
  const time = new SimTime();
  writes = [];
  server = new ApiServer({ api: new SimApi(time, () => undefined), time, onWrite: (write) => writes.push(write) });
});

function send(user: ApiUser, method: string, path: string, body: object = {}): JsonObject {
  const request = { method, path, body: JSON.stringify(body), sentMs: 0 };
  return objectOf(JSON.parse(server.answer(user, request)));
}

function statusOf(user: ApiUser, method: string, path: string, body: object = {}): number | undefined {
  try {
    send(user, method, path, body);
    return 200;
  } catch (thrown) {
    return kubeStatusOf(thrown);
  }
}

function metadataOf(object: JsonObject): JsonObject {
  return objectOf(object["metadata"]);
}

function pod(spec: object = {}, metadata: object = {}): object {
  return { metadata: { name: "a", ...metadata }, spec: { nodeName: "n", ...spec }, status: { phase: "Pending" } };
}

test("a write of an older version, of another object, or of nothing is refused", () => {
  const made = send(tenant, "POST", pods, pod());
  expect(statusOf(tenant, "POST", pods, pod())).toBe(409);
  expect(statusOf(tenant, "PATCH", `${pods}/a`, { metadata: { resourceVersion: "1" } })).toBe(409);
  expect(statusOf(tenant, "PATCH", `${pods}/a`, { metadata: { uid: "other" } })).toBe(409);
  expect(statusOf(tenant, "PATCH", `${pods}/b`, {})).toBe(404);
  const { resourceVersion } = metadataOf(made);
  expect(statusOf(tenant, "PATCH", `${pods}/a`, { metadata: { resourceVersion }, spec: { x: 1 } })).toBe(200);
  expect(metadataOf(send(tenant, "GET", `${pods}/a`))["generation"]).toBe(2);
});

test("a dry run is admitted or refused, and changes nothing", () => {
  const { uid } = metadataOf(send(tenant, "POST", pods, pod()));
  send(guard, "DELETE", `${pods}/a`, { preconditions: { uid }, dryRun: ["All"] });
  expect(metadataOf(send(tenant, "GET", `${pods}/a`))["deletionTimestamp"]).toBeUndefined();
  expect(writes.at(-1)).toMatchObject({ isDryRun: true, operation: "DELETE" });
});

test("the guard deletes by UID, and only what has no owner and never ran", () => {
  const { uid } = metadataOf(send(tenant, "POST", pods, pod()));
  expect(statusOf(guard, "DELETE", `${pods}/a`)).toBe(403);
  expect(statusOf(guard, "DELETE", `${pods}/a`, { preconditions: { uid: "other" } })).toBe(409);
  send(tenant, "PATCH", `${pods}/a`, { status: { phase: "Running" } });
  expect(statusOf(guard, "DELETE", `${pods}/a`, { preconditions: { uid } })).toBe(403);
  send(tenant, "PATCH", `${pods}/a`, { status: { phase: "Pending" } });
  expect(statusOf(guard, "DELETE", `${pods}/a`, { preconditions: { uid } })).toBe(200);
  expect(metadataOf(send(tenant, "GET", `${pods}/a`))["deletionTimestamp"]).toBeString();
  const owned = pod({}, { name: "b", ownerReferences: [{ kind: "Job", name: "j" }] });
  const { uid: other } = metadataOf(send(tenant, "POST", pods, owned));
  expect(statusOf(guard, "DELETE", `${pods}/b`, { preconditions: { uid: other } })).toBe(403);
});

test("only the guard writes Decisions, a person approves, and an older leader is refused", () => {
  expect(statusOf(tenant, "POST", decisions, { metadata: { name: "d" }, spec: {} })).toBe(403);
  const made = send(guard, "POST", decisions, {
    metadata: { name: "d" },
    spec: { a: 1 },
    status: { phase: "Approved" },
  });
  expect(made["status"]).toBeUndefined();
  const status = { phase: "Running", fence: 2, leader: "guard-0-1" };
  expect(statusOf(guard, "PATCH", `${decisions}/d/status`, { status })).toBe(200);
  expect(statusOf(guard, "PATCH", `${decisions}/d/status`, { status: { ...status, fence: 1 } })).toBe(422);
  expect(statusOf(guard, "PATCH", `${decisions}/d/status`, { status: { ...status, leader: "guard-1-1" } })).toBe(422);
  expect(statusOf(guard, "PATCH", `${decisions}/d`, { spec: { a: 2 } })).toBe(422);
  const words = "/apis/levee.dev/v1alpha1/namespaces/levee-system/decisionapprovals";
  expect(statusOf(tenant, "POST", words, { metadata: { name: "w" }, spec: {} })).toBe(403);
  expect(statusOf(person, "POST", words, { metadata: { name: "w" }, spec: {} })).toBe(200);
});

test("a tenant's pod needs an owner where the source was stopped", () => {
  send(person, "POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
  expect(statusOf(tenant, "POST", pods, pod({}, { name: "before" }))).toBe(200);
  const stop = { metadata: { labels: { "levee.dev/ownerless-pods": "deny" } } };
  expect(statusOf(guard, "PATCH", "/api/v1/namespaces/shop", stop)).toBe(200);
  expect(statusOf(tenant, "POST", pods, pod({}, { name: "after" }))).toBe(403);
  expect(statusOf(guard, "PATCH", "/api/v1/namespaces/shop", { metadata: { labels: { other: "1" } } })).toBe(403);
});
