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

{{/* No privileges, and nothing is written outside of volumes. */}}
{{- define "claudikins.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
