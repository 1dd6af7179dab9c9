// Package rawjson reads JSON strictly and leaves values as they were written, so that numbers keep their digits.
//
// Strict means: no duplicate names at any depth, valid UTF-8 (lone surrogates included), nothing after the value, names
// compared byte for byte, nesting of at most 10,000.
package rawjson

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the type of a value.
type Kind byte

// The kinds of values; Invalid is no value at all.
const (
	Invalid Kind = 0
	Null    Kind = 'n'
	False   Kind = 'f'
	True    Kind = 't'
	String  Kind = '"'
	Number  Kind = '0'
	Object  Kind = '{'
	Array   Kind = '['
)

// ErrNotObject says that the value is valid so far but not an object.
var ErrNotObject = errors.New("not a JSON object")

type decoder struct {
	*jsontext.Decoder
	src *bytes.Buffer
}

var decoders = sync.Pool{New: func() any {
	src := new(bytes.Buffer)
	return &decoder{Decoder: jsontext.NewDecoder(src), src: src}
}}

// Members reads one JSON object and calls member for each of its members, in order. The value is a part of data, without
// surrounding space: it stays valid as long as data does. An error of member ends the reading and is returned as it is.
func Members(data []byte, member func(name string, value []byte) error) error {
	d := decoders.Get().(*decoder)
	// A fresh buffer value over data: the decoder then reads in place, and the pool keeps nothing of it.
	*d.src = *bytes.NewBuffer(data)
	d.Reset(d.src)
	defer func() {
		*d.src = bytes.Buffer{}
		d.Reset(d.src)
		decoders.Put(d)
	}()
	if d.PeekKind() != '{' {
		if err := d.SkipValue(); err != nil {
			return err
		}
		return ErrNotObject
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		tok, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := d.InputOffset()
		if err := member(name, data[end-int64(len(v)):end:end]); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("data after the value")
		}
		return err
	}
	return nil
}

// Valid tells whether data is one JSON value, strictly.
func Valid(data []byte) bool { return jsontext.Value(data).IsValid() }

// IsObject tells whether data is one JSON object, strictly.
func IsObject(data []byte) bool {
	return Members(data, func(string, []byte) error { return nil }) == nil
}

// KindOf is the kind of a value that is known to be valid and without leading space; Invalid when it is empty.
func KindOf(value []byte) Kind {
	switch {
	case len(value) == 0:
		return Invalid
	case value[0] == '-' || '0' <= value[0] && value[0] <= '9':
		return Number
	}
	return Kind(value[0])
}

// Text is the text of a value that is known to be a valid string.
func Text(value []byte) string {
	b, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(b)
}

// IsInteger tells whether a value is a number written as an integer: an optional minus and digits.
func IsInteger(value []byte) bool {
	if KindOf(value) != Number {
		return false
	}
	return !bytes.ContainsAny(value, ".eE")
}

// AppendString appends a JSON string. Text that is not valid UTF-8 has its bad bytes replaced by U+FFFD.
func AppendString(dst []byte, text string) []byte {
	out, err := jsontext.AppendQuote(dst, text)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(text, "\uFFFD"))
	}
	return out
}
