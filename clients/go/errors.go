package tarry

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Kinds of errors, for errors.Is. Each says what the caller does next.
var (
	// ErrInvalid: invalid_argument, too_large, misuse. Fix the input; a repeat does not help.
	ErrInvalid = errors.New("fix the input; repeating it does not help")
	// ErrUnsupported: the server's store can never do this.
	ErrUnsupported = errors.New("do without it, or use another store or a newer server")
	// ErrNotFound: there is no such queue or message.
	ErrNotFound = errors.New("check the name")
	// ErrConflict: another client was first.
	ErrConflict = errors.New("wait, or give up")
	// ErrUnavailable: nothing was done, and the server may be back soon.
	ErrUnavailable = errors.New("nothing was done; try again later")
	// ErrNoSpace: the store is full. Nothing was accepted.
	ErrNoSpace = errors.New("nothing was done; make room in the store, then try again")
	// ErrUnknownOutcome: the answer was lost, so the request may have been carried out or not.
	ErrUnknownOutcome = errors.New("it may have been done; check before you repeat it")
	// ErrPermission: no valid token, or one without the scope.
	ErrPermission = errors.New("fix the token or its scopes")
	// ErrServer: the server's store is broken.
	ErrServer = errors.New("tell the operator of the server; its log has more")
)

// Error is every error that the server answers or that its absence causes.
type Error struct {
	Code    string // one of docs/reference/errors.md
	Message string // one line about what was wrong
	Status  int    // of HTTP; 0 if the server did not answer
	cause   error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (%s: %v)", e.Message, e.Code, e.kind())
}

// Unwrap is the cause, such as context.Canceled; nil if the server answered.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is the kind of the error.
func (e *Error) Is(target error) bool { return target == e.kind() }

// Next names what the caller does next, as clients/conformance/README.md lists it.
func (e *Error) Next() string { return kindOf(e.Code).next }

// MarshalJSON writes it for logs and answers: code, next, status and message.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(fields{"code": e.Code, "next": e.Next(), "status": e.Status,
		"message": e.Message})
}

func (e *Error) kind() error { return kindOf(e.Code).err }

type kind struct {
	err  error
	next string
}

var kinds = map[string]kind{
	"invalid_argument":  {ErrInvalid, "fix_the_input"},
	"too_large":         {ErrInvalid, "fix_the_input"},
	"misuse":            {ErrInvalid, "fix_the_input"},
	"unsupported":       {ErrUnsupported, "do_without"},
	"not_found":         {ErrNotFound, "check_the_name"},
	"conflict":          {ErrConflict, "wait_or_give_up"},
	"unavailable":       {ErrUnavailable, "retry_later"},
	"closing":           {ErrUnavailable, "retry_later"},
	"closed":            {ErrUnavailable, "retry_later"},
	"no_space":          {ErrNoSpace, "make_room"},
	"unknown_outcome":   {ErrUnknownOutcome, "look_first"},
	"permission_denied": {ErrPermission, "fix_the_token"},
}

// kindOf counts a code that is not known, like damaged and io_error, as a failure of the server.
func kindOf(code string) kind {
	if known, ok := kinds[code]; ok {
		return known
	}
	return kind{ErrServer, "page_someone"}
}

var codeOfStatus = map[int]string{
	401: "permission_denied", 403: "permission_denied", 404: "not_found", 408: "unavailable",
	409: "conflict", 413: "too_large", 421: "permission_denied", 429: "unavailable",
	431: "too_large", 501: "unsupported", 503: "unavailable",
}

// problemOf is the error that an answer tells. Without a code of ours the status decides: an answer
// that is neither 200 nor a refusal may mean that the request was carried out.
func problemOf(status int, code, detail string) *Error {
	_, known := kinds[code]
	if !known && code != "damaged" && code != "io_error" {
		code = codeOfStatus[status]
		if code == "" && status >= 400 && status < 500 {
			code = "invalid_argument"
		} else if code == "" {
			code = "unknown_outcome"
		}
	}
	if detail == "" {
		detail = fmt.Sprintf("the server answered %d", status)
	}
	return &Error{Code: code, Message: detail, Status: status}
}

func asError(err error) *Error {
	var mine *Error
	if errors.As(err, &mine) {
		return mine
	}
	return &Error{Code: "unknown_outcome", Message: err.Error(), cause: err}
}

// isPassing reports whether the server may accept the same request a little later.
func isPassing(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrNoSpace) ||
		errors.Is(err, ErrUnknownOutcome)
}
