#!/usr/bin/env bash
# packaging/prove_chart.sh [DIR]: builds helm and kubeconform, lints the chart, and compares all
# that it makes of several values, and KEDA's recipes, with the schemas of Kubernetes, of the
# Prometheus operator and of KEDA.
#
# DIR keeps the tools (default: build/chart). Needs go, python3-yaml, and the registries of Go and
# PyPI; the first run takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(realpath -m "${1:-build/chart}")
helm=v3.14.4 kubeconform=v0.6.7 operator=v0.75.2 keda=v2.14.0 schemas=1.37.0
kubernetes=(1.25.0 1.31.0 1.36.0)
chart=packaging/helm/tarry

mkdir -p "$dir/home"
export GOBIN=$dir/bin HOME=$dir/home GOPATH=${GOPATH:-$dir/go} GOFLAGS=-modcacherw
[ -x "$GOBIN/helm" ] || go install "helm.sh/helm/v3/cmd/helm@$helm"
[ -x "$GOBIN/kubeconform" ] ||
  go install "github.com/yannh/kubeconform/cmd/kubeconform@$kubeconform"
[ -d "$dir/python" ] ||
  python3 -m pip install -q --target "$dir/python" "kubernetes-validate==$schemas" 2>/dev/null
# source_of MODULE@VERSION: where its files are.
source_of() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'; }
own=$(source_of "github.com/prometheus-operator/prometheus-operator@$operator")
own=$own/example/prometheus-operator-crd/monitoring.coreos.com
scaling=$(source_of "github.com/kedacore/keda/v2@$keda")/config/crd/bases/keda.sh
own=("$own"_{servicemonitors,prometheusrules}.yaml
     "$scaling"_{scaledobjects,triggerauthentications}.yaml)

"$GOBIN/helm" lint --strict "$chart" --set insecure=true 2>&1 | grep -v 'found symbolic link'
for version in "${kubernetes[@]}"; do
  python3 packaging/chart_schemas.py \
    "$dir/python/kubernetes_validate/kubernetes-json-schema/v$version-local-strict" \
    "$dir/schemas-$version" "${own[@]}"
  conform=("$GOBIN/kubeconform" -strict -summary -kubernetes-version "$version" -schema-location
           "$dir/schemas-$version/{{ .ResourceKind }}{{ .KindSuffix }}.json")
  for values in packaging/helm/examples/*.yaml; do
    printf '%s, Kubernetes %s: ' "$(basename "$values")" "$version"
    "$GOBIN/helm" template shop "$chart" --namespace shop --kube-version "$version" \
      --values "$values" 2>/dev/null | "${conform[@]}"
  done
  printf 'KEDA, Kubernetes %s: ' "$version"
  "${conform[@]}" packaging/keda/*.yaml
done
"$GOBIN/helm" package "$chart" --destination "$dir" 2>/dev/null
