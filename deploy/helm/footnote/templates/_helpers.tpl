{{- define "footnote.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{- define "footnote.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "footnote.selector" . }}
{{- end }}

{{- define "footnote.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "footnote.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "footnote.hasRedis" -}}
{{- if or .Values.redis.create .Values.redis.url .Values.redis.existingSecret }}yes{{ end -}}
{{- end }}

{{- define "footnote.hasQdrant" -}}
{{- if or .Values.qdrant.create .Values.qdrant.url }}yes{{ end -}}
{{- end }}

{{- /* One bot whose index or store is in its own data folder: only one process may have that. */ -}}
{{- define "footnote.ownsData" -}}
{{- if not (and (include "footnote.hasRedis" .) (include "footnote.hasQdrant" .)) }}yes{{ end -}}
{{- end }}

{{- define "footnote.redisEnv" -}}
{{- if .Values.redis.create }}
- name: REDIS_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ .Values.redis.existingSecret }}, key: REDIS_PASSWORD}}
- name: REDIS_URL
  value: redis://:$(REDIS_PASSWORD)@{{ include "footnote.name" . }}-redis:6379/0
{{- else if .Values.redis.existingSecret }}
- name: REDIS_URL
  valueFrom: {secretKeyRef: {name: {{ .Values.redis.existingSecret }}, key: REDIS_URL}}
{{- else if .Values.redis.url }}
- name: REDIS_URL
  value: {{ .Values.redis.url | quote }}
{{- end }}
{{- end }}

{{- define "footnote.qdrantEnv" -}}
{{- if include "footnote.hasQdrant" . }}
- name: QDRANT_URL
  value: {{ .Values.qdrant.url | default (printf "http://%s-qdrant:6333" (include "footnote.name" .)) | quote }}
{{- if .Values.qdrant.existingSecret }}
- name: QDRANT_API_KEY
  valueFrom: {secretKeyRef: {name: {{ .Values.qdrant.existingSecret }}, key: QDRANT_API_KEY}}
{{- end }}
{{- end }}
{{- end }}

{{- /* As many threads as cores are given; without a limit as many as the node has. */ -}}
{{- define "footnote.threadsEnv" -}}
{{- if dig "limits" "cpu" "" . }}
- name: FOOTNOTE_EMBED__THREADS
  valueFrom: {resourceFieldRef: {resource: limits.cpu}}
- name: FOOTNOTE_RERANK__THREADS
  valueFrom: {resourceFieldRef: {resource: limits.cpu}}
{{- end }}
{{- end }}

{{- define "footnote.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "footnote.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "footnote.placement" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "footnote.metadata" -}}
{{- /* Of one component: (list . "bot"); all of them but the bot have it in their names. */ -}}
{{- $top := index . 0 }}{{ $component := index . 1 -}}
name: {{ include "footnote.name" $top }}{{ if ne $component "bot" }}-{{ $component }}{{ end }}
namespace: {{ $top.Release.Namespace }}
labels:
  {{- include "footnote.labels" $top | nindent 2 }}
  app.kubernetes.io/component: {{ $component }}
{{- end }}

{{- define "footnote.of" -}}
{{- $top := index . 0 -}}
{{ include "footnote.selector" $top }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "footnote.refusals" -}}
{{- if not .Values.existingSecret }}
{{- fail "existingSecret: name the Secret with SLACK_BOT_TOKEN, and SLACK_APP_TOKEN or SLACK_SIGNING_SECRET" }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not (include "footnote.hasRedis" .)) }}
{{- fail (printf "replicas: %d bots need a Redis that they share: set redis.url, redis.existingSecret or redis.create" (int .Values.replicas)) }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not (include "footnote.hasQdrant" .)) }}
{{- fail (printf "replicas: %d bots need a Qdrant server that they share: set qdrant.url or qdrant.create" (int .Values.replicas)) }}
{{- end }}
{{- if and (gt (int .Values.workers.replicas) 0) (not (include "footnote.hasRedis" .)) }}
{{- fail "workers.replicas: workers meet the bot in Redis: set redis.url, redis.existingSecret or redis.create" }}
{{- end }}
{{- if and .Values.redis.create .Values.redis.url }}
{{- fail "redis: either `create` one or name the `url` of yours" }}
{{- end }}
{{- if and .Values.redis.url .Values.redis.existingSecret }}
{{- fail "redis: the url is read from the Secret's REDIS_URL: set either `url` or `existingSecret`" }}
{{- end }}
{{- if and .Values.redis.create (not .Values.redis.existingSecret) }}
{{- fail "redis.existingSecret: name the Secret with a REDIS_PASSWORD for the Redis that is created: conversations are kept there" }}
{{- end }}
{{- if and .Values.qdrant.create .Values.qdrant.url }}
{{- fail "qdrant: either `create` one or name the `url` of yours" }}
{{- end }}
{{- if and .Values.qdrant.create (not .Values.qdrant.existingSecret) }}
{{- fail "qdrant.existingSecret: name the Secret with a QDRANT_API_KEY for the Qdrant that is created: your pages are kept there" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host: name the host of Slack's events, or of the API" }}
{{- end }}
{{- if and .Values.ingress.enabled (not (or .Values.slack.http .Values.ingress.api)) }}
{{- fail "ingress: Socket Mode needs none; set slack.http for Slack's events, or ingress.api for the API" }}
{{- end }}
{{- if lt (int .Values.terminationGracePeriodSeconds) (add 50 (int .Values.preStopSeconds) | int) }}
{{- fail "terminationGracePeriodSeconds: a stop takes 50 s at most, after preStopSeconds: allow for both" }}
{{- end }}
{{- end }}

{{- define "footnote.hosts" -}}
{{- $name := include "footnote.name" . -}}
{{- $within := printf "%s.%s" $name .Release.Namespace -}}
{{- $hosts := list "$(POD_IP)" $name $within (printf "%s.svc" $within) (printf "%s.svc.cluster.local" $within) -}}
{{- if and .Values.ingress.enabled .Values.ingress.api }}{{ $hosts = append $hosts .Values.ingress.host }}{{ end -}}
{{- concat $hosts .Values.api.hosts | uniq | join "," -}}
{{- end }}
