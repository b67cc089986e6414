import type { Document } from "yaml";
import { specHash } from "../../src/guard/approve/spec-hash.ts";

const head = `// Rendered by \`npm run deploy:render\` from deploy/policies. Edit those files.

/** The admission policies as shipped. A policy in the cluster with another hash of its spec is another policy. */
export const shippedPolicies: readonly {
  readonly kind: string;
  readonly name: string;
  readonly specHash: string;
}[] = [
`;

/** The source of src/guard/approve/shipped-policies.ts: the guard must know its policies without the files. */
export function shippedPoliciesSource(objects: readonly Document[]): string {
  const entries = objects.map((object) => {
    const { kind, metadata, spec } = object.toJS() as { kind: string; metadata: { name: string }; spec: unknown }; // ours
    return `  {\n    kind: "${kind}",\n    name: "${metadata.name}",\n    specHash: "${specHash(spec)}",\n  },\n`;
  });
  return `${head}${entries.join("")}];\n`;
}
