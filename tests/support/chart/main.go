// Renders a Helm chart whose templates need few functions: stdin has
// {"chart": DIR, "values": {...}, "release": NAME, "namespace": NAME}, stdout gets an object of
// texts by template. It stands in for helm in tests, because helm takes minutes to build;
// packaging/prove_chart.sh uses helm itself.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

type wish struct {
	Chart     string         `json:"chart"`
	Values    map[string]any `json:"values"`
	Meta      map[string]any `json:"meta"`
	Release   string         `json:"release"`
	Namespace string         `json:"namespace"`
}

type files struct{ dir string }

// Get answers the text of a file of the chart, as helm's .Files.Get does.
func (f files) Get(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	return string(data), err
}

func isEmpty(value any) bool {
	truth, _ := template.IsTrue(value)
	return !truth
}

func indented(spaces int, text string) string {
	pad := strings.Repeat(" ", spaces)
	return "\n" + pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}

func functions(all *template.Template) template.FuncMap {
	return template.FuncMap{
		"contains": func(part, text string) bool { return strings.Contains(text, part) },
		"default": func(fallback, value any) any {
			if isEmpty(value) {
				return fallback
			}
			return value
		},
		"fail": func(text string) (string, error) { return "", errors.New(text) },
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := all.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"list":    func(all ...any) []any { return all },
		"nindent": indented,
		"quote":   func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"replace": func(old, new, text string) string { return strings.ReplaceAll(text, old, new) },
		"sha256sum": func(text string) string {
			return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		},
		// JSON is YAML.
		"toYaml": func(value any) (string, error) {
			data, err := json.Marshal(value)
			if list, ok := value.([]any); ok && err == nil {
				var lines []string
				for _, each := range list {
					item, _ := json.Marshal(each)
					lines = append(lines, "- "+string(item))
				}
				return strings.Join(lines, "\n"), nil
			}
			if object, ok := value.(map[string]any); ok && err == nil {
				var lines []string
				for name, each := range object {
					item, _ := json.Marshal(each)
					lines = append(lines, fmt.Sprintf("%q: %s", name, item))
				}
				return strings.Join(lines, "\n"), nil
			}
			return string(data), err
		},
		"trimSuffix": func(end, text string) string { return strings.TrimSuffix(text, end) },
		"trunc": func(length int, text string) string {
			if len(text) > length {
				return text[:length]
			}
			return text
		},
		"upper": strings.ToUpper,
	}
}

func render(asked wish) (map[string]string, error) {
	names, err := filepath.Glob(filepath.Join(asked.Chart, "templates", "*"))
	if err != nil {
		return nil, err
	}
	all := template.New("chart").Option("missingkey=error")
	all.Funcs(functions(all))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if _, err := all.New(filepath.Base(name)).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	data := map[string]any{
		"Values": asked.Values, "Chart": asked.Meta, "Files": files{asked.Chart},
		"Release": map[string]any{
			"Name": asked.Release, "Namespace": asked.Namespace, "Service": "Helm"},
	}
	made := map[string]string{}
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasPrefix(base, "_") {
			continue
		}
		var out bytes.Buffer
		if err := all.ExecuteTemplate(&out, base, data); err != nil {
			return nil, err
		}
		made[base] = out.String()
	}
	return made, nil
}

func main() {
	var asked []wish
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber() // 65534 stays 65534
	if err := decoder.Decode(&asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	type answer struct {
		Made  map[string]string `json:"made"`
		Error string            `json:"error"`
	}
	var answers []answer
	for _, each := range asked {
		made, err := render(each)
		if err != nil {
			answers = append(answers, answer{Error: err.Error()})
		} else {
			answers = append(answers, answer{Made: made})
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
