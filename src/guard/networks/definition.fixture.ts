/** A NetworkAttachmentDefinition in the namespace prod, as the API server gives it. */
export function definition(name: string, config: object | string, metadata: object = {}): object {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: {
      namespace: "prod",
      name,
      uid: `uid-${name}`,
      resourceVersion: "11",
      creationTimestamp: "2026-05-01T10:00:00Z",
      ...metadata,
    },
    spec: { config: typeof config === "string" ? config : JSON.stringify(config) },
  };
}
