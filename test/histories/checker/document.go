package main

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

const (
	missing = iota
	active
	trashed
	tombstone
)

type document struct {
	life, rev, n int
	text, log    string
}

// Returns the next state, and the status and code of the response.
func (d document) apply(in input) (document, int, string) {
	next := d
	next.rev++
	switch in.Op {
	case "read":
		if d.life == active {
			return d, 200, ""
		}
	case "insert":
		if d.life == missing {
			return document{life: active, rev: 1, n: 5}, 201, ""
		}
		return d, 412, "DOCUMENT_EXISTS"
	case "recover":
		if d.life == trashed {
			next.life = active
			return next, 200, ""
		}
	case "trash":
		if d.life == active {
			next.life = trashed
			return next, 200, ""
		}
	case "purge":
		if d.life == active || d.life == trashed {
			if in.Fed {
				return document{life: tombstone}, 200, ""
			}
			return document{}, 200, ""
		}
	default:
		if d.life != active {
			break
		}
		if in.IfMatch != 0 && in.IfMatch != d.rev {
			return d, 412, "REVISION_MISMATCH"
		}
		if in.Op == "take" && d.n < 2 {
			return d, 412, "CONDITION_FAILED"
		}
		if next.n = d.n + in.By; next.n < 0 || next.n > 9 {
			return d, 400, "VALIDATION_FAILED"
		}
		if in.Op == "push" {
			log := append(strings.FieldsFunc(d.log, func(r rune) bool { return r == ',' }), fmt.Sprint(in.Unique))
			next.log = strings.Join(log[max(0, len(log)-4):], ",")
		}
		if in.Text != "" {
			next.text = in.Text
		}
		return next, 200, ""
	}
	return d, 404, "DOCUMENT_NOT_FOUND"
}

var documentModel = porcupine.Model{
	Init: func() any { return document{} },
	Step: func(state, in, out any) (bool, any) {
		next, status, code := state.(document).apply(in.(input))
		got := out.(*output)
		if got == nil {
			return true, next
		}
		if got.Status != status || got.Code != code || got.Rev != 0 && got.Rev != next.rev {
			return false, state
		}
		op := in.(input).Op
		hasFields := status < 300 && op != "trash" && op != "recover" && op != "purge"
		return !hasFields || got.N == next.n && got.Text == next.text && got.Log == next.log, next
	},
	DescribeOperation: describe,
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}

func describe(in, out any) string {
	if out.(*output) == nil {
		return fmt.Sprintf("%+v → unknown", in)
	}
	return fmt.Sprintf("%+v → %+v", in, *out.(*output))
}
