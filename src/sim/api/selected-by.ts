import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";

/** Which objects the selectors of a list or watch mean: `spec.nodeName` and `reason` of fields, equality of labels. */
export function selectedBy(url: URL): (object: JsonObject) => boolean {
  const [field, wanted = ""] = (url.searchParams.get("fieldSelector") ?? "").split("=");
  const label = /^([^=,]+)=([^=,]+)$/u.exec(url.searchParams.get("labelSelector") ?? "");
  return (object) => {
    if (field === "spec.nodeName" && textOf(objectOf(object["spec"])["nodeName"]) !== wanted) return false;
    if (field === "reason" && object["reason"] !== wanted) return false;
    const labels = objectOf(objectOf(object["metadata"])["labels"]);
    return label === null || labels[label[1] ?? ""] === label[2];
  };
}
