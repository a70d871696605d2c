{{- define "claudikins.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "claudikins.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: serve
{{- end -}}

{{- define "claudikins.labels" -}}
{{ include "claudikins.selector" . }}
{{ include "claudikins.commonLabels" . }}
{{- end -}}

{{- define "claudikins.commonLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The config, with the servers that are pods of their own. */}}
{{- define "claudikins.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $entries := $config.mcpServers | default dict -}}
{{- range $name, $server := .Values.servers -}}
{{- if hasKey $entries $name -}}
{{- fail (printf "servers.%s: config.mcpServers has a server of the same name" $name) -}}
{{- end -}}
{{- $url := printf "http://%s-%s:%v%s" (include "claudikins.name" $) $name $server.port ($server.path | default "/mcp") -}}
{{- $entries = set $entries $name (dict "url" $url) -}}
{{- end -}}
{{- set $config "mcpServers" $entries | toPrettyJson -}}
{{- end -}}

{{/* Not empty if more than one pod may run. Fails if these could not share what they need. */}}
{{- define "claudikins.areSeveral" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) -}}
{{- if not .Values.database.secret -}}
{{- fail "More than one replica needs a database: set database.secret to a secret with the address of a Postgres" -}}
{{- end -}}
{{- if not (include "claudikins.hasSharedFolder" .) -}}
{{- fail "More than one replica needs a data folder for all: set persistence.accessMode to ReadWriteMany, persistence.existingClaim to such a claim, or persistence.enabled to false" -}}
{{- end -}}
yes
{{- end -}}
{{- end -}}

{{/* Not empty if a second pod can have the data folder, or a folder of its own. */}}
{{- define "claudikins.hasSharedFolder" -}}
{{- with .Values.persistence -}}
{{- if or (not .enabled) .existingClaim (eq .accessMode "ReadWriteMany") -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{- define "claudikins.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{/* A volume with an address that is a secret. The argument has the name of the volume, and the secret and its key. */}}
{{- define "claudikins.addressVolume" -}}
name: {{ .name }}
secret:
  secretName: {{ .at.secret }}
  items: [{ key: {{ .at.key }}, path: {{ .at.key }} }]
  # Only the group of the volume may read it: 0440.
  defaultMode: 288
{{- end -}}

{{- define "claudikins.addressMount" -}}
{ name: {{ .name }}, mountPath: /etc/claudikins-{{ .name }}, readOnly: true }
{{- end -}}

{{- define "claudikins.addressFile" -}}
name: CLAUDIKINS_{{ upper .name }}_FILE
value: /etc/claudikins-{{ .name }}/{{ .at.key }}
{{- end -}}
