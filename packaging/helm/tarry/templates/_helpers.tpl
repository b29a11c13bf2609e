{{- define "tarry.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "tarry.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "tarry.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "tarry.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "tarry.selector" -}}
app.kubernetes.io/name: {{ include "tarry.name" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "tarry.labels" -}}
{{ include "tarry.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "tarry.account" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "tarry.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "tarry.scheme" -}}
{{- if .Values.tls.existingSecret -}}https{{- else -}}http{{- end -}}
{{- end -}}

{{/* The names by which clients in the cluster call the service, and those of the values. */}}
{{- define "tarry.names" -}}
{{- $name := include "tarry.fullname" . -}}
{{- $inside := printf "%s.%s" $name .Release.Namespace -}}
{{- printf "%s,%s,%s.svc,%s.svc.cluster.local" $name $inside $inside $inside -}}
{{- range .Values.names }},{{ . }}{{ end -}}
{{- end -}}

{{/* What the schema cannot say: values that only together are wrong. */}}
{{- define "tarry.check" -}}
{{- if and (eq .Values.store.kind "redis") (not .Values.store.redis.url) (not .Values.store.redis.existingSecret) -}}
{{- fail "store.kind is redis: set store.redis.url, or store.redis.existingSecret for a URL with a password" -}}
{{- end -}}
{{- if and .Values.store.redis.url .Values.store.redis.existingSecret -}}
{{- fail "store.redis.url and store.redis.existingSecret are both set: remove one" -}}
{{- end -}}
{{- if not .Values.insecure -}}
{{- if not .Values.tls.existingSecret -}}
{{- fail "tls.existingSecret is empty: name a secret with tls.crt and tls.key, or set insecure=true to serve without TLS" -}}
{{- end -}}
{{- if not .Values.tokens.existingSecret -}}
{{- fail "tokens.existingSecret is empty: name a secret with a tokens file (tarry token new), or set insecure=true to serve everyone" -}}
{{- end -}}
{{- end -}}
{{- if and (not .Values.tls.existingSecret) (or .Values.tls.authority .Values.tls.clientAuthority) -}}
{{- fail "tls.authority and tls.clientAuthority need tls.existingSecret" -}}
{{- end -}}
{{- end -}}
