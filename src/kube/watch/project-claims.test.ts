import { expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import { projectPod, samePod } from "./project.ts";

function pod(spec: object, status: object) {
  const facts = projectPod({ metadata: { name: "web", namespace: "default" }, spec, status }, new SharedTexts());
  if (facts === undefined) throw new Error("no pod");
  return facts;
}

test("projectPod keeps no claims of a pod that has none", () => {
  expect("claims" in pod({}, {})).toBe(false);
  const rubbish = { resourceClaimStatuses: "x", extendedResourceClaimStatus: [] };
  expect("claims" in pod({ resourceClaims: [7, {}] }, rubbish)).toBe(false);
});

test("projectPod keeps the claims of the status in its order, then those that the spec names itself", () => {
  const spec = {
    resourceClaims: [
      { name: "own", resourceClaimName: "shared-vf" },
      { name: "b", resourceClaimTemplateName: "t" },
    ],
  };
  const status = { resourceClaimStatuses: [{ name: "b", resourceClaimName: "web-b-x1" }, { name: "none" }] };
  expect(pod(spec, status).claims).toEqual({
    refs: [
      { name: "b", claim: "web-b-x1", isInStatus: true },
      { name: "own", claim: "shared-vf", isInStatus: false },
    ],
  });
});

test("projectPod keeps the claim behind extended resources, and a change of claims is a change of the pod", () => {
  const requestMappings = [{ containerName: "c", resourceName: "intel.com/vf", requestName: "request-0" }];
  const extended = pod({}, { extendedResourceClaimStatus: { resourceClaimName: "web-ext", requestMappings } });
  expect(extended.claims?.extended).toEqual({
    claim: "web-ext",
    mappings: [{ resourceName: "intel.com/vf", request: "request-0" }],
  });
  expect(samePod(extended, pod({}, {}))).toBe(false);
  expect(samePod(extended, { ...extended, claims: structuredClone(extended.claims ?? { refs: [] }) })).toBe(true);
});
