import { KubeError } from "../../kube/client/api.ts";

/** Why the server said no, for people; what is no answer of it is thrown on. */
export function refusalText(thrown: unknown): string {
  if (thrown instanceof KubeError && thrown.code === "api-refused" && (thrown.status ?? 0) < 500) return thrown.message;
  throw thrown;
}
