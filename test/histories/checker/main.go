// Checks a history of operations for linearizability. Usage: go run . <history.jsonl> <folder for pictures>
// Prints one JSON line for each model: {"model", "operations", "objects", "illegal", "undecided"}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// An operation of the history. Without an output, it is unknown whether it was carried out.
type line struct {
	Model  string
	Key    string
	Client int
	Call   int64
	Return int64
	Input  input
	Output *output
}

// The fields of all models' operations.
type input struct {
	Op, ID, Text, Token    string
	By, Unique, IfMatch, N int
	Fed                    bool
}

// The fields of all models' responses.
type output struct {
	Status, Rev, N, Count     int
	Code, Text, Log, ID, Next string
}

var models = map[string]porcupine.Model{
	"document": documentModel,
	"member":   memberModel,
	"once":     onceModel,
	"session":  sessionModel,
	"unique":   uniqueModel,
	"upsert":   upsertModel,
}

const patience = 60 * time.Second

func read(path string) map[string]map[string][]porcupine.Operation {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	all := map[string]map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var each line
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			panic(err)
		}
		if all[each.Model] == nil {
			all[each.Model] = map[string][]porcupine.Operation{}
		}
		end := each.Return
		if each.Output == nil {
			end = math.MaxInt64
		}
		all[each.Model][each.Key] = append(all[each.Model][each.Key], porcupine.Operation{
			ClientId: each.Client, Input: each.Input, Call: each.Call, Output: each.Output, Return: end,
		})
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
	return all
}

func main() {
	all := read(os.Args[1])
	names := []string{}
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		model, operations := models[name], 0
		illegal, undecided := []string{}, []string{}
		for key, history := range all[name] {
			operations += len(history)
			result, info := porcupine.CheckOperationsVerbose(model, history, patience)
			if result == porcupine.Unknown {
				undecided = append(undecided, key)
			} else if result == porcupine.Illegal {
				illegal = append(illegal, key)
				picture := filepath.Join(os.Args[2], fmt.Sprintf("%s-%s.html", name, strings.ReplaceAll(key, " ", "-")))
				if err := porcupine.VisualizePath(model, info, picture); err != nil {
					panic(err)
				}
			}
		}
		summary, _ := json.Marshal(map[string]any{
			"model": name, "operations": operations, "objects": len(all[name]), "illegal": illegal, "undecided": undecided,
		})
		fmt.Println(string(summary))
	}
}
