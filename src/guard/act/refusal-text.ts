import { KubeError } from "../../kube/client/api.ts";

/** The API server's reason for a refusal. Throws any other error again. */
export function refusalText(thrown: unknown): string {
  if (thrown instanceof KubeError && thrown.code === "api-refused" && (thrown.status ?? 0) < 500) return thrown.message;
  throw thrown;
}
