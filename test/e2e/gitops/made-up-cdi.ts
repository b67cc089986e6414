/**
 * Files of our own in the place of CDI's, which are not here: under its names, as far as apps/cdi/kustomization.yaml names
 * them, and with nothing of its text.
 */
export const cdiOperator = `apiVersion: v1
kind: Namespace
metadata:
  name: cdi
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: cdis.cdi.kubevirt.io
  annotations:
    example.com/made-by: its authors
    api-approved.kubernetes.io: unapproved, a stand-in for tests
spec:
  group: cdi.kubevirt.io
  names: { kind: CDI, listKind: CDIList, plural: cdis, singular: cdi }
  scope: Cluster
  versions:
    - name: v1beta1
      served: true
      storage: true
      subresources: { status: {} }
      schema:
        openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true }
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cdi-operator
  namespace: cdi
spec:
  replicas: 1
  selector: { matchLabels: { app: cdi-operator } }
  template:
    metadata: { labels: { app: cdi-operator } }
    spec:
      containers:
        - name: operator
          image: example.com/operator:v1.0.0
          env:
            - { name: CONTROLLER_IMAGE, value: "example.com/controller:v1.0.0" }
`;

export const cdiResource = `apiVersion: cdi.kubevirt.io/v1beta1
kind: CDI
metadata:
  name: cdi
spec: {}
`;
