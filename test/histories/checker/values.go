package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// A model whose response depends on the state alone. `apply` returns the next state and whether the response suits.
func modelOf[S any](apply func(state S, in input, out output, known bool) (S, bool)) porcupine.Model {
	return porcupine.Model{
		Init: func() any { var state S; return state },
		Step: func(state, in, out any) (bool, any) {
			got := out.(*output)
			if got == nil {
				next, _ := apply(state.(S), in.(input), output{}, false)
				return true, next
			}
			next, suits := apply(state.(S), in.(input), *got, true)
			return suits, next
		},
		DescribeOperation: describe,
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// A unique value: the id of the document that has it, or "".
var uniqueModel = modelOf(func(holder string, in input, out output, _ bool) (string, bool) {
	switch {
	case in.Op == "take" && holder == "":
		return in.ID, out.Status == 201
	case in.Op == "take":
		return holder, out.Status == 409 && out.Code == "DUPLICATE_VALUE"
	case holder == in.ID:
		return "", out.Status == 200
	default:
		return holder, out.Status == 404
	}
})

type counted struct{ rev, n int }

// The document of a unique value, which upserts insert or update.
var upsertModel = modelOf(func(d counted, in input, out output, _ bool) (counted, bool) {
	if in.Op == "read" {
		return d, out.Status == 200 && out.N == d.n
	}
	next := counted{d.rev + 1, in.N}
	if d.rev == 0 {
		return next, out.Status == 201 && out.Rev == next.rev
	}
	return next, out.Status == 200 && out.Rev == next.rev
})

// An Idempotency-Key: the id of the document that its requests inserted, "?" if no response said it, or "".
var onceModel = modelOf(func(id string, in input, out output, known bool) (string, bool) {
	if in.Op == "count" {
		return id, out.Status == 200 && out.Count == map[bool]int{true: 0, false: 1}[id == ""]
	}
	if !known {
		if id == "" {
			return "?", true
		}
		return id, true
	}
	if id == "" || id == "?" {
		return out.ID, out.Status == 201
	}
	return id, out.Status == 201 && out.ID == id
})

// Whether a user is a member of a team.
var memberModel = modelOf(func(isMember bool, in input, out output, _ bool) (bool, bool) {
	switch in.Op {
	case "add":
		if isMember {
			return true, out.Status == 412 && out.Code == "DOCUMENT_EXISTS"
		}
		return true, out.Status == 201
	case "remove":
		if isMember {
			return false, out.Status == 200
		}
		return false, out.Status == 404
	default:
		if isMember {
			return true, out.Status == 200
		}
		return false, out.Status == 404
	}
})
