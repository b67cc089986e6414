import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { KubeApi } from "../../kube/client/api.ts";

/** Somebody whom the API server knows, with everything that an access review needs. */
export interface ReviewedUser {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: JsonObject;
}

/** What a viewer wants to do. */
export interface WantedAccess {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
}

const requestMs = 5_000;

/** Whose token this is; undefined for one that is not valid, or no longer. */
export async function reviewToken(api: KubeApi, token: string, signal: AbortSignal): Promise<ReviewedUser | undefined> {
  const status = await review(api, signal, {
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } },
  });
  const user = objectOf(status["user"]);
  if (status["authenticated"] !== true || textOf(user["username"]) === "") return undefined;
  return {
    username: textOf(user["username"]),
    uid: textOf(user["uid"]),
    groups: Array.isArray(user["groups"]) ? user["groups"].map(textOf) : [],
    extra: objectOf(user["extra"]),
  };
}

/** Whether the API server would let this user do that. */
export async function reviewAccess(
  api: KubeApi,
  user: ReviewedUser,
  { group, resource, verb, namespace }: WantedAccess,
  signal: AbortSignal,
): Promise<boolean> {
  const { username, uid, groups, extra } = user;
  const status = await review(api, signal, {
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user: username,
        ...(uid === "" ? {} : { uid }),
        groups,
        ...(Object.keys(extra).length === 0 ? {} : { extra }),
        resourceAttributes: { group, resource, verb, ...(namespace === "" ? {} : { namespace }) },
      },
    },
  });
  return status["allowed"] === true;
}

async function review(
  api: KubeApi,
  signal: AbortSignal,
  { path, body }: { readonly path: string; readonly body: object },
): Promise<JsonObject> {
  const text = await api.call({ method: "POST", path, body: JSON.stringify(body), deadlineMs: requestMs, signal });
  const answer: unknown = JSON.parse(text);
  return isObject(answer) ? objectOf(answer["status"]) : {};
}
