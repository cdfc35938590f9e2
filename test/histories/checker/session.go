package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// A session: its unused refresh token, "" before the first use, and "lost" if no response said it.
type session struct {
	current string
	ended   bool
}

// A used token may end the session: it does after 10 seconds, which the model does not count.
func (s session) next(in input, out *output) []any {
	if s.current == "" {
		s.current = in.Token
	}
	isCurrent := s.current == in.Token && !s.ended
	ended := session{s.current, true}
	switch {
	case out == nil && isCurrent:
		return []any{s, session{current: "lost"}}
	case out == nil:
		return []any{s, ended}
	case out.Status == 200 && isCurrent && out.Next != "":
		return []any{session{current: out.Next}}
	case out.Status == 401 && !isCurrent:
		return []any{s, ended}
	}
	return nil
}

var sessionModel = (&porcupine.NondeterministicModel{
	Init:              func() []any { return []any{session{}} },
	Step:              func(state, in, out any) []any { return state.(session).next(in.(input), out.(*output)) },
	DescribeOperation: describe,
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}).ToModel()
