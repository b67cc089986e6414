import { alertFiles } from "./alerts.ts";
import { gitopsFiles } from "./gitops.ts";
import { grafanaFiles } from "./grafana/grafana-files.ts";
import { manifest } from "./manifest.ts";
import { shippedDefinitionsSource } from "./shipped-definitions.ts";
import { shippedPoliciesSource } from "./shipped-policies.ts";
import { readKustomization, renderFolder, type Image, type Read } from "./kustomization.ts";
import { readUnmarked } from "./unreleased.ts";

const note =
  "# Rendered by `npm run deploy:render` from the folders beside this file. Edit those. Apply the file of a release instead.\n";

/** Every rendered file with its text. All of them take the image from deploy/base. */
export function renderedFiles(read: Read): ReadonlyMap<string, string> {
  const image = imageOf(read);
  const guard = manifest(note, renderFolder("deploy/guard", read));
  const monitoring = new Map([...alertFiles(read), ...grafanaFiles(read)]);
  const unmarkedGuard = manifest(note, renderFolder("deploy/guard", readUnmarked(read)));
  return new Map([
    ["deploy/install.yaml", manifest(note, renderFolder("deploy/base", read))],
    ["deploy/multus-drop-in.yaml", manifest(note, renderFolder("deploy/overlays/multus-drop-in", read))],
    ["deploy/uninstall.yaml", manifest(note, renderFolder("deploy/overlays/uninstall", read))],
    ["deploy/guard.yaml", guard],
    ["deploy/helm/levee/templates/guard.yaml", guardTemplate(unmarkedGuard, image)],
    ["src/guard/approve/shipped-policies.ts", shippedPoliciesSource(renderFolder("deploy/policies", read))],
    ["src/guard/approve/shipped-definitions.ts", shippedDefinitionsSource(renderFolder("deploy/crd", read))],
    ...crds.map((name): [string, string] => [`deploy/helm/levee/crds/${name}`, read(`deploy/crd/${name}`) ?? ""]),
    [valuesFile, withImage(read(valuesFile) ?? "", image)],
    [componentFile, withImage(read(componentFile) ?? "", image)],
    [guardFile, withImage(read(guardFile) ?? "", image)],
    ...monitoring,
    // The alerts and boards among its sources are rendered themselves.
    ...gitopsFiles((path) => monitoring.get(path) ?? read(path)),
  ]);
}

const crds = [
  "network-attachment-definition.yaml",
  "decision.yaml",
  "decision-approval.yaml",
  "reboot-gate.yaml",
  "reboot-exception.yaml",
  "network-readiness.yaml",
  "network-dry-run.yaml",
];
const guardFile = "deploy/guard/kustomization.yaml";
const componentFile = "deploy/components/back-to-multus/kustomization.yaml";
const valuesFile = "deploy/helm/levee/values.yaml";

export function imageOf(read: Read): Image {
  const [image, ...others] = readKustomization("deploy/base", read).images ?? [];
  if (image === undefined || others.length > 0) throw new Error("Cannot render: deploy/base must name one image");
  return image;
}

/** The guard's manifest for the chart, which takes image, pull secrets and API server from its values. */
function guardTemplate(guard: string, { newName, digest }: Image): string {
  const text = guard
    .replace("  replicas: 2\n", "  replicas: {{ int .Values.guard.replicas }}\n")
    .replace(`image: ${newName}@${digest}\n`, guardImage + guardArgs + api)
    // The chart's values name the doors.
    .replace(/^ +args: \[ --gate-door=label \]\n/mu, "")
    .replace(/^ +- name: git-credentials-0\n +mountPath: .*\n +readOnly: true\n/mu, gitMounts + extraMounts)
    .replace(/^ +- name: git-credentials-0\n +secret:\n(?: {12}.*\n)+/mu, gitVolumes + extraVolumes)
    .replace("      priorityClassName: system-cluster-critical\n", (line) => line + pullSecrets);
  return `{{- if .Values.guard.enabled }}\n${text}{{- end }}\n`;
}

/** Only a guard with repositories gets the image that has git, a shell and ssh. */
const guardImage = `image: "{{ include "levee.guardImage" . }}"\n`;
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
          {{- if or .cluster .alertmanagers .cniDaemons .verifyUrls .prometheus .lowerAfter .git.repositories .gate.doors .gate.window .gate.kured (ne (int .gate.atOnce) 1) (ne (int .gate.expirySeconds) 120) }}
          args:
            {{- range .gate.doors }}
            - {{ printf "--gate-door=%s" . | quote }}
            {{- end }}
            {{- with .gate.window }}
            - {{ printf "--reboot-window=%s" . | quote }}
            {{- end }}
            {{- range .gate.kured }}
            - {{ printf "--kured=%s" . | quote }}
            {{- end }}
            {{- if ne (int .gate.atOnce) 1 }}
            - {{ printf "--gate-at-once=%d" (int .gate.atOnce) | quote }}
            {{- end }}
            {{- if ne (int .gate.expirySeconds) 120 }}
            - {{ printf "--gate-expiry=%d" (int .gate.expirySeconds) | quote }}
            {{- end }}
            {{- with .cluster }}
            - {{ printf "--cluster=%s" . | quote }}
            {{- end }}
            {{- range .alertmanagers }}
            - {{ printf "--alertmanager=%s" . | quote }}
            {{- end }}
            {{- range .cniDaemons }}
            - {{ printf "--cni-daemon=%s" . | quote }}
            {{- end }}
            {{- range .verifyUrls }}
            - {{ printf "--verify-url=%s" . | quote }}
            {{- end }}
            {{- with .prometheus }}
            - {{ printf "--prometheus=%s" . | quote }}
            {{- end }}
            {{- with .lowerAfter }}
            - {{ printf "--lower-after=%v" . | quote }}
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

/** The text of a kustomization or of the chart's values with another image. */
export function withImage(values: string, image: Pick<Image, "newName" | "digest">): string {
  return values
    .replace(/^( +(?:repository|newName)): .*$/mu, `$1: ${image.newName}`)
    .replace(/^( +digest): .*$/mu, `$1: ${image.digest}`);
}
