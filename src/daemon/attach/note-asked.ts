import type { AdmissionRequest } from "../../admission/request.ts";
import type { Call } from "../serve/call.ts";
import type { Ports } from "../ports.ts";

/** Leaves with a call what it asks admission for, so that its end can be told in full; returns the same. */
export function noteAsked(call: Call, request: AdmissionRequest, ports: Pick<Ports, "admission">): AdmissionRequest {
  call.asked = { request, attempt: (ports.admission.failuresOf(request.pod)?.failures ?? 0) + 1 };
  return request;
}
