{{/* The pod of the StatefulSet and of the Deployment. */}}
{{- define "tarry.pod" -}}
{{- include "tarry.check" . -}}
metadata:
  labels:
    {{- include "tarry.selector" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ .Values.config | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "tarry.account" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65534
    runAsGroup: 65534
    fsGroup: 65534
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  containers:
    - name: tarry
      image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      env:
        {{- include "tarry.env" . | nindent 8 }}
        {{- with .Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - {name: {{ include "tarry.scheme" . }}, containerPort: 7733}
        {{- if .Values.sqs.enabled }}
        - {name: sqs, containerPort: 9324}
        {{- end }}
        {{- if .Values.beanstalk.enabled }}
        - {name: beanstalk, containerPort: 11300}
        {{- end }}
      {{- include "tarry.probes" . | nindent 6 }}
      resources: {{ toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/tarry, readOnly: true}
        - {name: run, mountPath: /run/tarry}
        {{- if eq .Values.store.kind "file" }}
        - {name: data, mountPath: /var/lib/tarry}
        {{- end }}
        {{- if .Values.tls.existingSecret }}
        - {name: tls, mountPath: /run/secrets/tls, readOnly: true}
        {{- end }}
        {{- if .Values.tokens.existingSecret }}
        - {name: tokens, mountPath: /run/secrets/tokens, readOnly: true}
        {{- end }}
        {{- with .Values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "tarry.fullname" . }}}
    - name: run
      emptyDir: {medium: Memory, sizeLimit: 1Mi}
    {{- with .Values.tls.existingSecret }}
    - name: tls
      secret: {secretName: {{ . | quote }}, defaultMode: 0440}
    {{- end }}
    {{- with .Values.tokens.existingSecret }}
    - name: tokens
      secret: {secretName: {{ . | quote }}, defaultMode: 0440}
    {{- end }}
    {{- with .Values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* The settings that the chart makes, as variables: they win over the file of `config`. */}}
{{- define "tarry.env" -}}
- {name: TARRY_CONFIG, value: /etc/tarry/tarry.toml}
{{- if eq .Values.store.kind "file" }}
- {name: TARRY_STORE, value: {{ printf "file:/var/lib/tarry/store%s" .Values.store.file.options | quote }}}
{{- else if .Values.store.redis.existingSecret }}
- name: TARRY_STORE
  valueFrom:
    secretKeyRef: {name: {{ .Values.store.redis.existingSecret | quote }}, key: {{ .Values.store.redis.key | quote }}}
{{- else }}
- {name: TARRY_STORE, value: {{ .Values.store.redis.url | quote }}}
{{- end }}
- {name: TARRY_LISTEN, value: {{ printf "%s,unix:/run/tarry/tarry.sock" .Values.listen | quote }}}
{{- if .Values.sqs.enabled }}
- {name: TARRY_SQS, value: {{ .Values.listen | replace "7733" "9324" | quote }}}
{{- with .Values.sqs.keys }}
- {name: TARRY_SQS_KEYS_FILE, value: {{ printf "/run/secrets/tokens/%s" . | quote }}}
{{- end }}
{{- end }}
{{- if .Values.beanstalk.enabled }}
- {name: TARRY_BEANSTALK, value: {{ .Values.listen | replace "7733" "11300" | quote }}}
{{- end }}
- {name: TARRY_NAMES, value: {{ include "tarry.names" . | quote }}}
- {name: TARRY_LOG_LEVEL, value: {{ .Values.log.level }}}
- {name: TARRY_LOG_FORMAT, value: {{ .Values.log.format }}}
{{- if .Values.insecure }}
- {name: TARRY_INSECURE, value: "true"}
{{- end }}
{{- if .Values.tokens.existingSecret }}
- {name: TARRY_TOKENS_FILE, value: {{ printf "/run/secrets/tokens/%s" .Values.tokens.key | quote }}}
{{- end }}
{{- if .Values.tls.existingSecret }}
- {name: TARRY_TLS_CERT, value: /run/secrets/tls/tls.crt}
- {name: TARRY_TLS_KEY, value: /run/secrets/tls/tls.key}
{{- end }}
{{- with .Values.tls.authority }}
- {name: SSL_CERT_FILE, value: {{ printf "/run/secrets/tls/%s" . | quote }}}
{{- end }}
{{- with .Values.tls.clientAuthority }}
- {name: TARRY_TLS_CLIENT_CA, value: {{ printf "/run/secrets/tls/%s" . | quote }}}
{{- end }}
{{- end -}}

{{/* The kubelet has no certificate: if the server demands one, the probes use its unix socket. */}}
{{- define "tarry.probes" -}}
{{- $port := include "tarry.scheme" . -}}
{{- $scheme := upper $port -}}
{{- if .Values.tls.clientAuthority -}}
{{- $health := "[/usr/bin/tarry, --store, 'http+unix:///run/tarry/tarry.sock', health]" -}}
startupProbe:
  exec: {command: {{ $health }}}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 120
livenessProbe:
  tcpSocket: {port: {{ $port }}}
readinessProbe:
  exec: {command: {{ $health }}}
  periodSeconds: 5
  timeoutSeconds: 5
{{- else -}}
startupProbe:
  httpGet: {path: /readyz, port: {{ $port }}, scheme: {{ $scheme }}}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet: {path: /healthz, port: {{ $port }}, scheme: {{ $scheme }}}
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: {{ $port }}, scheme: {{ $scheme }}}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}
{{- end -}}
