import type { Document } from "yaml";
import { definitionHash } from "../../src/guard/approve/spec-hash.ts";

const head = `// Rendered by \`npm run deploy:render\` from deploy/crd. Edit those files.

/** Our own definitions as shipped, each with the hash over everything that the API server enforces. */
export const shippedDefinitions: readonly { readonly name: string; readonly hash: string }[] = [
`;

/** The source of src/guard/approve/shipped-definitions.ts, which compares a cluster's definitions without the files. */
export function shippedDefinitionsSource(objects: readonly Document[]): string {
  const entries = objects
    .map((object) => object.toJS() as { metadata: { name: string } }) // ours
    .filter(({ metadata }) => metadata.name.endsWith(".levee.dev"))
    .map((object) => `  {\n    name: "${object.metadata.name}",\n    hash: "${definitionHash(object)}",\n  },\n`);
  return `${head}${entries.join("")}];\n`;
}
