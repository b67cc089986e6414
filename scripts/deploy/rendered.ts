import type { Document } from "yaml";
import { alertFiles } from "./alerts.ts";
import { shippedDefinitionsSource } from "./shipped-definitions.ts";
import { shippedPoliciesSource } from "./shipped-policies.ts";
import { readKustomization, renderFolder, type Image, type Read } from "./kustomization.ts";

const note = "# Rendered by `npm run deploy:render` from the folders beside this file. Edit those.\n";

/** Every rendered file with its text. All of them take the image from deploy/base. */
export function renderedFiles(read: Read): ReadonlyMap<string, string> {
  const image = imageOf(read);
  const guard = manifest(renderFolder("deploy/guard", read));
  return new Map([
    ["deploy/install.yaml", manifest(renderFolder("deploy/base", read))],
    ["deploy/multus-drop-in.yaml", manifest(renderFolder("deploy/overlays/multus-drop-in", read))],
    ["deploy/uninstall.yaml", manifest(renderFolder("deploy/overlays/uninstall", read))],
    ["deploy/guard.yaml", guard],
    ["deploy/helm/levee/templates/guard.yaml", guardTemplate(guard, image)],
    ["src/guard/approve/shipped-policies.ts", shippedPoliciesSource(renderFolder("deploy/policies", read))],
    ["src/guard/approve/shipped-definitions.ts", shippedDefinitionsSource(renderFolder("deploy/crd", read))],
    ...crds.map((name): [string, string] => [`deploy/helm/levee/crds/${name}`, read(`deploy/crd/${name}`) ?? ""]),
    [valuesFile, withImage(read(valuesFile) ?? "", image)],
    [componentFile, withImage(read(componentFile) ?? "", image)],
    [guardFile, withImage(read(guardFile) ?? "", image)],
    ["deploy/air-gap.txt", airGap(image)],
    ...alertFiles(read),
  ]);
}

const crds = ["network-attachment-definition.yaml", "decision.yaml", "decision-approval.yaml"];
const guardFile = "deploy/guard/kustomization.yaml";
const componentFile = "deploy/components/back-to-multus/kustomization.yaml";
const valuesFile = "deploy/helm/levee/values.yaml";

export function imageOf(read: Read): Image {
  const [image, ...others] = readKustomization("deploy/base", read).images ?? [];
  if (image === undefined || others.length > 0) throw new Error("Cannot render: deploy/base must name one image");
  return image;
}

function manifest(objects: readonly Document[]): string {
  return note + objects.map((object) => `---\n${object.toString({ lineWidth: 0, directives: false })}`).join("");
}

/** The guard's manifest for the chart, which takes image, pull secrets and API server from its values. */
function guardTemplate(guard: string, { newName, digest }: Image): string {
  const text = guard
    .replace(`image: ${newName}@${digest}\n`, guardImage + guardArgs + api)
    .replace(/^ +- name: git-credentials-0\n +mountPath: .*\n +readOnly: true\n/mu, gitMounts + extraMounts)
    .replace(/^ +- name: git-credentials-0\n +secret:\n(?: {12}.*\n)+/mu, gitVolumes + extraVolumes)
    .replace("      priorityClassName: system-cluster-critical\n", (line) => line + pullSecrets);
  return `{{- if .Values.guard.enabled }}\n${text}{{- end }}\n`;
}

/** The guard's own image has git. Without one the guard runs from the daemon's image and locks nothing. */
const guardImage = `image: "{{ .Values.guard.image.repository | default .Values.image.repository }}@{{ .Values.guard.image.digest | default .Values.image.digest }}"\n`;
const gitMounts = `            {{- range $index, $secret := include "levee.gitSecrets" . | fromJsonArray }}
            - name: git-credentials-{{ $index }}
              mountPath: /etc/levee-git/{{ $secret }}
              readOnly: true
            {{- end }}
`;
const gitVolumes = `        {{- range $index, $secret := include "levee.gitSecrets" . | fromJsonArray }}
        - name: git-credentials-{{ $index }}
          secret:
            secretName: {{ $secret }}
            optional: true
            defaultMode: 288
        {{- end }}
`;
/** For the files that `token=` and `ca=` of an Alertmanager name. */
const extraMounts = `            {{- with .Values.guard.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
`;
const extraVolumes = `        {{- with .Values.guard.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
`;
const api = `          {{- with .Values.kubernetesApi.host }}
          env:
            - name: KUBERNETES_SERVICE_HOST
              value: {{ . | quote }}
            - name: KUBERNETES_SERVICE_PORT
              value: {{ int $.Values.kubernetesApi.port | quote }}
          {{- end }}
`;
const guardArgs = `          {{- with .Values.guard }}
          {{- if or .cluster .alertmanagers .cniDaemons .git.repositories }}
          args:
            {{- with .cluster }}
            - {{ printf "--cluster=%s" . | quote }}
            {{- end }}
            {{- range .alertmanagers }}
            - {{ printf "--alertmanager=%s" . | quote }}
            {{- end }}
            {{- range .cniDaemons }}
            - {{ printf "--cni-daemon=%s" . | quote }}
            {{- end }}
            {{- range .git.repositories }}
            - {{ printf "--git-repository=%s" (include "levee.gitRepository" .) | quote }}
            {{- end }}
          {{- end }}
          {{- end }}
`;
const pullSecrets = `      {{- with .Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
`;

function withImage(values: string, image: Image): string {
  return values
    .replace(/^( +(?:repository|newName)): .*$/mu, `$1: ${image.newName}`)
    .replace(/^( +digest): .*$/mu, `$1: ${image.digest}`);
}

/** The images and files for a cluster without internet access, one per line. */
function airGap(image: Image): string {
  return [
    "# The images and files to copy into a network without internet access. Rendered by `npm run deploy:render`.",
    "# Images to mirror, by digest",
    `${image.newName}@${image.digest}`,
    "# `npm run image` makes it (dist/image/levee.oci.tar); for a guard that locks limits in git also levee-guard.oci.tar",
    "# Files of this repository",
    "deploy/crd/",
    "deploy/install.yaml",
    "deploy/multus-drop-in.yaml",
    "deploy/uninstall.yaml",
    "deploy/guard.yaml",
    "deploy/alerts/",
    "deploy/base/",
    "deploy/components/",
    "deploy/overlays/",
    "deploy/guard/",
    "deploy/policies/",
    "deploy/plugin/",
    "deploy/helm/levee/",
    "dist/sbom.spdx.json",
    "",
  ].join("\n");
}
