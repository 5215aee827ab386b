{{/* The first part of names. A release may begin with a digit and have dots; the name of a Service may not. */}}
{{- define "mnemic.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- if regexMatch "^[0-9]" .Release.Name }}{{ $full = printf "%s-%s" $name .Release.Name }}{{ end }}
{{- default $full .Values.fullnameOverride | replace "." "-" | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* The Secret that the chart makes of gateway.keys: not a name that somebody would give one of their own. */}}
{{- define "mnemic.keysSecret" -}}
{{ include "mnemic.fullname" . }}-gateway-keys
{{- end }}

{{- define "mnemic.serviceAccountName" -}}
{{- default (ternary (include "mnemic.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- define "mnemic.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{/* What does not change in the life of an object. Takes root and component. */}}
{{- define "mnemic.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component | quote }}
{{- end }}

{{/* Each label once, whoever gives it: what selects stays as it is, then labels of this object, of all, of the chart.
Takes root, component and, if there are any, labels. */}}
{{- define "mnemic.labels" -}}
{{- $selector := include "mnemic.selector" . | fromYaml }}
{{- $chart := dict "app.kubernetes.io/part-of" "mnemic" "app.kubernetes.io/version" .root.Chart.AppVersion "app.kubernetes.io/managed-by" .root.Release.Service "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version) }}
{{- merge $selector (default dict .labels) (default dict .root.Values.commonLabels) $chart | toYaml }}
{{- end }}

{{/* Who runs, and which sections of the settings each reads: as docs/SETTINGS.md has it. */}}
{{- define "mnemic.sections" -}}
standalone: [gateway, writer, clusterer, router, reader, embeddings, language_model]
gateway: [gateway, nats, neo4j, qdrant, embeddings]
writer: [writer, nats, neo4j, qdrant, embeddings, language_model]
clusterer: [clusterer, nats, neo4j, language_model]
router: [router, nats, neo4j, qdrant, embeddings]
reader: [reader, nats, language_model]
provision: [nats, neo4j, qdrant, embeddings]
{{- end }}

{{/* Where a server is: as the values say, or in the release. Takes root, server, scheme and port. */}}
{{- define "mnemic.url" -}}
{{- $values := index .root.Values .server }}
{{- if $values.install }}{{ .scheme }}://{{ include "mnemic.fullname" .root }}-{{ .server }}:{{ .port }}{{ else }}{{ $values.url }}{{ end }}
{{- end }}

{{/* The settings of a component: those of the values that it reads, and over them what the chart makes. */}}
{{- define "mnemic.settings" -}}
{{- $v := .root.Values }}
{{- $sections := index (include "mnemic.sections" . | fromYaml) .component }}
{{- $made := dict "admin" (dict "listen" (printf "%s:7078" $v.listenAddress)) }}
{{- if has "gateway" $sections }}{{ $_ := set $made "gateway" (dict "listen" (printf "%s:7077" $v.listenAddress)) }}{{ end }}
{{- if eq .component "standalone" }}
{{- $_ := set $made "backends" (dict "dir" "/var/lib/mnemic") }}
{{- else }}
{{- $_ := set $made "backends" (dict "kind" "distributed") }}
{{- $nats := dict "url" (include "mnemic.url" (dict "root" .root "server" "nats" "scheme" "nats" "port" 4222)) }}
{{- if $v.nats.existingSecret }}
{{- $_ := set $nats "credentials" (dict "user" (include "mnemic.natsUser" .component)) }}
{{- end }}
{{- $tls := dict }}
{{- if $v.nats.tls.caSecret }}{{ $_ := set $tls "ca_file" "/etc/mnemic/nats-ca/ca.crt" }}{{ end }}
{{- if $v.nats.tls.clientSecret }}
{{- $_ := set $tls "cert_file" "/etc/mnemic/nats-client/tls.crt" }}
{{- $_ := set $tls "cert_key_file" "/etc/mnemic/nats-client/tls.key" }}
{{- end }}
{{- if $tls }}{{ $_ := set $nats "tls" $tls }}{{ end }}
{{- $_ := set $made "nats" $nats }}
{{- if has "neo4j" $sections }}
{{- $neo4j := dict "url" (include "mnemic.url" (dict "root" .root "server" "neo4j" "scheme" "bolt" "port" 7687)) }}
{{- if $v.neo4j.tls.caSecret }}{{ $_ := set $neo4j "ca_file" "/etc/mnemic/neo4j-ca/ca.crt" }}{{ end }}
{{- if $v.neo4j.tls.clientSecret }}
{{- $_ := set $neo4j "client_certificate_file" "/etc/mnemic/neo4j-client/tls.crt" }}
{{- $_ := set $neo4j "client_key_file" "/etc/mnemic/neo4j-client/tls.key" }}
{{- end }}
{{- $_ := set $made "neo4j" $neo4j }}
{{- end }}
{{- if has "qdrant" $sections }}
{{- $_ := set $made "qdrant" (dict "url" (include "mnemic.url" (dict "root" .root "server" "qdrant" "scheme" "http" "port" 6334))) }}
{{- end }}
{{- end }}
{{- $read := concat $sections (list "admin" "backends" "consumer" "process" "telemetry") }}
{{- $given := dict "telemetry" (dict "logs" "json") }}
{{- range $section, $keys := $v.settings }}
{{- if has $section $read }}{{ $_ := set $given $section (merge (deepCopy $keys) (default dict (index $given $section))) }}{{ end }}
{{- end }}
{{- mergeOverwrite $given $made | toYaml }}
{{- end }}

{{/* Who provisions is the operator to NATS. */}}
{{- define "mnemic.natsUser" -}}
{{- ternary "operator" . (eq . "provision") }}
{{- end }}

{{/* A value as TOML in one line; TOML has no null. */}}
{{- define "mnemic.inlineToml" -}}
{{- $parts := list }}
{{- if kindIs "map" . }}
{{- range $key, $value := . }}
{{- if not (kindIs "invalid" $value) }}{{ $parts = append $parts (printf "%s = %s" (toRawJson $key) (include "mnemic.inlineToml" $value)) }}{{ end }}
{{- end }}
{{- printf "{%s}" (join ", " $parts) }}
{{- else if kindIs "slice" . }}
{{- range . }}
{{- if not (kindIs "invalid" .) }}{{ $parts = append $parts (include "mnemic.inlineToml" .) }}{{ end }}
{{- end }}
{{- printf "[%s]" (join ", " $parts) }}
{{- else }}
{{- toRawJson . }}
{{- end }}
{{- end }}

{{/* Settings as variables. Takes prefix and settings. Text is quoted as TOML does, so that "123" stays text. A setting
without a value keeps its default. The parameters of a language model are one variable: their names keep their case,
and if there are none, none are sent, not even the defaults. */}}
{{- define "mnemic.variables" -}}
{{- range $key, $value := .settings }}
{{- $name := printf "%s%s" $.prefix (upper $key) }}
{{- if kindIs "invalid" $value }}
{{- else if and (kindIs "map" $value) (not (hasSuffix "__PARAMETERS" $name)) }}
{{- include "mnemic.variables" (dict "prefix" (printf "%s__" $name) "settings" $value) }}
{{- else }}
- name: {{ $name }}
  value: {{ include "mnemic.inlineToml" $value | replace "'" "''" | squote }}
{{- end }}
{{- end }}
{{- end }}

{{/* A variable from a Secret. Takes name, secret and key. */}}
{{- define "mnemic.secret" -}}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .secret | quote }}, key: {{ .key }}}}
{{- end }}

{{/* The environment of a component. Takes root and component. */}}
{{- define "mnemic.environment" -}}
{{- $v := .root.Values }}
{{- $sections := index (include "mnemic.sections" . | fromYaml) .component }}
{{- include "mnemic.variables" (dict "prefix" "MNEMIC_" "settings" (include "mnemic.settings" . | fromYaml)) }}
{{- if has "gateway" $sections }}
- name: MNEMIC_CONFIG
  value: /etc/mnemic/keys/mnemic.toml
{{- end }}
{{- if and (has "nats" $sections) $v.nats.existingSecret }}
{{ include "mnemic.secret" (dict "name" "MNEMIC_NATS__CREDENTIALS__PASSWORD" "secret" $v.nats.existingSecret "key" (include "mnemic.natsUser" .component)) }}
{{- end }}
{{- if has "neo4j" $sections }}
{{ include "mnemic.secret" (dict "name" "MNEMIC_NEO4J__PASSWORD" "secret" $v.neo4j.existingSecret "key" "password") }}
{{- end }}
{{- if has "qdrant" $sections }}
{{- if $v.qdrant.existingSecret }}
{{ include "mnemic.secret" (dict "name" "MNEMIC_QDRANT__API_KEY" "secret" $v.qdrant.existingSecret "key" "api_key") }}
{{- end }}
{{- if $v.qdrant.tls.caSecret }}
- name: SSL_CERT_FILE
  value: /etc/mnemic/qdrant-ca/ca.crt
{{- end }}
{{- end }}
{{- range $endpoint := list "embeddings" "language_model" }}
{{- $secret := (index $v $endpoint).existingSecret }}
{{- if and (has $endpoint $sections) $secret }}
{{ include "mnemic.secret" (dict "name" (printf "MNEMIC_%s__KEY" (upper $endpoint)) "secret" $secret "key" "key") }}
{{- end }}
{{- end }}
{{- with $v.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The Secrets that a component mounts, by the name of the volume. */}}
{{- define "mnemic.mounts" -}}
{{- $v := .root.Values }}
{{- $sections := index (include "mnemic.sections" . | fromYaml) .component }}
{{- if has "gateway" $sections }}
keys: {{ default (include "mnemic.keysSecret" .root) $v.gateway.existingSecret | quote }}
{{- end }}
{{- range $server := list "nats" "neo4j" "qdrant" }}
{{- if has $server $sections }}
{{- $tls := (index $v $server).tls }}
{{- with $tls.caSecret }}
{{ $server }}-ca: {{ . | quote }}
{{- end }}
{{- with $tls.clientSecret }}
{{ $server }}-client: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Seconds from the sign to stop to the end: a pause, in which others learn of it, work in flight, the last traces. */}}
{{- define "mnemic.grace" -}}
{{- $process := default dict .Values.settings.process }}
{{- add 5 (default 20 $process.drain_secs) 10 }}
{{- end }}

{{/* Where and as whom pods run. */}}
{{- define "mnemic.placement" -}}
automountServiceAccountToken: false
# Variables like NEO4J_SERVICE_HOST, which Neo4j would take for settings.
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with index $.Values $key }}
{{ $key }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Metadata and what all pods of Mnemic have in common. Takes root, component, annotations. */}}
{{- define "mnemic.metadata" -}}
labels: {{- include "mnemic.labels" (dict "root" .root "component" .component "labels" .root.Values.podLabels) | nindent 2 }}
{{- $annotations := deepCopy (default dict .annotations) }}
{{- $sections := index (include "mnemic.sections" . | fromYaml) .component }}
{{- if and (has "gateway" $sections) (not .root.Values.gateway.existingSecret) }}
{{- /* Settings stand in the pod itself, so they roll it when they change; keys do so by their digest. */}}
{{- $_ := set $annotations "checksum/keys" (toJson .root.Values.gateway.keys | sha256sum) }}
{{- end }}
{{- with $annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* One container of Mnemic without ports and probes. Takes root, component, command, resources, mounts. */}}
{{- define "mnemic.container" -}}
- name: {{ .component }}
  image: {{ include "mnemic.image" .root | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: {{ toJson .command }}
  securityContext: {{- toYaml .root.Values.securityContext | nindent 4 }}
  resources: {{- toYaml .resources | nindent 4 }}
  env: {{- include "mnemic.environment" . | trim | nindent 4 }}
  volumeMounts:
    - {name: tmp, mountPath: /tmp}
    {{- range $name, $_ := include "mnemic.mounts" . | fromYaml }}
    - {name: {{ $name }}, mountPath: /etc/mnemic/{{ $name }}, readOnly: true}
    {{- end }}
    {{- with concat (default list .mounts) .root.Values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Ports and probes of a container that stays. Takes root and component. */}}
{{- define "mnemic.probes" -}}
ports:
  {{- if has .component (list "standalone" "gateway") }}
  - {name: http, containerPort: 7077}
  {{- end }}
  - {name: admin, containerPort: 7078}
# Started is who has reached its servers or brought an older file up to date; that is waited for, and
# a rollout with it.
startupProbe:
  httpGet: {path: /readyz, port: admin}
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 900
livenessProbe:
  httpGet: {path: /livez, port: admin}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  {{- if has .component (list "standalone" "gateway") }}
  # Not /readyz: while a store is down or the disk is full, nothing would be left to answer questions, or to say 503.
  httpGet: {path: /livez, port: admin}
  {{- else }}
  httpGet: {path: /readyz, port: admin}
  {{- end }}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 3
{{- if has .component (list "standalone" "gateway") }}
lifecycle:
  # Requests come until everybody knows that this pod leaves.
  preStop: {sleep: {seconds: 5}}
{{- end }}
{{- end }}

{{/* Volumes of a pod of Mnemic. Takes root and component. */}}
{{- define "mnemic.volumes" -}}
- {name: tmp, emptyDir: {}}
{{- range $name, $secret := include "mnemic.mounts" . | fromYaml }}
- {name: {{ $name }}, secret: {secretName: {{ $secret | quote }}}}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
